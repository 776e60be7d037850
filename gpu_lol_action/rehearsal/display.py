"""The rehearsal on the screen: numbered steps with a live line and their seconds, and what the bot said."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from gpu_lol_action.render.terminal import render_text

MAX_LIVE_CHARACTERS = 100
MAX_WIDTH = 120
LOG_WIDTH = 116  # a log has no width of its own, and rich would take 80 columns, at which tables break


@dataclass(slots=True)
class Display:
    """Where a story is shown. On a terminal the running step has a spinner; in a log each line stands for itself."""

    console: Console = field(default_factory=lambda: Console(width=None if sys.stdout.isatty() else LOG_WIDTH))
    _number: int = 0
    _live: str = ""

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Show a step while it runs, then its seconds; a failing one is marked before the error goes on."""
        self._number += 1
        label = f"{self._number:2}  {title}"
        started = time.monotonic()
        if not self.console.is_terminal:
            self.console.print(f"[dim]·[/] {escape(label)} …")
        with self.console.status(escape(label), spinner="dots") as status:

            def show(text: str) -> None:
                line = text.strip()[:MAX_LIVE_CHARACTERS]
                status.update(f"{escape(label)}  [dim]{time.monotonic() - started:.0f} s  {escape(line)}[/]")

            try:
                yield Step(show)
            except BaseException:
                self.console.print(f"[red]✗[/] {escape(label)}  [dim]{time.monotonic() - started:.1f} s[/]")
                raise
        self.console.print(f"[green]✓[/] {escape(label)}  [dim]{time.monotonic() - started:.1f} s[/]")

    def said(self, author: str, body: str) -> None:
        """Show a comment as a panel."""
        text = Text(render_text(body, min(self.console.width, MAX_WIDTH) - 8, is_local=False, has_folds=True).rstrip())
        panel = Panel(text, title=escape(author), title_align="left", border_style="blue")
        self.console.print(Padding(panel, (0, 0, 0, 4)))

    def note(self, text: str) -> None:
        """Show one line between steps."""
        self.console.print(f"    {escape(text)}")


@dataclass(frozen=True, slots=True)
class Step:
    """The running step: ``line`` replaces its live line."""

    line: object

    def tell(self, text: str) -> None:
        """Show what is going on right now."""
        if callable(self.line):
            self.line(text)
