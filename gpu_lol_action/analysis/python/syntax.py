"""Other people's programs to syntax trees, guarded: Python's own parser can be made to crash, or to work for minutes.

Measured on CPython 3.10 to 3.13 with files of 512 KiB: before 3.11 a chain of some 30,000 operators, calls or attributes
ends the interpreter (the stack overflows while the tree is copied); a dotted import of 200,000 words takes all memory on
every version, for each prefix is kept; 100,000 fields of f-strings take ten seconds, for each is looked for from the start.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
import warnings
from collections.abc import Callable
from typing import TypeVar

from gpu_lol_action.analysis.python.dialects import modernized
from gpu_lol_action.domain.patterns import regex

Answer = TypeVar("Answer")

MAX_IMPORT_LENGTH = 2000
MAX_FIELDS = 5000
# Below so many marks no chain is deep enough to overflow a stack of 8 MiB; such a program is parsed at once.
MAX_MARKS = 5000
# A program of nothing but ``a;`` makes a tree of a thousand bytes for each two of its own.
MAX_DENSE = 100_000
_FEW = MAX_DENSE if sys.version_info >= (3, 11) else MAX_MARKS
"""Characters of a program that need no counting: were all of them marks, they would be too few to matter."""
_MARKS = b".,;\n([{+-*/%|&^@<>=~"
BYTES_PER_MARK = 8
"""Of ordinary code; the time of a parse grows with the marks."""
STACK_BYTES = 256 * 2**20
"""Of the thread that parses the rest before Python 3.11: enough for 512 KiB of nothing but calls. Only touched as used."""

_CELL = "\n#%%"
MAX_CELLS = 2000
BROKEN = "not valid Python 3"
TOO_DEEP = "nested too deeply to parse"
TOO_COSTLY = "made so that parsing takes long"

# One for each word: an expression that begins with a word leaps to it.
_LONG_IMPORTS = tuple(regex(rf"{word}[\w. \t\f]{{{MAX_IMPORT_LENGTH}}}") for word in ("import", "from"))
_F_STRING = regex(
    r"""\b(?:[fF][rR]?|[rR][fF])('''.*?'''|\"\"\".*?\"\"\"|'[^'\n]*'|"[^"\n]*"|['"].*)""",
    re.DOTALL,
)


def parse_program(text: str) -> ast.Module | str:
    """Return a program's syntax tree, or in a few words why there is none. Never raises, never executes anything."""
    marks = _marks(text) if len(text) > _FEW else len(text)
    joined = text.replace("\\\n", "")
    if marks > MAX_DENSE or any(pattern.search(joined) for pattern in _LONG_IMPORTS) or _has_many_fields(text):
        return TOO_COSTLY
    return _on_deep_stack(lambda: _parse(text), marks, lambda: TOO_DEEP)


def fault_in(text: str) -> SyntaxError | None:
    """Return where Python gives a program up; None where it takes it, or fails in another way. For what ``parse_program`` calls broken."""
    return _on_deep_stack(lambda: _fault_in(text), _marks(text), lambda: None)


def parse_cost(text: str) -> int:
    """Return what parsing costs, in bytes of ordinary code: its length, or more where it is denser than anyone writes."""
    return max(len(text), BYTES_PER_MARK * _marks(text))


def _parse(text: str) -> ast.Module | str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's strings are not our news
            return ast.parse(text)
    except (SyntaxError, ValueError):
        return _parse_dialect(text) if _CELL not in text else _parse_cells(text)
    except (RecursionError, MemoryError):
        return TOO_DEEP


def _parse_dialect(text: str) -> ast.Module | str:
    """Return the tree of a program that was written for another Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(modernized(text))
    except (SyntaxError, ValueError):
        return BROKEN
    except (RecursionError, MemoryError):
        return TOO_DEEP


def _parse_cells(text: str) -> ast.Module | str:
    """Return the tree of a notebook's program without the cells that are broken, each line where it was; its author ran the others."""
    cells = text.split(_CELL)
    kept = [cell if _is_whole(cell) else "\n" * cell.count("\n") for cell in cells[:MAX_CELLS]]
    if not any(cell.strip() for cell in kept):
        return BROKEN
    try:
        return ast.parse(_CELL.join(kept))
    except (SyntaxError, ValueError):
        return BROKEN
    except (RecursionError, MemoryError):
        return TOO_DEEP


def _is_whole(cell: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _fault_in(text: str) -> SyntaxError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _on_deep_stack(parse: Callable[[], Answer], marks: int, failed: Callable[[], Answer]) -> Answer:
    """Parse on a stack that no program of the size limit overflows. The warnings' filter is the process's: no other thread runs."""
    if sys.version_info >= (3, 11) or marks < MAX_MARKS:
        return parse()
    answers: list[Answer] = []  # pragma: no cover - only before Python 3.11
    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=lambda: answers.append(parse()), daemon=True)
        thread.start()
    except RuntimeError:  # no room for the stack
        return failed()
    finally:
        threading.stack_size(before)
    thread.join()
    return answers[0] if answers else failed()


def _marks(text: str) -> int:
    """Return how many characters could each make the tree larger or deeper by a node."""
    raw = text.encode("utf-8", "replace")
    return len(raw) - len(raw.translate(None, _MARKS))


def _has_many_fields(text: str) -> bool:
    """Whether f-strings hold more fields than any program written by hand. Data in braces alone costs nothing."""
    if text.count("{") <= MAX_FIELDS:
        return False
    return sum(found[1].count("{") for found in _F_STRING.finditer(text)) > MAX_FIELDS
