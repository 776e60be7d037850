"""Layers without weights that leave the numbers as they are, or a part of them: other sides, windows, what is dropped, ReLU."""

from __future__ import annotations

from gpu_lol_action.analysis.networks.arguments import number
from gpu_lol_action.analysis.networks.forms import dropped
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.patterns import patterned
from gpu_lol_action.analysis.networks.values import RESULT, Layer, Tensor
from gpu_lol_action.analysis.networks.windows import folded, unfolded

_RESULTS = ("ReLU", "Softmax", "LogSoftmax")
"""What keeps its result and not what goes in, by the first letters."""


def reformed(machine: Machine, layer: Layer, tensor: Tensor) -> Tensor:
    """Return what such a layer puts out, and note what is kept of it."""
    kept, numel, kind = machine.kept, tensor.numel or 0.0, layer.kind
    if kind in {"PixelShuffle", "PixelUnshuffle"} and tensor.shape and len(tensor.shape) == 4:
        factor = number(layer, 0, "upscale_factor", default=2.0) or 2.0
        factor = factor if kind == "PixelShuffle" else 1 / factor
        shape = (tensor.shape[0], tensor.shape[1] / factor**2, tensor.shape[2] * factor, tensor.shape[3] * factor)
        return kept.keep(Tensor(numel, shape))
    if kind == "Flatten":
        first = tensor.shape[0] if tensor.shape and tensor.shape[0] else 1.0
        return Tensor(numel, (first, numel / first))
    if kind in {"Rearrange", "Reduce"} and layer.places:
        return patterned(tensor, layer.places[0], layer.named)
    if kind in {"Unfold", "Fold"}:
        return kept.keep((unfolded if kind == "Unfold" else folded)(tensor, layer.places, layer.named))
    if kind.startswith(("Dropout", "AlphaDropout")):
        share = number(layer, 0, "p", "rate", default=0.5)
        return kept.keep(Tensor(numel, tensor.shape), dropped(tensor) if share else 0.0)
    made_by = RESULT if kind.startswith(_RESULTS) else ""
    return kept.keep(Tensor(numel, tensor.shape, made_by=made_by), 1.0 if "Pad" in kind else 0.0)
