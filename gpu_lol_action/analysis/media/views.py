"""How many pictures a step makes of each sample: training without labels compares several views of one picture.

DINO and its successors take two crops of the whole picture and several small ones (Caron et al. 2021: 224 and 96 pixels); SwAV
lists how many of which size; SimCLR and MoCo take two (Chen et al. 2020, He et al. 2020).
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.media.passes import MOST as MOST_PASSES
from gpu_lol_action.analysis.media.passes import passes_of
from gpu_lol_action.analysis.programs.unused_definitions import is_unused_at
from gpu_lol_action.analysis.runs.settings import Found, Scope, as_number, look_up
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.sums import added

FIELD, PASSES = "media.views", "media.passes"
_SMALL = ("local_crops_number", "n_local_crops", "num_local_crops")
_WHOLE = ("global_crops_number", "n_global_crops", "num_global_crops")
_EQUAL = ("n_views", "num_views", "n_augmentations")
_COMPARES = (
    "info_nce",
    "InfoNCE",
    "infonce",
    "ontrastive",
    "SupCon",
    "NTXent",
    "nt_xent",
    "imCLR",
    "simclr",
    "SimSiam",
    "BYOL",
    "byol",
)
_SMALL_SIZE = ("local_crops_size", "local_crop_size", "local_size")
_WHOLE_SIZE = ("global_crops_size", "global_crop_size", "global_size")
_PAIRS = ("TwoCropsTransform", "TwoCropTransform", "ContrastiveLearningViewGenerator")
SMALL, WHOLE = 96, 224
MOST = 32
MOST_PROGRAMS = 20


def views_findings(scope: Scope, sources: Sequence[Source]) -> list[Finding]:
    """Return how many whole pictures the views of one sample come to; nothing where it is one."""
    small = look_up(scope, _SMALL)
    if small is not None and (count := _count(small)) is not None:
        whole = look_up(scope, _WHOLE)
        side, of = _side(scope, _SMALL_SIZE, SMALL), _side(scope, _WHOLE_SIZE, WHOLE)
        views = ((_count(whole) if whole is not None else None) or 2) + count * (side / of) ** 2
        return [_finding(small, views)]
    listed, sizes = look_up(scope, ("nmb_crops",)), look_up(scope, ("size_crops",))
    if listed is not None and sizes is not None:
        counts, sides = _numbers(listed), _numbers(sizes)
        if counts and len(counts) == len(sides):
            return [_finding(listed, added(n * (s / sides[0]) ** 2 for n, s in zip(counts, sides, strict=True)))]
    # Elsewhere the views are cameras around a scene, of which a step takes one.
    compares = any(source.mentions(word) for source in sources for word in _COMPARES)
    equal = look_up(scope, _EQUAL) if compares else None
    if equal is not None and (count := _count(equal)) is not None and count > 1:
        return [_finding(equal, count)]
    for source in sources:
        for call in source.code.calls_named(*_PAIRS) if source.code is not None else ():
            where = Evidence(source.path, call.line)
            return [Finding(FIELD, "2", f"`{call.last}` makes two views of a picture", Confidence.MEDIUM, where)]
    return _passes(sources)


def _passes(sources: Sequence[Source]) -> list[Finding]:
    """Return how often a step runs its network on what it learns from, where every step of the run's programs runs it more than once."""
    steps = [
        (source, passes)
        for source in sources[:MOST_PROGRAMS]
        for passes in passes_of(source)
        if not is_unused_at(source, passes.line, sources)
    ]
    source, least = min(steps, key=lambda each: each[1].count, default=(None, None))
    if source is None or least is None or not 1 < least.count <= MOST_PASSES:
        return []
    why = f"a step runs `{least.name}` {least.count} times before it goes back"
    return [Finding(PASSES, str(least.count), why, Confidence.MEDIUM, Evidence(source.path, least.line))]


def _finding(found: Found, views: float) -> Finding:
    why = f"`{found.setting.key}` is {found.text}: the views of a sample come to {views:.3g} whole pictures"
    return Finding(FIELD, f"{views:.3g}", why, found.confidence, found.evidence)


def _count(found: Found) -> int | None:
    number = as_number(found.text)
    return number if number is not None and 0 <= number <= MOST else None


def _side(scope: Scope, names: tuple[str, ...], usual: int) -> int:
    found = look_up(scope, names)
    number = as_number(found.text) if found is not None else None
    return number if number is not None and 8 <= number <= 2048 else usual


def _numbers(found: Found) -> list[int]:
    if not regex(r"[\s()\[\]\d,]{1,60}").fullmatch(found.text):
        return []
    return [min(int(digits), 2048) for digits in regex(r"\d{1,4}").findall(found.text) if int(digits) > 0][:8]
