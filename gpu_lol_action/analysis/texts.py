"""Bytes of a repository to text: byte order marks, broken encodings and line ends, the same on every machine."""

from __future__ import annotations

import codecs
import functools
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ANY_MARK = tuple(mark for mark, _ in _MARKS)


def text_of(content: bytes) -> str:
    """Return text with a line feed alone at the end of lines. What is no text in its encoding becomes U+FFFD; nothing raises."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            text = content[len(mark) :].decode(encoding, "replace")
            break
    else:
        text = content.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def has_mark(content: bytes) -> bool:
    """Whether it begins with the byte order mark of any encoding, most of which write no letter as one byte."""
    return content.startswith(_ANY_MARK)


def may_give(content: bytes | str, name: str) -> bool:
    """Whether a program may give a value to an option or variable of that name; options are written with dashes.

    True where ``name=``, ``name:``, ``"name"`` or ``--name/--no-name`` stands somewhere, in its code or not.
    """
    return _may_hold(content, max(name.split("_"), key=len), _giving(name))


def may_define(content: bytes | str, name: str) -> bool:
    """Whether a program may define a class or function of that name: it stands behind ``class`` or ``def`` somewhere."""
    return _may_hold(content, name, rf"\b(?:class|def)[\s\\]+{re.escape(name)}\b")


def _may_hold(content: bytes | str, word: str, pattern: str) -> bool:
    if isinstance(content, str):
        return word in content and re.search(pattern, content) is not None
    # Bytes with the mark of another encoding, and letters that only Python's own reading makes the same, are not looked into.
    if has_mark(content) or not word.isascii():
        return True
    return word.encode() in content and re.search(pattern.encode(), content) is not None


@functools.lru_cache(maxsize=512)
def _giving(name: str) -> str:
    spelled = "[-_]".join(map(re.escape, name.split("_")))
    return rf"(?<!\w){spelled}(?:[\s\\)]*(?:=(?!=)|:)|\s*['\"/])"


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
