"""Detectors by configuration (OpenMMLab's and detectron2's) or built by name: the counted network that type and backbone mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.runs.settings import Scope, as_number, look_up
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.media import KERAS
from gpu_lol_action.estimation.media_facts import networks

# A detector's type in OpenMMLab's configurations, and the family of counted networks that its stages cost.
_TYPES = (
    (regex(r"^(?:FasterRCNN|CascadeRCNN|SparseRCNN|LibraRCNN|GridRCNN|DynamicRCNN|DoubleHeadRCNN)$"), "fasterrcnn"),
    (regex(r"^(?:MaskRCNN|HybridTaskCascade|PointRend|SCNet|QueryInst|MaskScoringRCNN)$"), "maskrcnn"),
    (regex(r"^(?:RetinaNet|FCOS|ATSS|GFL|PAA|FSAF|FreeAnchor|RepPointsDetector|TOOD|VFNet|AutoAssign|YOLOF)$"), "retinanet"),
    (regex(r"^(?:DeepLabV3(?:Plus)?|ASPPHead|DepthwiseSeparableASPPHead)$"), "deeplabv3"),
    (regex(r"^(?:FCNHead|UPerHead|PSPHead)$"), "fcn"),
)  # fmt: skip
_META = {
    "GeneralizedRCNN": "fasterrcnn",
    "RetinaNet": "retinanet",
    "PanopticFPN": "maskrcnn",
    "ProposalNetwork": "fasterrcnn",
}
# How programs name the function or class that builds one: `resnet50_retinanet`, `modellib.MaskRCNN`.
_BUILT = (
    ("maskrcnn", ("*MaskRCNN", "*mask_rcnn", "*maskrcnn")),
    ("fasterrcnn", ("*FasterRCNN", "*faster_rcnn", "*fasterrcnn", "*CascadeRCNN", "*cascade_rcnn")),
    ("retinanet", ("*RetinaNet", "*retinanet", "*FCOS", "*fcos")),
)
_BACKBONE = ("backbone", "backbone_name", "base_net", "basenet", "net", "network", "arch", "encoder")
_KERAS = frozenset({"keras", "tensorflow", "tf_keras"})
_SCALES = ("img_scale", "scale", "crop_size")
LEAST, MOST = 64, 4096


def detector_findings(scope: Scope) -> list[Finding]:
    """Return the counted network of a configured detector or segmenter, and the largest picture that its pipeline makes."""
    for confidence, settings in scope.tiers[1:3]:
        named = _detectron(settings) or _mmlab(settings)
        if named is not None:
            network, where = named
            found = [Finding("media.network", network, f"the configuration builds {network}", confidence, where)]
            size = _largest(settings, confidence)
            return [*found, *([size] if size is not None else [])]
    return []


def built_detector(scope: Scope, sources: Sequence[Source]) -> list[Finding]:
    """Return the counted network of the detector that a program builds by its name, where it builds one kind or is called after it.

    Its backbone is the one that the run's settings name; a detector whose backbone is no ResNet costs about what one of 50 does.
    """
    found: dict[str, tuple[Source, Call]] = {}
    for source in sources:
        for family, names in _BUILT:
            call = next(iter(source.code.calls_named(*names)), None) if source.code is not None else None
            if call is not None:
                found.setdefault(family, (source, call))
    if len(found) > 1:  # one kind is built on another: the program's own name says which
        program = regex(r"[^a-z]").sub("", sources[0].path.lower())
        found = {family: where for family, where in found.items() if family in program}
    if len(found) != 1:
        return []
    family, (source, call) = next(iter(found.items()))
    backbone = look_up(scope, _BACKBONE)
    depth = regex(r"resne(?:x?t)[-_]?v?\d*?[-_]?(18|34|50|101|152)").search(backbone.text.lower()) if backbone else None
    network = _of_depth(family, int(depth[1]) if depth else 50)
    if network is None:
        return []
    confidence = Confidence.HIGH if source is sources[0] else Confidence.MEDIUM
    where = Evidence(source.path, call.line)
    built = [Finding("media.network", network, f"`{call.name[:60]}` builds {network}", confidence, where)]
    if any(other.code is not None and other.code.imported() & _KERAS for other in (source, sources[0])):
        why = "Keras trains the whole of a detector's backbone"
        built.append(Finding("media.runtime", KERAS, why, Confidence.MEDIUM, where))
    return built


def _mmlab(settings: Sequence[Setting]) -> tuple[str, Evidence] | None:
    types = [setting for setting in settings if setting.key == "type"]
    for pattern, family in _TYPES:
        found = next((setting for setting in types if pattern.match(setting.text)), None)
        if found is not None and (network := _with_backbone(family, settings)) is not None:
            return network, found.evidence
    return None


def _detectron(settings: Sequence[Setting]) -> tuple[str, Evidence] | None:
    meta = next((setting for setting in settings if setting.key == "meta_architecture"), None)
    family = _META.get(meta.text) if meta is not None else None
    if meta is None or family is None:
        return None
    masks = any(setting.key == "mask_on" and setting.text.lower() == "true" for setting in settings)
    network = _with_backbone("maskrcnn" if masks else family, settings)
    return (network, meta.evidence) if network is not None else None


def _with_backbone(family: str, settings: Iterable[Setting]) -> str | None:
    """Return the counted network of that family whose ResNet is nearest to the configured depth."""
    depth = next(
        (number for s in settings if s.key == "depth" and (number := as_number(s.text)) in {18, 34, 50, 101, 152}), 50
    )
    return _of_depth(family, depth or 50)


def _of_depth(family: str, depth: int) -> str | None:
    wide = "101" if depth > 50 else "50"
    names = (f"{family}_resnet{wide}_fpn", f"{family}_resnet{wide}")
    return next((name for name in names if name in networks()), None)


def _largest(settings: Iterable[Setting], confidence: Confidence) -> Finding | None:
    """Return the picture that a pipeline enlarges to: a pair of sides, or detectron2's longest and shortest."""
    known = list(settings)
    longest = next((s for s in known if s.key == "max_size_train" and as_number(s.text)), None)
    shortest = next((s for s in known if s.key == "min_size_train"), None)
    if longest is not None:
        sides = [
            side
            for part in regex(r"\d+").findall(shortest.text if shortest is not None else "800")
            if LEAST <= (side := int(part)) <= MOST
        ]
        pair = (max(sides, default=800), as_number(longest.text) or 1333)
        return _sized(pair, longest, confidence)
    for setting in known:
        pair_of = regex(r"\D?(\d{2,4}),\s*(\d{2,4})\D?").fullmatch(setting.text) if setting.key in _SCALES else None
        if pair_of is not None:
            return _sized(
                (min(int(pair_of[1]), int(pair_of[2])), max(int(pair_of[1]), int(pair_of[2]))), setting, confidence
            )
    return None


def _sized(pair: tuple[int, int], setting: Setting, confidence: Confidence) -> Finding | None:
    if not all(LEAST <= side <= MOST for side in pair):
        return None
    why = f"`{setting.key}` is {setting.text[:40]}"
    return Finding("media.image_size", f"{pair[0]}x{pair[1]}", why, confidence, setting.evidence)
