"""Sizes that the run's transforms bring pictures to: said in the call, or followed to where they are written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.media.libraries import named_network
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.programs.local_values import is_handed_on
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.analysis.runs.settings import Scope, as_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# Of torchvision, Albumentations and Keras, the first of them first: they crop to what goes in.
_TRANSFORMS = (
    "RandomResizedCrop",
    "CenterCrop",
    "RandomCrop",
    "Resize",
    "RandomSizedCrop",
    "LongestMaxSize",
    "SmallestMaxSize",
    "Resizing",
)
_SHORTER = ("RandomResize", "ResizeShortestEdge", "Resize", "RandomShortestSize", "RandomChoiceResize")
_SIDES = ("size", "height", "max_size")
# Functions and data sets that read samples for a network; others resize what they show.
_READS_SAMPLES = regex(
    r"__getitem__|(?:^|_)(?:load|read|parse|decode|prep\w*|process\w*|transform\w*|augment\w*|map|get)(?:_|$)|[Dd]ataset",
    re.IGNORECASE,
)
_RESIZED = frozenset({"size", "dsize", "output_shape"})
_FREEZES = (".trainable = False", "trainable=False")
PAIR, PICTURES = 2, 4
"""Sides of a picture, and numbers in the shape of a batch of them."""
CHANNELS = frozenset({"1", "3", "4"})
LEAST, MOST = 16, 8192


def transformed_sizes(scope: Scope, sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield ``media.image_size`` as the transforms of a run's programs give it, in pixels.

    What a call leaves to a name is followed as far as the run tells it: to its options and configuration, a module's constant,
    those that build the data set.
    """
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], sources) if scope.tiers else None
    for source in sources:
        yield from _shorter_and_longer(source)
        yield from _augmented(source, follower)
        for name in _TRANSFORMS:
            for call in source.code.calls_named(name) if source.code else ():
                sides = _sides(source, call, follower)
                if sides and all(LEAST <= side <= MOST for side in sides):
                    value = "x".join(str(side) for side in sides)
                    where = Evidence(source.path, call.line)
                    yield Finding("media.image_size", value, f"`{call.name[:40]}` gives it", Confidence.MEDIUM, where)


def _sides(source: Source, call: Call, follower: Follower | None) -> list[int]:
    """Return one side, or height and width; empty where one that is given is not known."""
    first = call.arguments[0] if call.arguments else call.keyword(*_SIDES)
    second = call.arguments[1] if len(call.arguments) > 1 else call.keyword("width")
    sides = _numbers(source, call, first, follower)
    if len(sides) == 1 and second is not None:
        # Others take how to interpolate, or a scale, in the second place.
        sides += [side for side in _numbers(source, call, second, follower)[:1] if LEAST <= side <= MOST]
    return sides


def _numbers(source: Source, call: Call, value: Value | None, follower: Follower | None) -> list[int]:
    """Return the first two whole numbers that a value stands for; a side that is no such number is passed over."""
    if value is None or source.code is None:
        return []
    told = follower.value(source, value, call.owner) if follower is not None else None
    # What callers give in several ways is not what a parameter starts with.
    known = None if is_handed_on(source, call.owner, value) else source.code.resolve(value)
    text = told[0] if told is not None else known
    parts = (text or "").strip("()[] ").split(",")[:2]
    return [number for part in parts if (number := as_number(part)) is not None]


def resized_sizes(scope: Scope, sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield ``media.image_size`` as functions resize to it that read samples (``cv2.resize(image, (512, 512))``): width first, as most take it."""
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], sources) if scope.tiers else None
    for source in sources:
        for call in source.code.calls_named("resize") if source.code is not None else ():
            if _READS_SAMPLES.search(call.owner) is None:
                continue
            for given in (*call.arguments[:2], *(value for key, value in call.keywords if key in _RESIZED)):
                sides = _numbers(source, call, given, follower)
                if len(sides) == PAIR and all(LEAST <= side <= MOST for side in sides):
                    why = f"`{call.name[:40]}` makes samples of it"
                    where = Evidence(source.path, call.line)
                    yield Finding("media.image_size", f"{sides[1]}x{sides[0]}", why, Confidence.LOW, where)


def first_inputs(scope: Scope, sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield ``media.image_size`` of the pictures that a network of Flax is made with (``net.init(key, jnp.ones((1, 224, 224, 3)))``)."""
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], sources) if scope.tiers else None
    for source in sources:
        is_flax = source.code is not None and source.mentions(".init(") and "flax" in source.code.imported()
        for call in source.code.calls_named("ones", "zeros") if is_flax and source.code is not None else ():
            row = call.arguments[0].items if call.arguments else ()
            if len(row) == PICTURES and row[-1].text in CHANNELS:
                sides = [side for item in row[1:3] for side in _numbers(source, call, item, follower)[:1]]
                if len(sides) == PAIR and all(LEAST <= side <= MOST for side in sides):
                    where = Evidence(source.path, call.line)
                    why = f"`{call.name[:40]}` is the picture that the network is made with"
                    yield Finding("media.image_size", f"{sides[0]}x{sides[1]}", why, Confidence.LOW, where)


def _augmented(source: Source, follower: Follower | None) -> Iterator[Finding]:
    """Yield the side to which fastai crops a whole batch on the card, after each picture was brought to a larger one."""
    for call in source.code.calls_named("aug_transforms") if source.code is not None else ():
        yield from _found(_numbers(source, call, call.keyword("size"), follower), source, call, "crops batches to it")


def network_inputs(scope: Scope, sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield ``media.image_size`` of the pictures that a network of Keras is made for (``Xception(input_shape=(512, 512, 3))``): height first.

    Only of the one network that a run makes and trains: a second one, or a frozen one, may judge pictures that were made smaller for it.
    """
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], sources) if scope.tiers else None
    keras = [
        each for each in sources if each.code is not None and each.mentions("input_shape") and each.mentions("keras")
    ]
    if not keras or any(each.mentions(word) for each in sources for word in _FREEZES):
        return
    named = [
        (each, call)
        for each in sources
        for call in (each.code.calls if each.code is not None else ())
        if call.last[:1].isupper() and named_network(call.last.lower()) is not None
    ]
    source, call = named[0] if len(named) == 1 else (None, None)
    given = call.keyword("input_shape") if call is not None else None
    if source is None or call is None or given is None or source not in keras:
        return
    row = given.items[:PAIR]
    sides = [n for item in row for n in _numbers(source, call, item, follower)[:1]] if row else None
    sides = _numbers(source, call, given, follower) if sides is None else sides
    for each in _found(sides if len(sides) == PAIR else [], source, call, "is made for it"):
        yield replace(each, confidence=Confidence.LOW)


def _found(sides: Sequence[int], source: Source, call: Call, what: str) -> Iterator[Finding]:
    if sides and all(LEAST <= side <= MOST for side in sides):
        where = Evidence(source.path, call.line)
        why = f"`{call.name[:40]}` {what}"
        yield Finding("media.image_size", "x".join(map(str, sides)), why, Confidence.MEDIUM, where)


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
