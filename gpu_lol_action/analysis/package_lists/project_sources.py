"""Where a project's packages come from that its tools are told to take elsewhere than from the index: uv's sources, poetry's paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.package_lists.package_files import (
    MAX_DECLARED,
    Declared,
    clean_requirement,
    package_name,
    placed,
)
from gpu_lol_action.domain.patterns import regex

# `core @ {root:parent:uri}/core` of hatch, `core @ file:///${PROJECT_ROOT}/../core` of PDM.
_AT_ROOT = regex(r"(?:\{root((?::parent){0,4}):(?:uri|real)\}|file:/{0,3}\$\{PROJECT_ROOT()\})(/[\w./-]{1,200})")
Named = tuple[str, str]
"""A requirement and the group that it stands in; an empty group: it is required."""


def with_source(text: str, sources: dict[str, Any]) -> str:
    """Return a requirement with the repository that uv's sources name for it; empty where it lies in the same checkout."""
    if _AT_ROOT.search(text) is not None:
        return ""
    entry = sources.get(package_name(text)) if sources else None
    entry = entry[0] if isinstance(entry, list) and entry else entry
    if not isinstance(entry, dict) or "://" in text:
        return text
    if entry.get("workspace") or isinstance(entry.get("path"), str):
        return ""
    return from_repository(regex(r"[<>=!~; ]").split(text, maxsplit=1)[0], entry) or text


def neighbors_of(source: Source, named: Sequence[Named], sources: dict[str, Any]) -> Iterator[Declared]:
    """Yield what a project requires of which it is said that it lies in the same checkout."""
    for text, group in named[:MAX_DECLARED]:
        if not group and not with_source(text, sources) and clean_requirement(text):
            yield placed(source, text, group, is_library=True)


def workspace_names(sources: dict[str, Any]) -> tuple[str, ...]:
    """Return the packages that uv's sources take from the workspace."""
    return tuple(name for name, entry in sources.items() if isinstance(entry, dict) and entry.get("workspace") is True)


def from_repository(name: str, entry: dict[str, Any]) -> str:
    """Return a requirement as the entry of a table says where it is kept; empty where that is the index."""
    url = entry.get("git")
    if isinstance(url, str):
        at = next((str(entry[key]) for key in ("rev", "tag", "branch", "ref") if isinstance(entry.get(key), str)), "")
        inside = entry.get("subdirectory")
        tail = f"#subdirectory={inside}" if isinstance(inside, str) else ""
        return f"{name} @ git+{url.removeprefix('git+')}{'@' if at else ''}{at}{tail}"
    file = entry.get("url") or entry.get("file")
    return f"{name} @ {file}" if isinstance(file, str) and file.startswith("http") else ""


def local_paths(tables: Iterable[dict[str, Any]], named: Sequence[Named]) -> Iterator[str]:
    """Yield folders of this checkout that are installed as dependencies: entries of tables, hatch's and PDM's addresses of them."""
    for table in tables:
        for value in table.values():
            if isinstance(value, dict) and isinstance(value.get("path"), str):
                yield value["path"]
    for text, group in named[:MAX_DECLARED]:
        if not group and "root" in text.lower() and (found := _AT_ROOT.search(text)) is not None:
            yield "../" * (found[1] or "").count("parent") + found[3].strip("/")
