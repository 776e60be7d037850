"""Which known model a fine-tuned one's name tells of: encoders come in named sizes, and whoever tunes one keeps the name and the size.

``deepset/roberta-base-squad2`` is a roberta-base, ``princeton-nlp/sup-simcse-bert-base-uncased`` a bert-base-uncased.
"""

from __future__ import annotations

import functools
from collections.abc import Collection

from gpu_lol_action.domain.patterns import regex

_SIZES = frozenset({"tiny", "mini", "small", "medium", "base", "large", "xlarge", "xxlarge", "huge"})
_HAS_SIZE = regex(r"[-_](?:tiny|mini|small|medium|base|x{0,2}large|huge)(?=$|[-_.])")
# What a name has that is no weights of the size: an adapter, or a model made to test with.
_NO_WEIGHTS = regex(r"^tiny-|lora|adapter|random|dummy|tokenizer|generator|distil(?!bert|roberta)")
MOST_WORDS = 14
LONGEST = 6
"""Words of the longest known name that is looked for."""


@functools.lru_cache(maxsize=1024)
def named_sizes(known: frozenset[str]) -> dict[str, str]:
    """Return names that end with a size, each with the known name that it is or begins (``bert-base`` of ``bert-base-uncased``)."""
    found: dict[str, str] = {}
    for name in sorted(known, key=lambda each: (each.count("-"), each)):
        words = name.split("-")
        for end in range(2, len(words) + 1):
            if words[end - 1] in _SIZES:
                found.setdefault("-".join(words[:end]), name)
    return found


def known_part(name: str, known: Collection[str]) -> str | None:
    """Return the longest known name in a model's, of those that have a named size in them; None where there is none.

    ``known``: names without owner, in lower case, of models that are fine-tuned under their own name.
    """
    last = name.strip().strip("/").lower()[:200].rpartition("/")[2].replace("_", "-")
    if _HAS_SIZE.search(last) is None or _NO_WEIGHTS.search(last) is not None:
        return None
    words = last.split("-")[:MOST_WORDS]
    by_size = named_sizes(frozenset(known))
    for length in range(min(LONGEST, len(words)), 1, -1):
        for start in range(len(words) - length + 1):
            text = "-".join(words[start : start + length])
            if text in known and not _SIZES.isdisjoint(words[start : start + length]):
                return text
            if text in by_size:
                return by_size[text]
    return None
