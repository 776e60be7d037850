"""Detectors of detectron2's model zoo: the name of their configuration says family and backbone (``mask_rcnn_R_101_FPN_3x.yaml``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.runs.settings import Scope
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.media_facts import networks

LIBRARY = "detectron2"
_CALLS = ("get_config_file", "get_config", "merge_from_file", "get_checkpoint_url")
_NAMED = regex(r"(?:^|/)(faster_rcnn|mask_rcnn|keypoint_rcnn|retinanet|panoptic_fpn)_[RX]_(50|101)_", re.IGNORECASE)
_FAMILIES = {"panopticfpn": "maskrcnn"}
_FILES = frozenset({"config_file", "config", "cfg"})
MOST_LETTERS = 200


def zoo_findings(scope: Scope, sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield the counted network of each configuration of the zoo that a command, or else a program of detectron2's, names."""
    if not any(source.mentions(LIBRARY) for source in sources):
        return
    for confidence, settings in scope.tiers[:1]:
        for setting in settings:
            network = _network(setting.text) if setting.key in _FILES else None
            if network is not None:
                why = f"`{setting.key}` names {network}"
                yield Finding("media.network", network, why, confidence, setting.evidence)
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], sources) if scope.tiers else None
    for source in sources:
        for call in source.code.calls_named(*_CALLS) if source.code is not None and source.mentions(LIBRARY) else ():
            given = call.arguments[0] if call.arguments else None
            told = follower.value(source, given, call.owner) if follower is not None and given is not None else None
            network = _network(told[0]) if told is not None else None
            if network is not None:
                where = Evidence(source.path, call.line)
                sure = Confidence.HIGH if source is sources[0] else Confidence.MEDIUM
                yield Finding("media.network", network, f"`{call.last}` is given {network}", sure, where)


def _network(text: str) -> str | None:
    found = _NAMED.search(text) if len(text) <= MOST_LETTERS else None
    if found is None:
        return None
    family = found[1].lower().replace("_", "")
    name = f"{_FAMILIES.get(family, family)}_resnet{found[2]}_fpn"
    return name if name in networks() else None
