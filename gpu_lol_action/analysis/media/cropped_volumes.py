"""The parts that MONAI's transforms cut out of a scan for training: they are what goes into the network, and one scan gives several.

Names and parameters as MONAI's documentation of its transforms gives them: ``spatial_size`` or ``roi_size`` are the sides of a
part, and ``num_samples`` is how many of them a sample of the data set becomes before they are put into a batch.
"""

from __future__ import annotations

import math

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.python.code import Call, PythonCode
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.analysis.runs.settings import as_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

PARTS = "media.parts"
LIBRARY = "monai"
# Which of the values without names are the sides; transforms of dictionaries end in `d`.
_CUTS = {
    "RandSpatialCrop": 0,
    "RandSpatialCropd": 1,
    "RandSpatialCropSamples": 0,
    "RandSpatialCropSamplesd": 1,
    "RandCropByPosNegLabel": 0,
    "RandCropByPosNegLabeld": 2,
    "RandCropByLabelClasses": 0,
    "RandCropByLabelClassesd": 2,
    "RandWeightedCrop": 0,
    "RandWeightedCropd": 2,
}
# Which of them is how many are cut; others cut one.
_NUMBERS = {
    "RandSpatialCropSamples": 1,
    "RandSpatialCropSamplesd": 2,
    "RandCropByPosNegLabel": 4,
    "RandCropByPosNegLabeld": 5,
    "RandCropByLabelClasses": 4,
    "RandCropByLabelClassesd": 5,
    "RandWeightedCrop": 1,
    "RandWeightedCropd": 3,
}
# What puts a part to another size behind the crop, in the same row of transforms.
_SIZES_AGAIN = {"Resize": 0, "Resized": 1, "ResizeWithPadOrCrop": 0, "ResizeWithPadOrCropd": 1}
_ROW = "Compose"
LEAST, MOST, MOST_PARTS = 16, 1024, 64
_VOLUME = 3


def crop_findings(source: Source, follower: Follower) -> tuple[Finding, ...]:
    """Return ``media.image_size``, ``media.frames`` (of parts of volumes) and ``media.parts`` of a program's crop with sides that are known.

    Of several that is the one whose parts are the most to compute at once, for programs cut for tests, too. One that is of any
    size (``random_size``) or is put to an unknown one says nothing. ``follower`` follows what a call leaves to a name.
    """
    code = source.code
    if code is None or not source.mentions(LIBRARY):
        return ()
    known: list[tuple[int, tuple[Finding, ...]]] = []
    for call in code.calls_named(*_CUTS):
        sides = _sides(source, _sized_again(code, call) or call, follower)
        if not sides or code.resolve(call.keyword("random_size")) == "True":
            continue
        where, why = Evidence(source.path, call.line), f"`{call.last}` cuts it out of a scan"
        found = [Finding("media.image_size", f"{sides[0]}x{sides[1]}", why, Confidence.HIGH, where)]
        if len(sides) == _VOLUME:
            found.append(Finding("media.frames", str(sides[2]), why, Confidence.HIGH, where))
        parts = _parts(source, call, follower)
        if parts > 1:
            why = f"`{call.last}` cuts {parts} parts out of each scan"
            found.append(Finding(PARTS, str(parts), why, Confidence.HIGH, where))
        known.append((math.prod(sides) * parts, tuple(found)))
    return max(known, key=lambda each: each[0])[1] if known else ()


def _parts(source: Source, call: Call, follower: Follower) -> int:
    """Return into how many samples a call makes one."""
    place = _NUMBERS.get(call.last)
    if place is None:
        return 1
    given = call.keyword("num_samples")
    if given is None and len(call.arguments) > place:
        given = call.arguments[place]
    parts = as_number(_text(source, call, given, follower)) or 1
    return int(parts) if 1 < parts <= MOST_PARTS else 1


def _sized_again(code: PythonCode, crop: Call) -> Call | None:
    """Return what puts the parts to another size before the row of transforms ends; None where nothing does."""
    end = min((row.line for row in code.calls_named(_ROW) if row.line > crop.line), default=math.inf)
    return next((call for call in code.calls_named(*_SIZES_AGAIN) if crop.line < call.line < end), None)


def _sides(source: Source, call: Call, follower: Follower) -> tuple[int, ...]:
    """Return two or three sides; empty where one is not known, or is the scan's own (``-1``)."""
    place = {**_CUTS, **_SIZES_AGAIN}[call.last]
    given = call.keyword("spatial_size", "roi_size")
    if given is None and len(call.arguments) > place:
        given = call.arguments[place]
    parts = _text(source, call, given, follower).strip("()[] ").split(",")
    sides = tuple(
        number for part in parts if (number := as_number(part.strip())) is not None and LEAST <= number <= MOST
    )
    return sides if len(sides) == len(parts) and len(sides) in {2, _VOLUME} else ()


def _text(source: Source, call: Call, given: Value | None, follower: Follower) -> str:
    """Return what a value stands for; nothing where one of a row is not known."""
    if given is None or source.code is None:
        return ""
    texts: list[str | None] = []
    for each in given.items or (given,):
        told = follower.value(source, each, call.owner)
        texts.append(told[0] if told is not None else source.code.resolve(each))
    return ",".join(text for text in texts if text is not None) if None not in texts else ""
