"""The parts that MONAI's transforms cut out of a scan for training: they are what goes into the network, and one scan gives several.

Names and parameters as MONAI's documentation of its transforms gives them: ``spatial_size`` or ``roi_size`` are the sides of a
part, and ``num_samples`` is how many of them a sample of the data set becomes before they are put into a batch.
"""

from __future__ import annotations

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.python_code import Call, PythonCode
from gpu_lol_action.analysis.settings import as_number
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
_CUT_ONE = frozenset({"RandSpatialCrop", "RandSpatialCropd"})
LEAST, MOST, MOST_PARTS = 16, 1024, 64
_VOLUME = 3


@remembered
def crop_findings(source: Source) -> tuple[Finding, ...]:
    """Return ``media.image_size``, ``media.frames`` (of parts that are not cubes) and ``media.parts`` of a program's first crop with sides that are known."""
    code = source.code
    if code is None or not source.mentions(LIBRARY):
        return ()
    for call in code.calls_named(*_CUTS):
        sides = _sides(code, call)
        if not sides:
            continue
        where, why = Evidence(source.path, call.line), f"`{call.last}` cuts it out of a scan"
        found = [Finding("media.image_size", f"{sides[0]}x{sides[1]}", why, Confidence.HIGH, where)]
        if len(sides) == _VOLUME and sides[2] != sides[0]:
            found.append(Finding("media.frames", str(sides[2]), why, Confidence.HIGH, where))
        parts = as_number(code.resolve(call.keyword("num_samples")) or "") or 1
        if 1 < parts <= MOST_PARTS and call.last not in _CUT_ONE:
            why = f"`{call.last}` cuts {parts} parts out of each scan"
            found.append(Finding(PARTS, str(parts), why, Confidence.HIGH, where))
        return tuple(found)
    return ()


def _sides(code: PythonCode, call: Call) -> tuple[int, ...]:
    """Return two or three sides; empty where one is not known, or is the scan's own (``-1``)."""
    place = _CUTS[call.last]
    given = call.keyword("spatial_size", "roi_size")
    if given is None and len(call.arguments) > place:
        given = call.arguments[place]
    parts = (code.resolve(given) or "").strip("()[] ").split(",")
    sides = tuple(
        number for part in parts if (number := as_number(part.strip())) is not None and LEAST <= number <= MOST
    )
    return sides if len(sides) == len(parts) and len(sides) in {2, _VOLUME} else ()
