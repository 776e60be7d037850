"""Sizes that pictures are cut and scaled to before a network sees them: what ``Resize``, ``RandomCrop`` and their kin are given."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.analysis.runs.followed_values import Follower
from gpu_lol_action.analysis.runs.settings import Scope, as_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

LEAST, MOST = 16, 8192
"""Pixels of a side."""
_TRANSFORMS = (
    "RandomResizedCrop",
    "CenterCrop",
    "RandomCrop",
    "Resize",
    "RandomSizedCrop",
    "LongestMaxSize",
    "SmallestMaxSize",
)
_SHORTER = ("RandomResize", "ResizeShortestEdge", "Resize", "RandomShortestSize", "RandomChoiceResize")


def from_transforms(scope: Scope, sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield the sizes that transforms give, in the order of the programs; followed to the command, the configuration and callers."""
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], sources) if len(scope.tiers) > 1 else None
    for source in sources:
        yield from _shorter_and_longer(source)
        for name in _TRANSFORMS:
            for call in source.code.calls_named(name) if source.code else ():
                given = call.arguments[0] if call.arguments else call.keyword("size", "height")
                parts = [
                    number for text in _sides(follower, source, call, given) if (number := as_number(text)) is not None
                ]
                if parts and all(LEAST <= part <= MOST for part in parts):
                    value = "x".join(str(part) for part in parts)
                    where = Evidence(source.path, call.line)
                    yield Finding("media.image_size", value, f"`{call.name[:40]}` gives it", Confidence.MEDIUM, where)


def _sides(follower: Follower | None, source: Source, call: Call, given: Value | None) -> list[str]:
    """Return the one or two sides that a transform is given, as texts."""
    if given is None or source.code is None:
        return []
    text = source.code.resolve(given) or ""
    if follower is None or given.text is not None:
        return text.split(",")[:2]
    follower.left = max(follower.left, 20)
    told = [follower.text(source, each, call.owner) for each in (given.items or (given,))[:2]]
    return [each or "" for each in told] if all(told) else text.split(",")[:2]


@remembered
def _shorter_and_longer(source: Source) -> tuple[Finding, ...]:
    """Return the largest picture of detectors' transforms: the shorter side as given, the longer at most ``max_size``."""
    found = []
    for call in source.code.calls_named(*_SHORTER) if source.code else ():
        longer = as_number((source.code.resolve(call.keyword("max_size", "max_length")) if source.code else None) or "")
        given = call.arguments[0] if call.arguments else call.keyword("min_size", "short_edge_length", "size", "sizes")
        text = (source.code.resolve(given) if source.code else None) or ""
        sides = [side for part in text.split(",") if (side := as_number(part)) is not None and LEAST <= side <= MOST]
        if longer is not None and LEAST <= longer <= MOST and sides:
            why = f"`{call.last}` makes pictures up to it"
            where = Evidence(source.path, call.line)
            size = f"{min(max(sides), longer)}x{longer}"
            found.append(Finding("media.image_size", size, why, Confidence.MEDIUM, where))
    return tuple(sorted(found, key=lambda finding: -math.prod(int(side) for side in finding.value.split("x")))[:1])
