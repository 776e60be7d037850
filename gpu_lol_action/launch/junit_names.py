"""What a test of a JUnit report is called where it is run again, and at which line of the checkout it failed."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_AT = re.compile(
    r"(?<![\w./\\@+-])(?P<path>(?:[\w.@+-]+[/\\])*[\w@+-][\w.@+-]*\.(?:py|pyx|c|cc|cpp|cxx|cu|cuh|h|hpp|go|rs|jl|sh))"
    r"(?:\((?P<paren>\d{1,7})\)|:(?P<line>\d{1,7}))"
)
_PYTHON_AT = re.compile(r'File "(?P<path>[^"\n]{1,300})", line (?P<line>\d{1,7})')


@dataclass(frozen=True, slots=True)
class Place:
    """A file of the checkout, relative to it, and a line from 1; empty and 0 where nothing is known."""

    path: str = ""
    line: int = 0

    def __bool__(self) -> bool:
        """Whether a file is known."""
        return bool(self.path)

    @staticmethod
    def best(text: str, own: Place, name: str) -> Place:
        """Return where a failure's text says that it happened: the last line in the test's own file, else the last known."""
        found = [*_places(_PYTHON_AT, text), *_places(_AT, text)]
        path = own.path or name.partition("::")[0]
        mine = [place for place in found if place.path == path]
        if mine:
            return mine[-1]
        return Place() if own else (found or [Place()])[-1]


def place_in(file: str, line: str, suite: str) -> Place:
    """Return a place from a test's own attributes: the head of its function. pytest counts these lines from 0."""
    path = relative(file)
    number = int(line) if line.isascii() and line.isdigit() and len(line) < 8 else 0
    return Place(path, number + (suite == "pytest")) if path else Place()


def relative(path: str) -> str:
    """Return a path within the checkout with slashes, or nothing where it is absolute, climbs, or is none."""
    parts = path.replace("\\", "/").removeprefix("./").split("/")
    is_inside = all(part not in ("", ".", "..") for part in parts) and ":" not in parts[0]
    return "/".join(parts) if is_inside and len(path) <= 300 and path.isprintable() else ""


def selector(classname: str, name: str, place: Place, suite: str) -> str:
    """Return ``path::Class::test`` as pytest takes it where pytest wrote the report, else ``classname::name``."""
    is_python = place.path.endswith(".py") or suite == "pytest"
    parts = classname.split(".")
    if is_python and all(_NAME.fullmatch(part) for part in parts):
        path, classes = _module(parts, place)
        return "::".join([path, *classes, name])
    if not classname and is_python and name.replace(".", "").isidentifier():
        # What pytest says of a module that it could not even import.
        return f"{name.replace('.', '/')}.py"
    return "::".join(filter(None, (classname, name))) or "a test without a name"


def _module(parts: list[str], place: Place) -> tuple[str, list[str]]:
    """Return the file and the classes of a dotted name; without the file's name classes are what begins with a capital."""
    if place.path.endswith(".py"):
        module = place.path.removesuffix(".py").split("/")
        if parts[: len(module)] == module:
            return place.path, parts[len(module) :]
    split = next((index for index, part in enumerate(parts) if index and part[0].isupper()), len(parts))
    return "/".join(parts[:split]) + ".py", parts[split:]


def _places(pattern: re.Pattern[str], text: str) -> list[Place]:
    found = []
    for match in pattern.finditer(text):
        groups = match.groupdict()
        path = relative(groups["path"])
        if path:
            found.append(Place(path, int(groups["line"] or groups.get("paren") or 0)))
    return found
