"""The rows of a live run, for the terminal and for docs/clouds.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timezone
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "clouds.md"
NAMES = {"runpod": "RunPod"}


@dataclass(frozen=True)
class Row:
    """One step: what was tried, whether it was as expected (None: a figure, nothing was expected), and what was seen."""

    name: str
    tried: str
    is_as_expected: bool | None
    seen: str
    seconds: float

    @property
    def is_good(self) -> bool:
        """Whether nothing unexpected was seen."""
        return self.is_as_expected is not False

    @property
    def mark(self) -> str:
        """A word for the table."""
        return {True: "yes", False: "**no**", None: "seen"}[self.is_as_expected]


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    lines = ["| tried | as expected | what was seen | took |", "|---|---|---|---:|"]
    for row in rows:
        seen = " ".join(row.seen.split()).replace("|", "/")
        lines.append(f"| {row.tried} | {row.mark} | {seen[:300]} | {row.seconds:.0f} s |")
    return "\n".join(lines)


def dated(page: str, cloud: str, rows: list[Row], day: date) -> str:
    """Return the page with this cloud's row dated, and the rows of the run in a part of their own."""
    good = sum(row.is_good for row in rows)
    said = f"{day} live: {good} of {len(rows)} steps as expected ([below](#live-on-{cloud}))"
    row = re.compile(rf"^(\| {NAMES[cloud]} \|.*\| )[^|]*( \|)$", re.MULTILINE)
    if not row.search(page):
        raise SystemExit(f"docs/clouds.md has no row of {NAMES[cloud]}")
    page = row.sub(lambda found: f"{found[1]}{said}{found[2]}", page, count=1)
    page = page.replace(" Nothing here has met a real account yet.", "")
    begin, end = f"<!-- live-{cloud}: written by make live -->", f"<!-- /live-{cloud} -->"
    part = (
        f"{begin}\n\n## Live on {NAMES[cloud]}\n\nOn {day}, by `make live CLOUD={cloud}`:\n\n{table(rows)}\n\n{end}\n"
    )
    if begin in page:
        return re.sub(re.escape(begin) + r".*?" + re.escape(end) + r"\n", lambda _found: part, page, flags=re.DOTALL)
    return f"{page.rstrip()}\n\n{part}"


def write(cloud: str, rows: list[Row]) -> None:
    """Date docs/clouds.md."""
    today = datetime.now(timezone.utc).date()
    PAGE.write_text(dated(PAGE.read_text(encoding="utf-8"), cloud, rows, today), encoding="utf-8")
