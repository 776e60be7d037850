"""The extras and groups that ``poetry install``, ``uv sync`` or ``pdm install`` is told to install with the project at hand."""

from __future__ import annotations

from gpu_lol_action.analysis.command_lines.command_words import split_words
from gpu_lol_action.domain.patterns import regex

_EXTRA_OPTIONS = frozenset({"-E", "--extras", "--extra", "--with", "-G", "--group"})
# What a project can work with, and no run needs.
_EVERYTHING = frozenset({"all", "everything", "all-extras"})


def told_extras(text: str) -> list[str]:
    """Return the extras and groups of the words behind such a command, none twice."""
    found: list[str] = []
    words = split_words(text)
    for index, word in enumerate(words):
        name, _, value = word.partition("=")
        if name in _EXTRA_OPTIONS:
            told = value or (words[index + 1] if index + 1 < len(words) else "")
            found += regex(r"[,\s]+").split(told) if regex(r"[\w.-]+(?:[,\s]+[\w.-]+)*").fullmatch(told) else []
    return [extra for extra in dict.fromkeys(found) if extra not in _EVERYTHING]
