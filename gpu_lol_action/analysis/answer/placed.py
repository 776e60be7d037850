"""What was found in a project's folder, told with the paths that its files have in the whole checkout."""

from __future__ import annotations

import enum
import posixpath
import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec import EnvironmentSpec

Value = TypeVar("Value")
_OUTSIDE = regex(r"(python3 -m pip install(?: --no-build-isolation)? -e )(\.\.(?:/[\w.-]{1,100}){0,20})")
_UPWARD = regex(r"`(\.\.(?:/[\w./-]{0,200})?)`")
_SETUP = "dependencies.setup_commands"
_PATH = regex(r"(?<![\w./-])(?:\./)?([\w.-][\w./-]{0,300}\.\w{1,12})(?![\w/-])")


def placed(analysis: Analysis, folder: str, inner: Checkout, whole: Checkout) -> Analysis:
    """Return an analysis of a folder as one of the whole checkout: its places, and what is said of them. Its specs stay as they are."""
    put = _Put(folder, frozenset(inner.by_path))
    found = put.anywhere(analysis)
    return replace(
        found,
        not_understood=(*found.not_understood, *whole.notes),
        files_read=len(whole.sources),
        files_skipped=whole.files_skipped,
    )


def placed_in(value: Value, folder: str, inner: Checkout) -> Value:
    """Return a value that speaks of a folder's files as one that speaks of them in the whole checkout; the same where that is its root."""
    return _Put(folder, frozenset(inner.by_path)).anywhere(value) if folder else value


def done_in(findings: tuple[Finding, ...], folder: str) -> tuple[Finding, ...]:
    """Return findings whose commands that set a folder up are run there; the same where it is the checkout's root."""
    if not folder:
        return findings
    return tuple(
        replace(each, value=_run_in(each.value, folder)) if each.field == _SETUP else each for each in findings
    )


def _run_in(command: str, folder: str) -> str:
    """Return a command of a folder as it is said at the root; what installs a project outside needs not go into the folder."""
    found = _OUTSIDE.fullmatch(command)
    if found is None:
        return f"(cd {shlex.quote(folder)} && {command})"
    place = posixpath.normpath(posixpath.join(folder, found[2]))
    return f"{found[1]}{'.' if place == '.' else f'./{place}'}"


@record(frozen=True, slots=True)
class _Put:
    """The folder, and the paths within it that mean files."""

    folder: str
    paths: Collection[str]

    def anywhere(self, value: Value) -> Value:
        """Return a value with what it holds of the folder's paths as those of the whole."""
        changed: Any = value
        if isinstance(value, str):
            changed = _UPWARD.sub(self._folder, _PATH.sub(self._path, value))
        elif isinstance(value, Evidence):
            is_here = value.path in self.paths or value.path == "."  # the folder itself
            changed = Evidence(self._whole(value.path), value.line) if is_here else value
        elif isinstance(value, EnvironmentSpec):
            changed = value  # what it does in the folder says so already
        elif isinstance(value, (tuple, frozenset)):
            changed = type(value)(self.anywhere(item) for item in value)
        elif isinstance(value, Mapping):
            changed = {key: self.anywhere(item) for key, item in value.items()}
        elif is_dataclass(value) and not isinstance(value, (type, enum.Enum)):
            changed = replace(value, **{each.name: self.anywhere(getattr(value, each.name)) for each in fields(value)})
        moved: Value = changed
        return moved

    def _path(self, found: re.Match[str]) -> str:
        return self._whole(found[1]) if found[1] in self.paths else found[0]

    def _folder(self, found: re.Match[str]) -> str:
        return f"`{self._whole(found[1])}`"

    def _whole(self, path: str) -> str:
        return posixpath.normpath(f"{self.folder}/{path}")
