"""What Python compiles regular expressions to, kept beside the compiled modules as those are: compiled once per installation.

A small repository needs some three hundred of them, and compiling these takes a quarter of its analysis; making a pattern of
kept code takes a fiftieth of that. The file is for one release of Python, whose own check of the code (``_sre.compile``) refuses
what is none; where it is missing, unreadable or of another release, expressions are compiled as ever.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import marshal
import os
import re
import sys
from array import array
from pathlib import Path
from typing import Any, TypeAlias, cast

_FORM = (sys.version, 1)
"""Whose code it is: another build of Python may number its operations otherwise."""
_MAX_KEPT = 5_000
"""Far more than there are; of a file that grew beyond by changed expressions, only what this run asked for is kept on."""

Kept: TypeAlias = "dict[tuple[str, int], tuple[bytes, int, int, dict[str, int]]]"
"""By expression and flags: the code, all flags, the number of groups, and their names."""

_new: list[tuple[str, int]] = []


def compiled(pattern: str, flags: int) -> re.Pattern[str]:
    """Return the compiled expression: made of kept code where there is some. Raises ``re.error`` for a faulty one."""
    kept = _kept().get((pattern, flags))
    if kept is not None:
        with contextlib.suppress(AttributeError, ImportError, RuntimeError, TypeError, ValueError, OverflowError):
            return _of_code(pattern, *kept)
    made = re.compile(pattern, flags)
    _new.append((pattern, flags))
    return made


def has(pattern: str, flags: int) -> bool:
    """Whether an expression's code is kept."""
    return (pattern, flags) in _kept()


def keep() -> None:
    """Write down what was compiled since; nothing where Python is told to write no compiled code, or may not write there."""
    place = _place()
    if not _new or place is None or sys.dont_write_bytecode:
        return
    with contextlib.suppress(AttributeError, ImportError, OSError):
        known = _kept()
        added = {each: _code_of(*each) for each in _new}
        _new.clear()
        if len(known) + len(added) <= _MAX_KEPT:
            added = known | added
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_suffix(f".{os.getpid()}")
        with unfinished.open("xb") as file:
            file.write(marshal.dumps((_FORM, added)))
        unfinished.replace(place)  # whole or not at all: others may be reading


@functools.cache
def _kept() -> Kept:
    place = _place()
    with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
        form, kept = marshal.loads(place.read_bytes()) if place else (None, {})  # noqa: S302 as Python reads its own  # nosec B302
        return cast("Kept", kept) if form == _FORM and isinstance(kept, dict) else {}
    return {}


def _place() -> Path | None:
    """Return the file beside this module's own compiled code; None where it has none."""
    cached = __spec__.cached
    return Path(cached).with_suffix(".codes") if cached else None


def _of_code(pattern: str, code: bytes, flags: int, groups: int, groupindex: dict[str, int]) -> re.Pattern[str]:
    names: list[str | None] = [None] * (groups + 1)
    for name, number in groupindex.items():
        names[number] = name
    words = array("I", code).tolist()
    made: re.Pattern[str] = _module("_sre").compile(pattern, flags, words, groups, dict(groupindex), tuple(names))
    return made


def _code_of(pattern: str, flags: int) -> tuple[bytes, int, int, dict[str, int]]:
    """Return the code, the whole of the flags, the number of groups and their names."""
    is_package = sys.version_info >= (3, 11)
    parsed = _module("re._parser" if is_package else "sre_parse").parse(pattern, flags)
    compiler = _module("re._compiler" if is_package else "sre_compile")
    code = compiler._code(parsed, flags)  # noqa: SLF001 it has no published name
    state = parsed.state
    return array("I", code).tobytes(), flags | state.flags, state.groups - 1, dict(state.groupdict)


def _module(name: str) -> Any:
    """Return one of Python's own modules that have no published face."""
    return importlib.import_module(name)
