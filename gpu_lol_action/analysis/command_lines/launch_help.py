"""Lines that look like commands and start no work: those that print how a program is used, and those that list files and say what each is for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gpu_lol_action.analysis.command_lines.launch_tools import COUNT_FLAGS, TOOLS
from gpu_lol_action.domain.patterns import regex

# What a tool answers with a few lines about itself: `llamafactory-cli version`, `accelerate env`.
_ABOUT_ITSELF = frozenset({"version", "env", "help", "doctor", "collect-env", "login", "ls", "list"})
_WORDS = frozenset({"--help", "-h", "--version"})
_FILE = regex(r"[\w/]{1,120}\.py")  # a shell starts no file of the folder without `./`
_PROSE = regex(r"[(\"']?[A-Za-z][a-z'’-]{0,30}[)\"']?[.,:;]?|[-–—#|]|[A-Z]{2,12}s?")
LEAST_WORDS = 2


def starts_nothing(words: Sequence[str]) -> bool:
    """Whether a command asks a tool about itself, for help or its version, or is a file's name with a sentence about it behind."""
    if any(word in _WORDS and after.startswith("-") for word, after in pairwise([*words, "-"])):
        return True  # a value behind the word makes it an option like others (`--version v1`)
    if len(words) == LEAST_WORDS and words[1] in _ABOUT_ITSELF and words[0] in TOOLS | COUNT_FLAGS.keys():
        return True
    return len(words) > LEAST_WORDS and _FILE.fullmatch(words[0]) is not None and _is_prose(words[1:])


def _is_prose(words: Sequence[str]) -> bool:
    said = [word for word in words[:6] if word not in {"-", "–", "—", "#", "|"}]
    is_sentence = bool(said) and (said[0][:1].isupper() or len(said) > LEAST_WORDS)
    return is_sentence and len(said) >= LEAST_WORDS and all(_PROSE.fullmatch(word[:60]) for word in words[:6])
