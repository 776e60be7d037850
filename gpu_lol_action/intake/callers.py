"""Which workflow files call ours, or the action itself, and what they grant and pass."""

from __future__ import annotations

import re
from collections.abc import Mapping

import yaml

from gpu_lol_action.domain.checkup import CallerFacts
from gpu_lol_action.domain.lookup import is_copilot
from gpu_lol_action.domain.yaml_nodes import Place, read_document
from gpu_lol_action.errors import SpecError

_ACTION = re.compile(r"\S*gpu-lol-action@(\S+)")
_SECRET = re.compile(r"\bsecrets\s*\.\s*([A-Za-z_][A-Za-z0-9_]{0,99})")
_PULL_REQUESTS = frozenset({"pull_request", "pull_request_target"})
_COMMANDING = frozenset({"issue_comment", "schedule"})
_CALLED = re.compile(r"\S*gpu-lol-action/\.github/workflows/(propose|bot)\.yml@(\S+)")


def find_callers(workflows: Mapping[str, str]) -> tuple[CallerFacts, ...]:
    """Return every job that calls one of our workflows or has our action as a step, in the files' order; a file that is no workflow has none."""
    return tuple(caller for path, text in workflows.items() for caller in _callers_of(path, text))


def _callers_of(path: str, text: str) -> list[CallerFacts]:
    try:
        root = _plain(read_document(text, Place(path)))
    except SpecError:
        return []
    document = _mapping(root)
    triggers = _names(document.get("on"))
    types = _names(_mapping(_mapping(document.get("on")).get("pull_request_target")).get("types"))
    found = []
    for job in _mapping(document.get("jobs")).values():
        called = _CALLED.fullmatch(str(_mapping(job).get("uses", "")))
        if called is not None:
            permissions = _mapping(job).get("permissions", document.get("permissions"))
            secrets = _mapping(job).get("secrets")
            found.append(
                CallerFacts(
                    path=path,
                    callee=called[1],
                    ref=called[2],
                    permissions=_granted(permissions),
                    secrets=_names(secrets),
                    has_schedule="schedule" in triggers,
                    triggers=triggers,
                    hears_labels="labeled" in types,
                )
            )
        for step in _steps(job):
            used = _ACTION.fullmatch(str(step.get("uses", "")))
            if used is None:
                continue
            given = _mapping(step.get("with"))
            # In one file the action answers whatever starts it.
            callees = ["propose"] * bool(triggers & _PULL_REQUESTS) + ["bot"] * bool(triggers & _COMMANDING)
            found += [
                CallerFacts(
                    path=path,
                    callee=callee,
                    ref=used[1],
                    permissions=_granted(_mapping(job).get("permissions", document.get("permissions"))),
                    secrets=frozenset(_SECRET.findall(str(job))) - {"GITHUB_TOKEN"},
                    has_schedule="schedule" in triggers,
                    triggers=triggers,
                    hears_labels="labeled" in types,
                    is_direct=True,
                    has_model=bool(given.get("llm-url")),
                    has_copilot=is_copilot(given.get("llm-url")) and not given.get("llm-key"),
                )
                for callee in callees
            ]
    return found


def _steps(job: object) -> list[Mapping[str, object]]:
    steps = _mapping(job).get("steps")
    return [_mapping(step) for step in steps] if isinstance(steps, list) else []


def _granted(permissions: object) -> Mapping[str, str] | None:
    if permissions is None:
        return None
    if isinstance(permissions, str):
        level = {"write-all": "write", "read-all": "read"}.get(permissions, "none")
        return {"*": level}
    return {str(name): str(level) for name, level in _mapping(permissions).items()}


def _names(value: object) -> frozenset[str]:
    """Return the names that a word, a list or the keys of a mapping give."""
    if isinstance(value, str):
        return frozenset({value})
    return frozenset(str(name) for name in value) if isinstance(value, dict | list) else frozenset()


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _plain(node: yaml.Node | None) -> object:
    """Return a document's nodes as plain values, every scalar as its text: `on` stays `on`."""
    if isinstance(node, yaml.MappingNode):
        return {_plain(key): _plain(value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    return node.value if isinstance(node, yaml.ScalarNode) else None
