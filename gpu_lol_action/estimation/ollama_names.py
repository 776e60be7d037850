"""Names of Ollama's library, ``model:tag``: which model one is, and how its weights lie.

The tag is a size, mostly; without one each model has a size of its own (``data/ollama_models.csv``). Weights come at 4 bit (Q4_K_M)
unless the tag says otherwise.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.tables import table_rows

_TAGGED = regex(r"(?:[a-z0-9][\w.-]{0,40}/)?([a-z][\w.-]{0,60}):([\w.-]{1,60})")
_OF_THE_HUB = regex(r"(?:hf\.co|huggingface\.co)/([\w.-]{1,60}/[\w.-]{1,95}?)(?::([\w.-]{1,40}))?")
_SIZE = regex(r"(?:^|-)((?:\d{1,3}x)?\d{1,3}(?:\.\d{1,2})?[bm](?:-a\d{1,3}b)?)(?=$|-)")
_LETTERS_AND_RELEASE = regex(r"([a-z])(\d)")
_WIDE = regex(r"(?:^|-)(?:bf16|fp16|f16|fp32)$")
_SCHEME = regex(r"(?i)(?:^|[-_])((q\d_[k01])(?:_[sml])?)(?=$|[-_.])")
WIDTHS = frozenset(
    {
        "q2_k",
        "q3_k",
        "q4_0",
        "q4_1",
        "q4_k",
        "q4_k_s",
        "q4_k_m",
        "q5_0",
        "q5_1",
        "q5_k",
        "q5_k_s",
        "q5_k_m",
        "q6_k",
        "q8_0",
    }
)
"""Those of llama.cpp's that ``vram_states.QUANTIZATIONS`` knows."""
_USUAL = "q4_k_m"
LATEST = "latest"


@functools.lru_cache(maxsize=1)
def _sizes() -> Mapping[str, str]:
    return MappingProxyType({row["model"]: row["size"] for row in table_rows("ollama_models.csv")})


def with_size(name: str) -> str:
    """Return a model's name with the tag that it has without one: ``llama3.1`` gives ``llama3.1:8b``; any other as it is."""
    bare = name.removesuffix(f":{LATEST}")
    size = _sizes().get(bare)
    return f"{bare}:{size}" if size is not None else name


def published_names(name: str) -> Iterator[str]:
    """Yield the names under which a tagged model may be known, the likeliest first; nothing where the name is none of Ollama's.

    ``llama3.1:70b-instruct-q8_0`` may be ``llama-3.1-70b`` or ``llama3.1-70b``.
    """
    of_the_hub = _OF_THE_HUB.fullmatch(name)
    if of_the_hub is not None:
        yield of_the_hub[1].removesuffix("-GGUF")
        return
    tagged = _TAGGED.fullmatch(name)
    size = _SIZE.search(tagged[2]) if tagged is not None else None
    if tagged is not None and size is not None:
        parted = _LETTERS_AND_RELEASE.sub(r"\1-\2", tagged[1], count=1)
        yield from dict.fromkeys((f"{parted}-{size[1]}-instruct", f"{parted}-{size[1]}", f"{tagged[1]}-{size[1]}"))


def size_of_tag(name: str) -> str | None:
    """Return the size in billions that a tagged name says (``8x7b``), for a family that no table has; None where it says none."""
    tagged = _TAGGED.fullmatch(name)
    size = _SIZE.search(tagged[2]) if tagged is not None else None
    return size[1] if size is not None and not size[1].endswith("m") else None


def scheme_of_tag(name: str) -> str | None:
    """Return how the weights of a tagged model lie, a key of ``vram_states.QUANTIZATIONS``; None for 16 bit, or a name that has no tag."""
    of_the_hub = _OF_THE_HUB.fullmatch(name)
    tag = of_the_hub[2] or "" if of_the_hub is not None else name.rpartition(":")[2]
    if of_the_hub is None and not any(published_names(name)):
        return None
    if _WIDE.search(tag.lower()):
        return None
    if name.startswith("gpt-oss:"):
        return "mxfp4"
    found = _SCHEME.search(tag.lower())
    named = (found[1], found[2]) if found is not None else ()
    return next((scheme for scheme in named if scheme in WIDTHS), _USUAL)
