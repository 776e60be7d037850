"""A document's commands whose options go on in the next lines, though a backslash is missing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gpu_lol_action.analysis.formats.texts import without_comment
from gpu_lol_action.domain.patterns import regex

MAX_BETWEEN = 4
_OPTION = regex(r"\s*--[a-z][\w-]*(?:[=\s]|$)")
_OPTION_OR_COMMAND = regex(
    r"\s*(?:--[a-z]|(?:[A-Za-z_]\w*=\S* )*(?:!|\$ )?(?:[\w./-]*python[\d.]*|torchrun|accelerate|deepspeed|\./)\s?\S)"
)


def with_lost_marks(raw: Iterator[tuple[int, str, str]]) -> Iterator[tuple[int, str, str]]:
    """Yield a document's lines, a command that goes on with options further down marked so: a reader sees what a backslash is missing for.

    Empty lines and remarks between them are left out, and remarks behind them.
    """
    before: tuple[int, str, str] | None = None
    between: list[tuple[int, str, str]] = []
    for each in itertools.chain(raw, ((0, "", ""),)):
        if (
            before is not None
            and each[0]
            and not _OPTION.match(each[1])
            and len(between) < MAX_BETWEEN
            and _is_between(each[1])
        ):
            between.append(each)
            continue
        if before is not None:
            number, line, section = before
            is_option = _OPTION.match(each[1]) is not None and _OPTION_OR_COMMAND.match(line) is not None
            goes_on = is_option and each[2] == section and each[0] == number + 1 + len(between)
            said = without_comment(line) if goes_on else line
            yield number, f"{said} \\" if goes_on and not said.rstrip().endswith("\\") else said, section
            yield from () if goes_on else between
        before, between = each, []


def _is_between(line: str) -> bool:
    """Whether a line may stand between a command's options: it is empty, or a remark."""
    return not line.strip() or line.lstrip().startswith("#")
