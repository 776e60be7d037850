"""The library of OpenMMLab's that a folder of nothing but its configurations is written for: what lies beside them links to its weights.

Such a configuration says whose modules it means by no import: all of these libraries inherit it by ``_base_`` and are started alike.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_OWN = regex(r"^_base_[ \t]*=|^model[ \t]*=[ \t]*dict\(\s*type[ \t]*=", re.MULTILINE)
"""How such a configuration begins: from another one, or with the network by the name of its class."""
# By the folder of the published weights, and by the project's name.
_PACKAGES = {
    "mmgen": "mmgen", "mmgeneration": "mmgen", "mmdetection": "mmdet", "mmdetection3d": "mmdet3d", "mmsegmentation": "mmsegmentation",
    "mmpose": "mmpose", "mmaction": "mmaction2", "mmaction2": "mmaction2", "mmocr": "mmocr", "mmediting": "mmedit", "mmagic": "mmagic",
    "mmrotate": "mmrotate", "mmtracking": "mmtrack", "mmyolo": "mmyolo", "mmclassification": "mmcls", "mmpretrain": "mmpretrain",
    "mmflow": "mmflow", "mmrazor": "mmrazor", "mmselfsup": "mmselfsup", "mmfewshot": "mmfewshot", "mmhuman3d": "mmhuman3d",
}  # fmt: skip
_LINK = regex(r"(?:download\.openmmlab\.com/{1,2}|github\.com/open-mmlab/)(mm[a-z0-9]{3,20})/")


# Those that import another of them, which their own lists leave to their users. Source: their installation guides.
_BUILT_ON = {
    **dict.fromkeys(("mmrotate", "mmtrack", "mmyolo", "mmocr", "mmfewshot"), ("mmdet",)),
    "mmdet3d": ("mmdet", "mmsegmentation"),
}
# Whose last releases are of before MMCV 2: its operators were in a build of another name.
_OF_BEFORE = frozenset({"mmgen", "mmedit", "mmtrack", "mmcls", "mmflow", "mmselfsup", "mmfewshot", "mmhuman3d"})


def openmmlab_packages(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return the library behind the run's configuration with MMCV, which it leaves to its user.

    Nothing where a program of the checkout reads the configuration, or where nothing beside it links to one.
    """
    if run is None or run.script is not None or not any(_OWN.search(config.text) for config in run.configs):
        return []
    folder = run.configs[0].folder
    for page in checkout.of(Form.MARKDOWN, Form.YAML, roles=tuple(Role)):
        said = _LINK.search(page.text) if page.folder == folder else None
        if said is not None and said[1] in _PACKAGES:
            where = Evidence(page.path, page.text.count("\n", 0, said.start()) + 1)
            library = _PACKAGES[said[1]]
            why = f"`{run.configs[0].name}` configures it and no list names it"
            beside = "mmcv-full" if library in _OF_BEFORE else "mmcv"
            needed = (beside, *_BUILT_ON.get(library, ()))
            return [
                Finding("dependencies.requirements", library, why, Confidence.MEDIUM, where),
                *(
                    Finding("dependencies.requirements", name, f"{library} needs it", Confidence.MEDIUM, where)
                    for name in needed
                ),
            ]
    return []
