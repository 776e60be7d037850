"""YAML files as settings and as nested values, from events, not objects: no alias is expanded, no tag is built, nothing recurses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import BROKEN, MAX_DEPTH, MAX_KEY, TOO_DEEP, Setting, fold_key
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.records import record

# libyaml's reader is ten times as fast, and where it is missing, PyYAML's own gives the same events.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FAULTS = (yaml.YAMLError, RecursionError, ValueError, OverflowError)  # the last two: escapes such as "\\UFFFFFFFF"


def yaml_settings(source: Source, longest: int = 300) -> Iterator[Setting]:
    """Yield the settings of a YAML file in its order, texts cut at ``longest``; a fault, and what is nested too deeply, is noted and ends them."""
    stack: list[_Level] = []
    try:
        for event in yaml.parse(source.text, Loader=_LOADER):
            if len(stack) > MAX_DEPTH:  # and the scanner's work grows with the square of the depth
                source.effort.failures.setdefault(source.path, TOO_DEEP)
                return
            yield from _step(event, stack, source, longest)
    except _FAULTS:
        source.effort.failures.setdefault(source.path, BROKEN)


@record(slots=True)
class _Level:
    """One open mapping or list while events go by. A mutable cursor, private to the reader."""

    is_mapping: bool
    path: str
    key: str | None = None


def _step(event: yaml.Event, stack: list[_Level], source: Source, longest: int) -> Iterator[Setting]:
    if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
        path = _path(stack)
        _advance(stack)
        stack.append(_Level(isinstance(event, yaml.MappingStartEvent), path))
    elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
        if stack:
            stack.pop()
    elif isinstance(event, yaml.AliasEvent):
        _advance(stack)
    elif isinstance(event, yaml.ScalarEvent) and stack:
        level = stack[-1]
        if level.is_mapping and level.key is None:
            level.key = fold_key(str(event.value)[:MAX_KEY])
            return
        path = _path(stack)
        key = path.rpartition(".")[2]
        line = event.start_mark.line + 1 if event.start_mark else 0
        if event.value and str(event.value).lower() not in {"null", "~"}:
            yield Setting(key, path, str(event.value)[:longest], Evidence(source.path, line))
        _advance(stack)


def _path(stack: list[_Level]) -> str:
    if not stack:
        return ""
    level = stack[-1]
    if not level.is_mapping:
        return level.path
    return f"{level.path}.{level.key}" if level.path else (level.key or "")


def _advance(stack: list[_Level]) -> None:
    if stack and stack[-1].is_mapping:
        stack[-1].key = None


def read_nested(text: str) -> Any:
    """Return mappings and lists of a YAML file, numbers as such; None where it is broken or nested too deeply."""
    try:
        return _nested(text)
    except _FAULTS:
        return None


def _nested(text: str) -> Any:
    stack: list[tuple[Any, list[str]]] = []
    for event in yaml.parse(text, Loader=_LOADER):
        if len(stack) > MAX_DEPTH:
            return None
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            made: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            _put(stack, made)
            stack.append((made, []))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            whole, _ = stack.pop()
            if not stack:
                return whole
        elif isinstance(event, yaml.ScalarEvent):
            is_key = bool(stack) and isinstance(stack[-1][0], dict) and not stack[-1][1]
            _put(stack, str(event.value)[:100] if is_key else _plain(event))
        elif isinstance(event, yaml.AliasEvent):
            _put(stack, None)
    return None


def _put(stack: list[tuple[Any, list[str]]], value: Any) -> None:
    if not stack:
        return
    owner, key = stack[-1]
    if isinstance(owner, list):
        owner.append(value)
    elif key:
        owner[key.pop()] = value
    else:
        key.append(str(value))


def _plain(event: yaml.ScalarEvent) -> float | int | str:
    text = str(event.value)[:100]
    if event.style in {"'", '"'}:
        return text
    try:
        return int(text) if text.lstrip("+-").isdigit() and len(text) < 16 else float(text)
    except ValueError:
        return text
