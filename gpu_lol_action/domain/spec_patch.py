"""Values and lists of a `.gpu-lol.yaml` changed in its text, so that a person's comments and order stay."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from gpu_lol_action.domain import yaml_nodes
from gpu_lol_action.domain.policy import SPEC_PATH
from gpu_lol_action.domain.snapshot import with_values
from gpu_lol_action.domain.spec_edit import edit_spec
from gpu_lol_action.domain.spec_yaml import parse_spec
from gpu_lol_action.domain.yaml_nodes import Place
from gpu_lol_action.errors import SpecError


def patch_spec(text: str, values: Mapping[str, Any]) -> str | None:
    """Return the text with dotted keys at other values, written where they are missing.

    None where the text has a form that this cannot change, or where it would not mean exactly that afterwards.
    """
    patched: str | None = text if text.endswith("\n") or not text else f"{text}\n"
    try:
        wanted = with_values(parse_spec(text), values)
        for key, value in values.items():
            patched = _changed(patched, key, value) if patched is not None else None
        return patched if patched is not None and parse_spec(patched) == wanted else None
    except SpecError:
        return None


def _changed(text: str, key: str, value: Any) -> str | None:
    section, _, name = key.partition(".")
    root = yaml_nodes.read_document(text, Place(SPEC_PATH))
    if root is not None and not _is_block(root):
        return None
    node = _value_of(root, section)
    if node is None:
        return "".join([text, f"{section}:\n", *_written("  ", name, value)])
    if not _is_block(node) or not node.value:
        return None
    held = _value_of(node, name)
    lines = text.splitlines(keepends=True)
    if held is None:
        at, indent = _last_line(node) + 1, " " * node.value[0][0].start_mark.column
        while not lines[at - 1].strip():
            at -= 1
        return "".join([*lines[:at], *_written(indent, name, value), *lines[at:]])
    if isinstance(held, yaml.SequenceNode) and isinstance(value, tuple):
        return _listed(lines, held, value)
    edit = edit_spec(text, {key: value}) if isinstance(value, str | int) else None
    return edit.text if edit is not None else None


def _listed(lines: list[str], node: yaml.SequenceNode, values: Sequence[str]) -> str | None:
    """Return the text with another list: items that stay keep their lines, with what is written beside and between them."""
    items = node.value
    is_plain = all(isinstance(item, yaml.ScalarNode) and item.start_mark.line == item.end_mark.line for item in items)
    if node.flow_style or not items or not is_plain:
        return None
    rows = [item.start_mark.line for item in items]
    indent = " " * node.start_mark.column
    replaced: dict[int, list[str]] = {}
    matcher = difflib.SequenceMatcher(None, [item.value for item in items], list(values), autojunk=False)
    for form, first, last, new_first, new_last in matcher.get_opcodes():
        if form == "equal":
            continue
        new = [f"{indent}{_item(each)}" for each in values[new_first:new_last]]
        for row in rows[first:last]:
            replaced[row] = []
        if first < last:
            replaced[rows[first]] = new
        elif first < len(rows):
            replaced[rows[first]] = [*new, *replaced.get(rows[first], [lines[rows[first]]])]
        else:
            replaced[rows[-1]] = [*replaced.get(rows[-1], [lines[rows[-1]]]), *new]
    return "".join(part for row, line in enumerate(lines) for part in replaced.get(row, [line]))


def _written(indent: str, name: str, value: Any) -> list[str]:
    plain = list(value) if isinstance(value, tuple) else value
    text = yaml.safe_dump({name: plain}, default_flow_style=False, allow_unicode=True, width=4096)
    return [f"{indent}{line}" for line in text.splitlines(keepends=True)]


def _item(value: str) -> str:
    return yaml.safe_dump([value], default_flow_style=False, allow_unicode=True, width=4096)


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.MappingNode) and not node.flow_style


def _value_of(node: yaml.Node | None, name: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in pairs if key.value == name), None)


def _last_line(node: yaml.Node) -> int:
    """Return the row on which a node ends: the parser's mark stands behind the comments that follow."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    end = node.end_mark
    return end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line
