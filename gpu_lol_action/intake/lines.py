"""Lines of a comment that may hold a command: Markdown is parsed, so quotes and code never fire."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

COMMAND_PREFIX = "/gpu-lol"
MAX_COMMENT_CHARACTERS = 65_536  # what GitHub lets a person write

# Inline pieces that a person types on purpose inside an argument (`--image` in backticks). They
# may follow the command's word but never be it: a command shown as code is an example.
_QUOTED = "\0"
# What keyboards and web pages put where a person means a space.
_NO_BREAK_SPACE = "\u00a0"
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
_POSSIBLE = re.compile(rf"(?:\A|[\r\n])[ \t{_NO_BREAK_SPACE}]*{COMMAND_PREFIX}")
_LINE_END = re.compile(r"\r\n|\r|\n")
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)(?:\"[^\"]*\"|'[^']*'|[^'\"<>])*>")
_RAW_TEXT = re.compile(
    r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<(script|style|textarea|title)\b.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_SETTING_APART = frozenset(
    ("a", "blockquote", "cite", "code", "del", "details", "dl", "h1", "h2", "h3", "h4", "h5", "h6", "kbd", "math",
     "noscript", "ol", "pre", "q", "s", "samp", "script", "select", "strike", "style", "summary", "svg", "table",
     "template", "textarea", "title", "tt", "ul", "var")
)  # fmt: skip
"""Elements whose content is folded away, quoted, crossed out, code or a list. Of others (`List<String>`) only text stays."""


def command_lines(comment: str) -> list[str]:
    """Return the lines that begin with ``/gpu-lol`` where a reader takes them as said.

    Not said is what stands in code, quotes, lists, headings, tables, footnotes, comments, links, crossed out, behind a
    backslash, or inside an HTML element such as ``<details>`` that is still open.
    """
    if not _POSSIBLE.search(comment):
        return []  # nearly every comment: Markdown need not be parsed, nor its parser loaded
    from markdown_it import MarkdownIt  # late: the terminal's commands come as words, and need no Markdown

    # GitHub's tables and strikethrough, because they change what a line is. Escapes stay apart from text.
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).disable(["text_join"])
    comment = comment[:MAX_COMMENT_CHARACTERS].replace("\0", "\ufffd")
    tokens = parser.parse(comment)
    source = _LINE_END.split(comment)
    lines: list[str] = []
    opened: list[str] = []
    for index, token in enumerate(tokens):
        if token.type == "html_block":
            _follow_tags(token.content, opened)
        elif token.type == "inline":
            is_paragraph = token.level == 1 and tokens[index - 1].type == "paragraph_open"
            is_said = is_paragraph and not _is_footnote(token, source)
            written = _written_lines(token.children or [], opened)
            lines.extend(written if is_said else ())
    return [
        line.replace(_QUOTED, "")
        for line in (raw.strip(" \t") for raw in lines)
        if line == COMMAND_PREFIX or line.startswith((COMMAND_PREFIX + " ", COMMAND_PREFIX + "\t"))
    ]


def _is_footnote(token: Token, source: Sequence[str]) -> bool:
    """Whether a paragraph goes on with a footnote; its first word alone reads as a link's address to CommonMark."""
    start = token.map[0] if token.map else 0
    return bool(_FOOTNOTE.match(token.content) or (start > 0 and _FOOTNOTE.match(source[start - 1].lstrip(" "))))


def _written_lines(children: Sequence[Token], opened: list[str]) -> list[str]:
    """Return the lines of a paragraph; what may be no command begins with a mark. ``opened`` are HTML elements."""
    text = _QUOTED if opened else ""
    depth = 0
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            text += "\n" + (_QUOTED if depth or opened else "")
        elif child.type == "text":
            text += child.content.replace(_NO_BREAK_SPACE, " ")
        elif child.type == "html_inline":
            text += _QUOTED + child.content.replace("\n", " ")
            _follow_tags(child.content, opened)
        elif child.type in ("text_special", "code_inline", "image"):
            text += _QUOTED + child.content.replace("\n", " ")
        else:
            # A link's text is quoted matter; emphasis is how people write names with stars.
            depth += child.nesting
            text += child.markup or _QUOTED
    return text.split("\n")


def _follow_tags(html: str, opened: list[str]) -> None:
    """Keep the stack of HTML elements that are open after a piece of HTML, as a browser would."""
    for tag in _TAG.finditer(_RAW_TEXT.sub("", html)):
        name = tag["name"].lower()
        if tag["end"]:
            if name in opened:
                del opened[len(opened) - 1 - opened[::-1].index(name) :]
        elif name in _SETTING_APART:
            opened.append(name)
