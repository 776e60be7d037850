"""What a launch script is handed in the example that its own remarks show: ``# Example: ./scripts/train.sh 0,1,2,3 coco``.

Scripts that take everything by place (``GPUS=$1``) tell on top how they are called. Where nobody calls them otherwise, that is the run.
"""

from __future__ import annotations

from gpu_lol_action.analysis.command_lines.shell_defaults import handed_places
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex

MOST_LINES, MOST_LINE, MOST_WORDS = 40, 400, 20
# What has a value of its own (`${1:-8}`) needs no example.
_POSITION = regex(r"\$(?:[1-9]|\{[1-9]\})")
_REMARK = regex(
    r"#+\s{0,8}(?:[A-Za-z.]{1,10}\s?:\s{0,4})?(?:\$\s)?((?:(?:bash|sh|source|sbatch)\s)?\S{1,200}\.(?:sh|bash))\s+(\S.*)$"
)
# "GPU NET [options]": a line on how it is used names what belongs there.
_WORD = regex(r"[\w.,/:=+-]{1,200}")
# "scripts/train.sh is for several cards": a sentence.
_SENTENCE = regex(
    r"(?i)\b(?:the|an?|is|are|was|to|for|from|with|and|or|of|this|that|on|in|by|as|must|should|can|will)\b"
)
# "train.sh config num_gpus": the same in small letters.
_STANDS_FOR = regex(
    r"(?:num_?|n_?|nr_?)?(?:gpus?|cards?|nodes|proc(?:esse)?s|devices?)(?:_?(?:ids?|num|count|list))?|config(?:_?(?:file|path|name))?|cfg"
)
_NAME_OF_ONE = regex(r"(?=.*[A-Z])[A-Z][A-Z_]{2,60}")


def example_call(script: Source) -> dict[str, str]:
    """Return what the last such example hands a script, by places; nothing where there is none, or the script takes nothing by place."""
    if script.form is not Form.SHELL or "$" not in script.text or not _POSITION.search(script.text):
        return {}
    found: dict[str, str] = {}
    for line in script.text.split("\n", MOST_LINES)[:MOST_LINES]:
        if not line.startswith("#") or script.name not in line.lower():
            continue
        shown = _REMARK.match(line[:MOST_LINE])
        if shown is None or not _is_call(shown[1], script.name):
            continue
        words = shown[2].split()[:MOST_WORDS]
        if all(map(_is_given, words)) and any(map(_is_value, words)):
            found = handed_places(words)
    return found


def _is_call(text: str, name: str) -> bool:
    """Whether a text starts the script of that name: ``bash train.sh``, ``./scripts/train.sh``."""
    return ("/" in text or " " in text) and regex(r"[/ ]").split(text)[-1].lower() == name


def _is_given(word: str) -> bool:
    if _SENTENCE.fullmatch(word) or _STANDS_FOR.fullmatch(word):
        return False
    return _WORD.fullmatch(word) is not None and not _NAME_OF_ONE.fullmatch(word)


def _is_value(word: str) -> bool:
    """Whether a word is surely handed over: words of letters alone are as often a sentence ("train.sh starts everything")."""
    return regex(r"[\d/.]").search(word) is not None
