"""Bytes of a repository to text: byte order marks, broken encodings and line ends, the same on every machine."""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Iterable, Iterator

from gpu_lol_action.domain.patterns import regex

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ANY_MARK = tuple(mark for mark, _ in _MARKS)
_FENCE = regex(r"\s*(?:`{3,}[^`]*$|~~~)")
_DEFINED = tuple(regex(rf"{word}(?<!\w{word})[\s\\]+(\w+)") for word in ("class", "def"))
_DEFINED_BYTES = tuple(re.compile(pattern.pattern.encode()) for pattern in _DEFINED)


READING_CALLS = ("get", "getenv", "int", "float", "str", "Path", "PurePath", "expanduser", "expandvars", "abspath", "realpath", "normpath",
                 "maybe_download_model", "join", "format", "field",
                 "Field", "Option", "Argument")  # fmt: skip
"""The functions out of whose call ``python_values`` reads a value."""
# Another call alone up to the end of its line (`logger = get_logger(__name__)`, `model = Model(config)`): what it returns is no
# value that a text tells. To parse a library's modules for such is most of what looking an option up would cost.
_COMPUTED = (
    r"[ \t]*(?:\w{1,80}(?:\[[^\[\]\n]{0,80}\]|\([^()\n]{0,200}\)){0,2}\.){0,6}"
    rf"(?!(?:{'|'.join(READING_CALLS)})\()\w{{1,80}}\([^()\n]{{0,300}}\)[ \t]*(?:\r?\n|\Z)"
)
_GIVEN = regex(rf"[\s\\)]*(?:=(?!=|{_COMPUTED})|:)|\s*['\"/]")
"""What stands behind a name that is given a value. It is the same for all names: one of its own for each took long to compile."""


def text_of(content: bytes) -> str:
    """Return text with a line feed alone at the end of lines. What is no text in its encoding becomes U+FFFD; nothing raises."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            text = content[len(mark) :].decode(encoding, "replace")
            break
    else:
        text = content.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def is_fence(line: str, *, is_code: bool = False) -> bool:
    """Whether a line of a document opens or, in code, ends a block of code: between marks on one line (```` ```pip install x``` ````) are but words.

    What goes on behind its marks ends nothing (CommonMark): where an author forgot to end a block, the next one's first line is its text.
    """
    if "```" not in line and "~~~" not in line:
        return False
    found = _FENCE.match(line)
    return found is not None and not (is_code and line.strip().strip("`~"))


def unescaped(text: str) -> str:
    """Return text with HTML's ``&lt;`` and its like as what they stand for; the list of those is loaded for text that has one."""
    if "&" not in text:
        return text
    import html

    return html.unescape(text)


