"""What a command says by the place of its words: ``train.py qwen2_7b`` where the parser has ``add_argument("llm")``, or ``llm = sys.argv[1]``."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.domain.patterns import regex

MOST_PLACES = 6
_NAME = regex(r"[A-Za-z][\w-]{0,60}")
_ARGV = regex(
    r"(?m)^[ \t]{0,16}(\w{1,60})[ \t]{0,4}=[ \t]{0,4}(?:(?:int|float|str|Path)\([ \t]{0,4})?sys\.argv\[([1-9])\]"
)
_TAKES_ALL = frozenset({"+", "*", "?", "argparse.REMAINDER", "REMAINDER"})
# What its reader puts in: `MODEL_DIR`, `<model>`, `/path/to/model`, `$1`.
_OPEN = regex(r"[<\[{$].*|[A-Z][A-Z0-9_]*|.*(?:path/to|/your|your[_-]).*|\.\.\.")


def with_placed(options: Mapping[str, str], script: Source | None, words: Sequence[str]) -> Mapping[str, str]:
    """Return a command's options, and the words behind its program by the names under which the program's parser takes them."""
    if script is None or not words:
        return options
    found = dict(options)
    for name, word in zip(_places(script), words, strict=False):
        if not _OPEN.fullmatch(word):
            found.setdefault(name, word)
    return found


def _by_number(script: Source) -> tuple[str, ...]:
    """Return the variables that a program without a parser sets to its words, up to the first word that none is set to."""
    named = {int(number): name for name, number in reversed(_ARGV.findall(script.text))}
    return tuple(named[place] for place in itertools.takewhile(named.__contains__, range(1, MOST_PLACES + 1)))


@remembered
def _places(script: Source) -> tuple[str, ...]:
    """Return the names of the arguments that a parser takes by their place, up to one that takes as many as there are.

    With commands of its own (``add_subparsers``) a program has other places in each.
    """
    if script.code is None or script.mentions("add_subparsers"):
        return ()
    if not script.mentions("add_argument"):
        return _by_number(script) if script.mentions("sys.argv") else ()
    found: list[str] = []
    for call in itertools.islice(script.code.calls_named("add_argument"), 400):
        first = call.arguments[0].text if call.arguments else None
        if first is None or not _NAME.fullmatch(first) or len(found) >= MOST_PLACES:
            continue
        many = call.keyword("nargs")
        if many is not None and (many.text or many.path) in _TAKES_ALL:
            break
        found.append(first.replace("-", "_"))
    return tuple(found)
