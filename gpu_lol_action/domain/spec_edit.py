"""A few values of a `.gpu-lol.yaml` changed in place: what a person wrote around them stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import yaml

from gpu_lol_action.domain import yaml_nodes
from gpu_lol_action.domain.policy import SPEC_PATH
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.yaml_nodes import Place
from gpu_lol_action.errors import SpecError

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._:/+-]*[A-Za-z0-9]|[0-9]{1,6}")
_WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n"})


@record(frozen=True, slots=True)
class SpecEdit:
    """The file's new text, and the old lines that differ: 1-based, inclusive.

    ``new_last_line``: where they end in the new text, if there are more or fewer of them.
    """

    text: str
    first_line: int
    last_line: int
    new_last_line: int | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """What those lines say now."""
        last = self.last_line if self.new_last_line is None else self.new_last_line
        return tuple(self.text.split("\n")[self.first_line - 1 : last])


def replace_lines(before: str, after: str) -> SpecEdit | None:
    """Return the edit that makes one text of the other: the lines between what both begin and end with.

    One line at least, as a suggestion has to stand somewhere. None where they are the same.
    """
    old, new = (text.removesuffix("\n").split("\n") for text in (before, after))
    if old == new:
        return None
    most = min(len(old), len(new)) - 1
    first = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - first) if old[-1 - at] != new[-1 - at]), most - first)
    return SpecEdit(after, first + 1, len(old) - tail, len(new) - tail)


def edit_spec(text: str, changes: Mapping[str, str | int]) -> SpecEdit | None:
    """Return the file with dotted keys (``hardware.gpu_type``) at other values; keys that it does not state stay out.

    None where nothing changes, or where the values span lines, so that no line of the one is a line of the other.
    """
    try:
        root = yaml_nodes.read_document(text, Place(SPEC_PATH))
    except SpecError:
        return None
    edited, touched = text, []
    for node, value in sorted(_stated(root, changes), key=lambda pair: -pair[0].start_mark.index):
        start, end = node.start_mark, node.end_mark
        if start.line != end.line:
            return None
        written = _written(value)
        if edited[start.index : end.index] != written:
            edited = edited[: start.index] + written + edited[end.index :]
            touched.append(start.line + 1)
    return SpecEdit(edited, min(touched), max(touched)) if touched else None


def _stated(root: yaml.Node | None, changes: Mapping[str, str | int]) -> Iterator[tuple[yaml.ScalarNode, str | int]]:
    """Yield the node of each key that the file states, with its new value."""
    for dotted, value in changes.items():
        node = root
        for word in dotted.split("."):
            pairs = node.value if isinstance(node, yaml.MappingNode) else ()
            node = next((inner for key, inner in pairs if key.value == word), None)
        if isinstance(node, yaml.ScalarNode):
            yield node, value


def _written(value: str | int) -> str:
    text = str(value)
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS and (isinstance(value, int) or not text.isdigit())
    return text if is_plain else json.dumps(text)
