"""The policy explained on a terminal: key, value, and the line that says it; one key a line, for eyes and for grep."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.domain.policy_text import Explained
from gpu_lol_action.render.markdown import visible
from gpu_lol_action.render.screen import Screen, cut

_MOST = 60


def render_policy(keys: Sequence[Explained], notes: Sequence[str], source: str | None, screen: Screen) -> str:
    """Return every key with its value and its origin, and what is worth knowing of them together."""
    said = sum(each.line is not None for each in keys)
    where = visible(source) if source is not None else f"no {POLICY_PATH}: every value is a default"
    rows = [(each.name, cut(visible(each.value), _MOST), _origin(each)) for each in keys]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = [screen.title("Policy", where), ""]
    for each, row in zip(keys, rows, strict=True):
        text = f"  {row[0].ljust(widths[0])}  {row[1].ljust(widths[1])}  {row[2]}"
        lines.append(screen.paint(text, "dim" if each.line is None else "bold"))
    lines += ["", f"{said} of {len(keys)} keys stand in the file. The bot reads it from the default branch only."]
    for note in notes:
        lines += textwrap.wrap(f"- {note}", screen.width, subsequent_indent="  ", break_on_hyphens=False)
    return screen.finish("\n".join(lines))


def _origin(each: Explained) -> str:
    return "default" if each.line is None else f"line {each.line}"
