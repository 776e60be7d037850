"""The text form of a comment for the terminal: the same facts, without Markdown.

What a comment says is decided once, in its template; here it is only laid out anew, so that the two doors
cannot drift apart. Commands lose the slash that they carry in comments.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpu_lol_action.render.screen import DEFAULT_WIDTH, Screen, columns_of, cut, pad
from gpu_lol_action.render.templating import fill

if TYPE_CHECKING:
    from markdown_it.token import Token

_MIN_LAST_COLUMN = 24
_INDENT = "    "
_TAG = re.compile(r"<[^>]*>|<!--.*?-->", re.DOTALL)
_FOLD = re.compile(r"<details>\s*<summary>(.*?)</summary>.*?</details>", re.DOTALL)
_BREAK = re.compile(r"<br ?/?>")
_COMMAND = re.compile(r"(?<![\w./-])/gpu-lol\b")
_THIS_PR = re.compile(r"\b([Tt]his) PR\b")


def render_text(comment: str, width: int = DEFAULT_WIDTH, *, is_local: bool = True, has_folds: bool = False) -> str:
    """Return a comment as plain text for a terminal of ``width`` columns, ending in what is billing now.

    ``is_local``: the terminal's own words (``gpu-lol``, "this folder") take the place of a pull request's.
    ``has_folds``: what a comment folds away is left out but for its title.
    """
    from markdown_it import MarkdownIt

    source = _FOLD.sub(r"▸ \1", comment) if has_folds else comment
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(source)
    blocks: list[str] = []
    index = 0
    while index < len(tokens):
        end = _end_of(tokens, index)
        text = _block(tokens[index : end + 1], width)
        if text:
            blocks.append(text)
        index = end + 1
    text = "\n\n".join(blocks)
    return (_for_terminal(text) if is_local else text) + "\n"


def partial_lines(name: str, view: object, screen: Screen) -> list[str]:
    """Return a part of a comment, filled from the comment's view, as lines that fit the screen; none where it says nothing."""
    text = fill(f"partials/{name}.md.j2", view=view)
    lines = render_text(text, screen.width).strip("\n").split("\n") if text.strip() else []
    return [cut(line, screen.width) for line in lines]


def _end_of(tokens: Sequence[Token], start: int) -> int:
    """Return the index of the token that closes the block opened at ``start``."""
    depth = 0
    for index in range(start, len(tokens)):
        depth += tokens[index].nesting
        if depth == 0:
            return index
    return len(tokens) - 1


def _block(tokens: Sequence[Token], width: int) -> str:
    kind = tokens[0].type
    if kind == "fence":
        return textwrap.indent(tokens[0].content.rstrip("\n"), _INDENT, lambda _line: True)
    if kind == "html_block":
        return html.unescape(_TAG.sub("", tokens[0].content)).strip()
    if kind == "table_open":
        return _table(tokens, width)
    if kind == "bullet_list_open":
        items = [_inline(token) for token in tokens if token.type == "inline"]
        return "\n".join(_wrap(item, width, "- ", "  ") for item in items)
    return "\n".join(
        _wrap(line, width) for token in tokens if token.type == "inline" for line in _inline(token).split("\n")
    )


def _wrap(text: str, width: int, first: str = "", rest: str = "") -> str:
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def _inline(token: Token) -> str:
    """Return a line's text; a link to code is its label, any other keeps its address."""
    pieces: list[str] = []
    address = ""
    for child in token.children or ():
        if child.type in {"text", "code_inline"}:
            is_place = child.type == "code_inline" and address
            pieces.append(child.content)
            address = "" if is_place else address
        elif child.type in {"softbreak", "hardbreak"}:
            pieces.append("\n")
        elif child.type == "html_inline":
            pieces.append(", " if _BREAK.fullmatch(child.content) else "")
        elif child.type == "link_open":
            address = str(child.attrGet("href") or "")
        elif child.type == "link_close" and address:
            pieces.append(f" ({address})")
            address = ""
    return "".join(pieces).replace("\u200b", "")


def _table(tokens: Sequence[Token], width: int) -> str:
    rows: list[list[str]] = []
    is_right: list[bool] = []
    for index, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in {"th_open", "td_open"}:
            rows[-1].append(_inline(tokens[index + 1]))
            if len(rows) == 1:
                is_right.append("right" in str(token.attrGet("style") or ""))
    has_head = any(cell.strip() for cell in rows[0])
    shown = rows if has_head else rows[1:]
    widths = [max((columns_of(row[column]) for row in shown), default=0) for column in range(len(rows[0]))]
    return "\n".join(line for row in shown for line in _row(row, widths, is_right, width))


def _row(cells: Sequence[str], widths: Sequence[int], is_right: Sequence[bool], width: int) -> list[str]:
    """Return a row's lines: the last column wraps below itself, the others keep their width."""
    used = [column for column in range(len(widths)) if widths[column]]
    if not used:
        return []
    head = "  ".join(pad(cells[column], widths[column], is_right=is_right[column]) for column in used[:-1])
    indent = columns_of(head) + 2 if head else 0
    last = used[-1]
    if is_right[last]:
        return [f"{head}  {pad(cells[last], widths[last], is_right=True)}".rstrip()]
    lines = textwrap.wrap(cells[last], max(width - indent, _MIN_LAST_COLUMN), break_on_hyphens=False) or [""]
    return [f"{head}  {lines[0]}".rstrip() if head else lines[0], *(" " * indent + line for line in lines[1:])]


def _for_terminal(text: str) -> str:
    return _THIS_PR.sub(r"\1 folder", _COMMAND.sub("gpu-lol", text))
