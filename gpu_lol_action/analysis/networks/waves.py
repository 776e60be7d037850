"""What a network for sound is given: a segment of the wave, or the frames of its spectrogram, as the run's settings size them.

Vocoders and their discriminators (HiFi-GAN, Kong et al. 2020; MelGAN, Kumar et al. 2019) are trained on segments of some
thousand samples: the generator makes them of one frame per hop, discriminators judge the true segment and the made one.
"""

from __future__ import annotations

from gpu_lol_action.analysis.networks.arguments import number, number_at
from gpu_lol_action.analysis.networks.forms import numel_of
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.values import Layer, Tensor
from gpu_lol_action.domain.patterns import regex

_SEGMENT = ("segment_size", "segment_length", "segment_len", "seg_len", "audio_segment_size", "batch_max_steps")
_LENGTH = ("seq_len", "sequence_length")  # which may be a text's, where nothing has hops
_HOP = ("hop_size", "hop_length", "hop_len")
LEAST, MOST = 1024, 2**20
"""Samples of a segment; a shorter one is of something else (the segments of a text)."""
# The second thing that a judge is given, and what it is called beside the first.
_JUDGED = regex(r"^(?:fake|gen(?:erated)?|pred(?:icted)?|est|output)(?:$|_)|(?:_hat|_fake|_gen|_g|_pred|2)$")


def wave_input(machine: Machine, layer: Layer, name: str) -> Tensor | None:
    """Return what the first layer of a network for sound is given; None where no setting sizes a segment.

    A convolution over one channel reads the wave, along its folds where its kernel is one wide; one over many reads frames.
    """
    inner = number(layer, 0, "in_channels")
    if not inner or layer.kind not in {"Conv1d", "Conv2d"}:
        return None
    hop = _samples(machine, _HOP, 2)
    segment = _samples(machine, _SEGMENT if hop is None else (*_SEGMENT, *_LENGTH), LEAST)
    if segment is None:
        return None
    if layer.kind == "Conv2d":
        kernel = layer.named.get("kernel_size", layer.places[2] if len(layer.places) > 2 else None)
        is_folded = inner == 1 and isinstance(kernel, list) and 1.0 in (number_at(kernel, 0), number_at(kernel, 1))
        return _tensor(1.0, segment, name) if is_folded else None
    if inner == 1 or hop is None:
        return _tensor(inner, segment, name) if inner == 1 else None
    return _tensor(inner, max(1.0, segment // hop), name)


def is_judged(name: str, first: str) -> bool:
    """Whether a further parameter of ``forward`` is what the first one is compared with: as large as that."""
    return bool(_JUDGED.search(name)) or (name != first and name.startswith(f"{first}_"))


def _tensor(channels: float, length: float, name: str) -> Tensor:
    shape = (1.0, channels, length)
    return Tensor(numel_of(shape), shape, name=name)


def _samples(machine: Machine, names: tuple[str, ...], least: int) -> float | None:
    for name in names:
        value = machine.option(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= MOST:
            return float(value)
    return None
