"""Lines of a comment that may hold a command: Markdown is parsed, so quotes and code never fire."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

COMMAND_PREFIX = "/gpu-lol"
MAX_COMMENT_CHARACTERS = 65_536  # what GitHub lets a person write

# Inline pieces that a person types on purpose inside an argument (`--image` in backticks). They
# may follow the command's word but never be it: a command shown as code is an example.
_QUOTED = "\0"


def command_lines(comment: str) -> list[str]:
    """Return the lines that begin with ``/gpu-lol``, outside code, quotes, lists, headings and HTML comments."""
    from markdown_it import MarkdownIt  # late: the terminal's commands come as words, and need no Markdown

    parser = MarkdownIt("commonmark", {"html": True})
    tokens = parser.parse(comment[:MAX_COMMENT_CHARACTERS].replace("\0", "\ufffd"))
    lines: list[str] = []
    for index, token in enumerate(tokens):
        is_top_level_paragraph = (
            token.type == "inline" and token.level == 1 and tokens[index - 1].type == "paragraph_open"
        )
        if is_top_level_paragraph:
            lines.extend(_written_lines(token.children or []))
    return [
        line.replace(_QUOTED, "")
        for line in (raw.strip(" \t") for raw in lines)
        if line == COMMAND_PREFIX or line.startswith((COMMAND_PREFIX + " ", COMMAND_PREFIX + "\t"))
    ]


def _written_lines(children: list[Token]) -> list[str]:
    text = ""
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            text += "\n"
        elif child.type == "text":
            text += child.content
        elif child.type == "code_inline":
            text += _QUOTED + child.content
        elif child.type == "html_inline":
            text += _QUOTED + child.content.replace("\n", " ")
        else:
            # A link's or a picture's text is quoted matter; emphasis is how people write names with stars.
            text += child.markup or _QUOTED
    return text.split("\n")
