"""Escaping: the only ways by which text of a pull request, a log or a cloud may enter a comment."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_MAX_URL = 2000
_SPACES = re.compile(r"\s+")
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\[bot\])?")
# No brackets: `]:` in the label of a link at the start of a line would make a link definition of it.
_PLAIN_CODE = re.compile(r"[^`|\\\[\]\s](?:[^`|\\\[\]]*[^`|\\\[\]\s])?")
_LINE_START = re.compile(r"(?:[-+=:]|(?P<number>\d{1,9})(?=[.)](?:\s|$)))")

# What Markdown, HTML or GitHub's own link filters would act on. A zero width space ends a mention, an
# issue number or a bare link; an entity or a backslash would not, because those filters read rendered text.
_ZERO_WIDTH = "&#8203;"
_ACTIVE = re.compile(
    r"(?P<mention>@)|(?P<issue>#(?=\d))|(?P<ticket>(?i:\bGH-)(?=\d))|(?P<link>:(?=//))|(?P<www>(?i:www)(?=\.))"
    r"|(?P<markup>[\\`*_\[\]~#])|(?P<money>(?<![^\s(~])\$(?=\d))|(?P<entity>[&<>|$]|\{(?=\{)|\}(?=\}))"
)


class Safe(str):
    """Text that needs no escaping any more: what a filter returned, or words that this package wrote itself."""

    __slots__ = ()


def join(parts: Iterable[Safe], separator: str = ", ") -> Safe:
    """Return safe parts put together with a separator of our own."""
    return Safe(separator.join(parts))


def visible(text: str, limit: int = 300) -> str:
    """Return ``text`` on one line, at most ``limit`` characters, with invisible characters spelled out.

    Bidirectional marks and control characters become ``⟨U+202E⟩``: a reader must see that they are there,
    and no reader may be shown another order of characters than the one a program would read.
    """
    text = _SPACES.sub(" ", _ANSI.sub("", text[: limit * 4])).strip()
    text = "".join(map(_spell_out, text))
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def inline(text: str, limit: int = 300) -> Safe:
    """Return text for the middle of a paragraph, a heading or a table cell, as nothing but its characters."""
    _refuse_safe(text)
    return _escape_line(visible(text, limit))


def code(text: str, limit: int = 200) -> Safe:
    """Return text as a code span that works in paragraphs and table cells alike."""
    _refuse_safe(text)
    text = visible(text, limit)
    if not text:
        return Safe("<code> </code>")
    if _PLAIN_CODE.fullmatch(text) and "{{" not in text and "}}" not in text:
        return Safe(f"`{text}`")
    return html_code(text, limit)


def html_code(text: str, limit: int = 200) -> Safe:
    """Return text as an HTML code element: for ``<summary>``, where GitHub reads no Markdown."""
    _refuse_safe(text)
    body = "".join(
        character if character.isalnum() or character in " /-_" or ord(character) > 127 else f"&#{ord(character)};"
        for character in visible(text, limit)
    )
    # Underscores stand for emphasis where the element is read as inline Markdown.
    return Safe(f"<code>{body.replace('_', '&#95;')}</code>")


def prose(text: str, limit: int = 600) -> Safe:
    """Return a sentence in which ``backticks`` make code spans and nothing else means anything.

    Sentences of gates, findings and checks are ours but quote what others wrote; code spans are all they need.
    """
    _refuse_safe(text)
    pieces = re.split(r"`([^`]+)`", visible(text, limit))
    spans = [code(piece) if index % 2 else _escape(piece) for index, piece in enumerate(pieces)]
    if pieces[0]:
        spans[0] = _escape_line(pieces[0])
    return Safe("".join(spans))


def fence(text: str, language: str = "", max_line: int = 500) -> Safe:
    """Return text as a fenced block whose fence is longer than any run of backticks inside."""
    _refuse_safe(text)
    lines = clean_lines(text, max_line)
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    ticks = "`" * max(3, longest + 1)
    return Safe("\n".join([f"{ticks}{language}", *lines, ticks]))


def clean_lines(text: str, max_line: int = 500) -> list[str]:
    """Return the lines of a log or file for display: no terminal sequences, nothing invisible, indentation kept."""
    lines = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return [_clean_line(line, max_line) for line in lines]


def tail(text: str, max_lines: int) -> str:
    """Return the last lines of a log: what went wrong stands at its end."""
    lines = text.rstrip().splitlines()
    if len(lines) <= max_lines:
        return "\n".join(lines)
    return "\n".join([f"… {len(lines) - max_lines} lines left out", *lines[-max_lines:]])


def mention(login: str) -> Safe:
    """Return ``@login``, which notifies: only for the requester, only where that is meant."""
    return Safe(f"@{login}") if _LOGIN.fullmatch(login) else inline(login, 60)


def link(label: Safe, url: str) -> Safe:
    """Return a link; anything but an ``http(s)`` address yields the label alone."""
    parts = urlsplit(url)
    address = quote(url, safe="/:?&=#%@+,;~-._")
    if parts.scheme not in {"http", "https"} or not parts.hostname or len(address) > _MAX_URL:
        return label
    return Safe(f"[{label}]({address})")


def permalink(server_url: str, repository: str, sha: str, path: str, line: int = 0) -> str:
    """Return the address of a file (and line) at exactly one commit."""
    place = "/".join(quote(part, safe="") for part in (*repository.split("/"), "blob", sha, *path.split("/")))
    return f"{server_url.rstrip('/')}/{place}{f'#L{line}' if line > 0 else ''}"


def html_text(text: str, limit: int = 300) -> Safe:
    """Return text for an HTML page (not for a comment)."""
    import html

    _refuse_safe(text)
    return Safe(html.escape(visible(text, limit)))


def _refuse_safe(text: str) -> None:
    if isinstance(text, Safe):
        raise TypeError(f"already escaped once: {text[:40]!r}")


def _spell_out(character: str) -> str:
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return f"⟨U+{ord(character):04X}⟩"
    return character


def _clean_line(line: str, limit: int) -> str:
    line = "".join(map(_spell_out, line[: limit * 2].rstrip()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _escape_line(text: str) -> Safe:
    """Escape, and see to it that the first characters start no list, rule or heading."""
    escaped = _escape(text)
    start = _LINE_START.match(text)
    if start is None:
        return escaped
    number = start["number"] or ""
    return Safe(f"{number}\\{escaped[len(number) :]}")


def _escape(text: str) -> Safe:
    return Safe(_ACTIVE.sub(_replace, text))


def _replace(match: re.Match[str]) -> str:
    found = match[0]
    if match["markup"]:
        return f"\\{found}"
    if match["money"]:  # an amount: GitHub reads `$` as mathematics only where no digit follows the last one
        return found
    if match["entity"]:
        return {"&": "&amp;", "<": "&lt;", ">": "&gt;"}.get(found) or f"&#{ord(found)};"
    return f"{found}{_ZERO_WIDTH}"
