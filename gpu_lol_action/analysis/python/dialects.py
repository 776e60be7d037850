"""Programs for another Python than the one that reads them, as it can parse them: line for line, for what they call and set.

Much that is well known was written for Python 2 or for 3.6: ``print x`` as a statement, ``except E, e``, PyTorch's
``cuda(async=True)`` before that word was Python's own. And what is new is written for 3.12: ``def first[T](items)``.
"""

from __future__ import annotations

import re

from gpu_lol_action.domain.patterns import regex

_STEPS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (regex(pattern, re.MULTILINE), new)
    for pattern, new in (
        (r"\basync(?=[ \t]*=[^=])", "async_"),
        (r"(^[ \t]*|[:;][ \t]+)(?:print|exec)[ \t]*(?:>>[ \t]*)?(?=[\"'`])", r"\1_ = "),
        (r"(^[ \t]*|[:;][ \t]+)(?:print|exec)[ \t]+(?:>>[ \t]*)?(?=[\w\[{(-])(?!in\b|is\b|if\b|and\b|or\b|not\b)", r"\1_ = "),
        (r"^([ \t]*)except[ \t]+([^\n:]{1,80}),[ \t]*(\w{1,40})[ \t]*:", r"\1except \2 as \3:"),
        (r"^([ \t]*)raise[ \t]+([\w.]{1,80})[ \t]*,[ \t]*(?=\S)", r"\1raise \2; _ = "),
        (r"<>", "!="),
        (r"^([ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w{1,80})\[(?:[^\[\]\n]|\[[^\[\]\n]{0,80}\]){1,200}\](?=[ \t]*[(:])", r"\1"),
        (r"^([ \t]*)type[ \t]+(\w{1,80})(?:\[[^\[\]\n]{1,80}\])?[ \t]*=(?!=)", r"\1\2 ="),
        (r"(?<![\w.])0+([0-7]+)\b(?![.xob])", r"0o\1"),
        (r"(?<![\w.])(\d+)[lL]\b", r"\1"),
        (r"\b[uU][rR](?=[\"'])", "r"),
    )
)  # fmt: skip
_BACKTICKS = regex(r"`([^`\n]{1,200})`")


def modernized(text: str) -> str:
    """Return a program with the statements of other Pythons written as most of them parse it; the lines stay where they are."""
    for pattern, new in _STEPS:
        text = pattern.sub(new, text)
    return _BACKTICKS.sub(r"repr(\1)", text.expandtabs(8))
