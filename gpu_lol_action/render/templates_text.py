"""The answer to ``gpu-lol templates``: the account's templates, and which kind an ``up`` prefers."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.market import Template
from gpu_lol_action.render.markdown import visible

_NAME, _IMAGE = 44, 72


def templates_text(templates: Sequence[Template], known: int, pattern: str) -> str:
    """Return the templates as lines: what is preferred is marked; names and images are the account's own words."""
    if not templates:
        return f"No template{' with that in its name' if known else ' in this RunPod account'}." + _hint(pattern)
    width = min(max(len(visible(each.name, _NAME)) for each in templates), _NAME)
    lines = [
        f"{_mark(each, pattern)} {visible(each.name, _NAME):<{width}}  {visible(each.image, _IMAGE)}{_notes(each)}"
        for each in templates
    ]
    return "\n".join([*lines, _hint(pattern)])


def _mark(template: Template, pattern: str) -> str:
    if pattern and pattern.lower() in template.name.lower():
        return "*"
    return "+" if template.is_official else " "


def _notes(template: Template) -> str:
    return "  (private: needs a registry login, not used)" if template.is_private else ""


def _hint(pattern: str) -> str:
    own = (
        f"* holds `{visible(pattern, _NAME)}`"
        if pattern
        else "* would be yours: set GPU_LOL_TEMPLATE_PATTERN to a part of their names"
    )
    return f"\n{own}; + is RunPod's own for PyTorch. `up` takes the first of these that fits the code's PyTorch, Python and card."
