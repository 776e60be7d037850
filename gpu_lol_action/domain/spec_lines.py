"""Where a key of a `.gpu-lol.yaml` stands: so that a value that a hand changed can be pointed at."""

from __future__ import annotations

import yaml

from gpu_lol_action.domain import yaml_nodes
from gpu_lol_action.domain.policy import SPEC_PATH
from gpu_lol_action.domain.yaml_nodes import Place
from gpu_lol_action.errors import SpecError


def stated_lines(text: str) -> dict[str, int]:
    """Return the line (1-based) of each dotted key of two levels that a file states; none where it cannot be read."""
    try:
        root = yaml_nodes.read_document(text, Place(SPEC_PATH))
    except SpecError:
        return {}
    found: dict[str, int] = {}
    for section, node in root.value if isinstance(root, yaml.MappingNode) else ():
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            found[f"{section.value}.{key.value}"] = key.start_mark.line + 1
    return found
