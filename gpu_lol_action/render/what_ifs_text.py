"""Cheaper configurations on a terminal: one line each, and below it what is written for it and what it costs."""

from __future__ import annotations

from gpu_lol_action.render.markdown import visible
from gpu_lol_action.render.screen import Column, Screen, table, wrap
from gpu_lol_action.render.views_proposal import ProposalCase
from gpu_lol_action.render.views_what_ifs import shown_what_ifs, what_if_rows

_COLUMNS = (
    Column(turn=3, least=24),
    Column(is_right=True),
    Column(turn=2, least=12),
    Column("bold", is_right=True),
    Column("dim", turn=1, least=16, is_optional=True),
)


def what_if_lines(case: ProposalCase, screen: Screen, *, is_verbose: bool) -> list[str]:
    """Return the configurations that would do with a cheaper machine; ``is_verbose``: all, each with what is to be written."""
    shown = case.what_ifs if is_verbose else shown_what_ifs(case.what_ifs)
    if not shown:
        return []
    rows = what_if_rows(shown, case.place)
    hidden = len(case.what_ifs) - len(shown)
    title = "What would do with a cheaper machine" if case.ladder.best is not None else "What would fit"
    cells = [
        (
            visible(row.words, 60),
            str(row.memory),
            f"{row.machine}, {row.price}",
            str(row.saves),
            visible(row.costs, 90),
        )
        for row in rows
    ]
    lines = [screen.title(title, f"{hidden} more: --verbose" if hidden > 0 else ""), *table(cells, _COLUMNS, screen)]
    if is_verbose:
        for row in rows:
            where = f" ({row.where})".replace("`", "") if row.where else ""
            text = (
                f"{visible(row.words, 60)}: {visible(row.edit or row.setting, 120)}{where}; {visible(row.costs, 120)}"
            )
            lines += wrap(text, screen.width, "  - ", "    ")
    return lines
