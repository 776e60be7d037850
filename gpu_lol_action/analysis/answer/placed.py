"""What was found in a project's folder, told with the paths that its files have in the whole checkout."""

from __future__ import annotations

import enum
import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec import EnvironmentSpec

Value = TypeVar("Value")
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


def done_in(spec: EnvironmentSpec, folder: str) -> EnvironmentSpec:
    """Return a spec whose commands are run in a folder of the checkout; the same where that is its root."""
    commands = spec.dependencies.setup_commands
    if not folder or not commands:
        return spec
    moved = tuple(f"(cd {shlex.quote(folder)} && {each})" for each in commands)
    return replace(spec, dependencies=replace(spec.dependencies, setup_commands=moved))


@record(frozen=True, slots=True)
class _Put:
    """The folder, and the paths within it that mean files."""

    folder: str
    paths: Collection[str]

    def anywhere(self, value: Value) -> Value:
        """Return a value with what it holds of the folder's paths as those of the whole."""
        changed: Any = value
        if isinstance(value, str):
            changed = _PATH.sub(self._path, value)
        elif isinstance(value, Evidence):
            changed = Evidence(f"{self.folder}/{value.path}", value.line) if value.path in self.paths else value
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
        return f"{self.folder}/{found[1]}" if found[1] in self.paths else found[0]