def without_remarks(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield a document's numbered lines, those of its remarks (``<!--`` to ``-->`` over several lines, outside code) as empty ones.

    What stands in a remark is not shown, and a fence that begins on its first line would turn all code behind it inside out.
    """
    known = list(lines)
    last = max((number for number, line in known if "-->" in line), default=0)
    is_code = is_remark = False
    for number, line in known:
        if is_remark:
            is_remark = "-->" not in line
            yield number, ""
            continue
        is_code ^= is_fence(line, is_code=is_code)
        bare = line.lstrip()
        is_remark = not is_code and number < last and bare.startswith("<!--") and "-->" not in bare
        yield number, "" if is_remark else line


def has_mark(content: bytes) -> bool:
    """Whether it begins with the byte order mark of any encoding, most of which write no letter as one byte."""
    return content.startswith(_ANY_MARK)


def may_give(content: bytes | str, name: str) -> bool:
    """Whether a program may give a value to an option or variable of that name; options are written with dashes.

    True where ``name=``, ``name:``, ``"name"`` or ``--name/--no-name`` stands somewhere, in its code or not. A name that is put
    together from pieces (``"--learning" "-rate"``) is missed: the program is then as one that says nothing of it.
    """
    word = max(name.split("_"), key=len)
    if not _is_looked_into(content, word):
        return True
    if isinstance(content, str):
        return word in content and next(given_at(content, name), None) is not None
    if word.encode() not in content:
        return False
    return any(_given_bytes().match(content, found.end()) for found in _named_bytes(name).finditer(content))


def given_at(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield where a program's text may give a value to a name: where the name begins, and what tells it ends."""
    for found in _named(name).finditer(text):
        told = _GIVEN.match(text, found.end())
        if told is not None:
            yield found.start(), told.end()


def may_define(content: bytes | str, name: str, defined: frozenset[str] | None = None) -> bool:
    """Whether a program may define a class or function of that name: it stands behind ``class`` or ``def`` somewhere.

    ``defined`` are the ``defined_names`` of the same program, for whoever asks for many. One that only exists when the program
    runs (``type("Net", ...)``) is missed, as it would be in the tree.
    """
    return not _is_looked_into(content, name) or name in (defined_names(content) if defined is None else defined)


def defined_names(content: bytes | str) -> frozenset[str]:
    """Return the names that stand behind ``class`` or ``def``; of bytes only those in plain letters.

    Each word is looked for by itself: an expression that begins with either takes five times as long.
    """
    if isinstance(content, str):
        return frozenset(name for pattern in _DEFINED for name in pattern.findall(content))
    return frozenset(name.decode("ascii") for pattern in _DEFINED_BYTES for name in pattern.findall(content))


def import_lines(content: bytes | str) -> str:
    """Return the lines of a program in which all stands that it imports, and others; its whole text where that is hard to tell.

    For whoever looks for modules in many programs: these lines are a hundredth of most. What is taken in parentheses is followed
    to their end.
    """
    if isinstance(content, str):
        content = content.encode("utf-8", "replace")
    if has_mark(content):
        return text_of(content)
    lines: list[bytes] = []
    place = content.find(b"import")
    while place >= 0:
        start = content.rfind(b"\n", 0, place) + 1
        end = _end_of_line(content, place)
        if _goes_on(content, start - 1) or _goes_on(content, end):
            return text_of(content)
        if content.find(b"(", place, end) >= 0:
            end = _end_of_line(content, _closed(content, place))
        lines.append(content[start:end])
        place = content.find(b"import", end)
    return b"\n".join(lines).decode("utf-8", "replace")


def _goes_on(content: bytes, end: int) -> bool:
    """Whether the line that ends there goes on below."""
    return end > 0 and content[end - 1] in b"\\\r" and content.endswith((b"\\", b"\\\r"), 0, end)


def _end_of_line(content: bytes, place: int) -> int:
    end = content.find(b"\n", place)
    return end if end >= 0 else len(content)


def _closed(content: bytes, place: int) -> int:
    """Return where the next parenthesis closes that stands in no comment; the end where none does."""
    close = content.find(b")", place)
    while close >= 0 and content.find(b"#", max(place, content.rfind(b"\n", place, close)), close) >= 0:
        close = content.find(b")", _end_of_line(content, close))
    return close if close >= 0 else len(content)


def _is_looked_into(content: bytes | str, word: str) -> bool:
    """Whether a look tells: not in another encoding, and not for letters that only Python's own reading makes the same."""
    return isinstance(content, str) or (word.isascii() and not has_mark(content))


@functools.lru_cache(maxsize=512)
def _named(name: str) -> re.Pattern[str]:
    return re.compile(_spelled(name))


@functools.lru_cache(maxsize=512)
def _named_bytes(name: str) -> re.Pattern[bytes]:
    return re.compile(_spelled(name).encode())


@functools.cache
def _given_bytes() -> re.Pattern[bytes]:
    return re.compile(_GIVEN.pattern.encode())


def _spelled(name: str) -> str:
    first, *rest = (re.escape(word) for word in name.split("_"))
    # The look behind comes second: an expression that begins with a word leaps to it.
    return "[-_]".join([f"{first}(?<!\\w{first})", *rest])


def is_text(content: bytes) -> bool:
    """Whether nothing had to be replaced: valid UTF-8, or another encoding with its byte order mark."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _decodes(content[len(mark) :], encoding)
    return content.isascii() or _decodes(content, "utf-8")


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def without_comment(text: str) -> str:
    """Return a shell's line up to the ``#`` that begins a word outside quotes; one inside a word (``${x#y}``) is no comment."""
    quote = ""
    for place, character in enumerate(text):
        if character == "#" and not quote and (place == 0 or text[place - 1].isspace()):
            return text[:place]
        if character in "\"'" and quote in {"", character}:
            quote = "" if quote else character
    return text
