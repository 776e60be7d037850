"""A comment on a terminal: Markdown through rich, with folds shown by their title."""

from __future__ import annotations

import re

from rich.console import Console
from rich.markdown import Markdown

# Rich's Markdown knows no HTML; what stands in a fold is detail, and the other tags add nothing on a terminal.
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FOLD = re.compile(r"<details>\s*<summary>(.*?)</summary>.*?</details>", re.DOTALL)
_TAG = re.compile(r"</?[a-z][^<>]{0,80}>")


def plain_markdown(body: str) -> str:
    """Return a comment without HTML: no marker, folds by their title alone."""
    return _TAG.sub("", _FOLD.sub(r"▸ *\1*", _COMMENT.sub("", body))).strip()


def show(body: str, console: Console | None = None) -> None:
    """Print a comment."""
    (console or Console()).print(Markdown(plain_markdown(body)))
