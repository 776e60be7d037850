"""Standard output as the terminal's door uses it: what it can show, and how an answer gets there."""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu_lol_action.render.screen import Screen


def screen() -> Screen:
    """Return what the answer is written to. NO_COLOR, a dumb terminal and a pipe get no colors (no-color.org)."""
    from gpu_lol_action.render.screen import DEFAULT_WIDTH, Screen, fitting_width

    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return Screen(
        width=fitting_width(shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns),
        has_color=sys.stdout.isatty() and not is_plain,
        has_unicode=encoding.startswith("utf"),
    )


def write_utf8() -> None:
    """Write what programs read as UTF-8 under every locale: same code, same bytes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def print_answer(text: str) -> None:
    """Print an answer. A reader who left (``| head``) is no reason to end what a command has begun."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # What is still printed goes nowhere, instead of failing again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show(markdown: str) -> None:
    """Show an answer as plain text."""
    from gpu_lol_action.render.terminal import render_text

    here = screen()
    print_answer(here.finish(render_text(markdown, here.width)))
