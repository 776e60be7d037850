"""Networks that libraries bring whole, as ``data/blueprints.txt`` writes them down: found by the library's name and the class."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.networks.programs import Program, program_of
from gpu_lol_action.analysis.networks.values import Class, Named
from gpu_lol_action.analysis.python.code import read_python
from gpu_lol_action.domain.tables import table_text

# The first words of a class's dotted name, its last word, and the blueprint.
_KNOWN: Mapping[tuple[str, str], str] = {
    ("diffusers", "UNet2DModel"): "UNet2DModel",
    ("denoising_diffusion_pytorch", "Unet"): "Unet",
    ("monai", "UNet"): "MonaiUNet",
    ("segmentation_models_pytorch", "Unet"): "SegmentationUnet",
    ("segmentation_models_pytorch", "UnetPlusPlus"): "SegmentationUnet",
    ("segmentation_models_pytorch", "FPN"): "SegmentationUnet",
    ("segmentation_models_pytorch", "Linknet"): "SegmentationUnet",
    ("segmentation_models_pytorch", "MAnet"): "SegmentationUnet",
}


def blueprint_of(name: Named) -> Class | None:
    """Return the class of a library that is written down; None for any other."""
    known = _KNOWN.get((name.name.split(".")[0], name.last))
    program = _blueprints() if known is not None else None
    return Class(program.classes[known], program) if program is not None and known is not None else None


@functools.cache
def _blueprints() -> Program | None:
    text = table_text("blueprints.txt")
    return program_of(Source("blueprints", Form.PYTHON, Role.WORKLOAD, text, read_python(text)))
