"""Values that a documented command leaves to its reader: ``$VARIANT`` that nothing sets, ``<size>``, ``{model}``.

Such an option says that it may be given, and nothing of what: the program starts with its own value where the reader gives none.
"""

from __future__ import annotations

from gpu_lol_action.domain.patterns import regex

_LEFT_OPEN = regex(r"\$\{?[A-Za-z_]\w{0,60}\}?|<[^<>]{1,80}>|\{[A-Za-z_]\w{0,60}\}")


def is_left_open(text: str) -> bool:
    """Whether the whole of a value is a name for what readers put in."""
    return text[:3].lstrip("\"'")[:1] in {"$", "<", "{"} and _LEFT_OPEN.fullmatch(text.strip().strip("\"'")) is not None
