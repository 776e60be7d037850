"""The marker on line 1 of each comment: how a later run finds what an earlier one said."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpu_lol_action.domain.records import record
from gpu_lol_action.render.markdown import Safe

_START = "<!-- gpu-lol v1"
COMMENT_PREFIX = f"{_START} "
"""What every comment of ours starts with."""
_LINE = re.compile(r"<!-- gpu-lol v1 (?P<kind>[a-z_]{1,30})(?P<pairs>(?: [a-z_]{1,20}=[A-Za-z0-9._:/+-]{1,120})*) -->")
_FOREIGN = re.compile(r"[^A-Za-z0-9._:/+-]|-(?=-)")


@record(frozen=True, slots=True)
class Marker:
    """What a comment is about: its kind (``proposal``, ``environment``, ``reply``) and its keys."""

    kind: str
    values: Mapping[str, str]


def build_marker(kind: str, **values: str | int | None) -> Safe:
    """Return the whole line; keys without a value are left out, foreign characters become ``_``.

    Two hyphens in a row would end the HTML comment in some readers, so no value keeps them.
    """
    return Safe(f"{_head(kind, values)} -->")


def marker_prefix(kind: str, **values: str | int | None) -> str:
    """Return what such a comment starts with; it ends in a space, so that ``pr=12`` never finds ``pr=128``."""
    return f"{_head(kind, values)} "


def parse_marker(body: str) -> Marker | None:
    """Return the marker of a comment's first line, or None where it is no comment of ours."""
    match = _LINE.fullmatch(body.split("\n", 1)[0].rstrip("\r"))
    if match is None:
        return None
    return Marker(match["kind"], dict(pair.split("=", 1) for pair in match["pairs"].split()))


def _head(kind: str, values: Mapping[str, str | int | None]) -> str:
    pairs = [f"{key}={_restrict(str(value))}" for key, value in values.items() if value is not None and value != ""]
    return " ".join([_START, kind, *pairs])


def _restrict(value: str) -> str:
    return _FOREIGN.sub("_", value)[:120].rstrip("-") or "_"
