"""How large the samples are that a network of one's own is given: pixels, pictures of a clip, samples of a sound, points of a cloud."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpu_lol_action.analysis.media.sizes import image_size
from gpu_lol_action.analysis.networks.inputs import InputSizes
from gpu_lol_action.analysis.runs.settings import Found, Scope, as_number, look_up, look_up_number
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.patterns import regex

_RATES = ("sampling_rate", "sample_rate", "samplerate", "sr", "fs", "audio_sample_rate", "target_sample_rate")
_SAMPLES = ("segment_size", "segment_length", "seg_len", "sample_size", "crop_length", "segment_samples", "max_wav_length", "audio_length",
            "train_segment_size", "chunk_size", "clip_samples", "num_samples", "batch_max_steps", "max_segment_size", "segment")  # fmt: skip
_SECONDS = ("segment", "segment_seconds", "segment_duration", "duration", "clip_length", "audio_seconds", "clip_duration", "max_duration", "max_seconds",
            "seconds")  # fmt: skip
_HOPS = ("hop_size", "hop_length", "hop", "n_hop", "frame_shift", "hop_samples")
_POINTS = (
    "num_points",
    "points_subsample",
    "num_sampled_points",
    "num_point",
    "npoints",
    "npoint",
    "n_points",
    "num_pts",
)
LEAST_RATE, MOST_RATE = 4_000, 200_000
LEAST, MOST, LONGEST_SECONDS = 1_000, 2**24, 600.0


def input_sizes(scope: Scope, found: Sequence[Finding], *, infers: bool = False) -> InputSizes:
    """Return what the run says of its samples; ``found`` are its findings on pictures and clips."""
    size = image_size(found) or (0, 0)
    frames = next((int(finding.value) for finding in found if finding.field == "media.frames"), 0)
    points = look_up_number(scope, _POINTS, 16, 2**20)
    samples, hop = _sound(scope)
    side = round(math.sqrt(size[0] * size[1]))  # of a square as large
    return InputSizes(side, frames, samples, hop, (as_number(points.text) or 0) if points is not None else 0, infers)


def _sound(scope: Scope) -> tuple[int, int]:
    """Return samples of what goes in and samples from window to window; 0 for what nothing says.

    Without a sampling rate it is no sound: pictures have segments and sizes too.
    """
    rate = look_up_number(scope, _RATES, LEAST_RATE, MOST_RATE)
    if rate is None:
        return 0, 0
    hop = look_up_number(scope, _HOPS, 16, 8_192)
    samples = look_up_number(scope, _SAMPLES, LEAST, MOST)
    return _whole(samples) or _from_seconds(scope, _whole(rate)), _whole(hop)


def _from_seconds(scope: Scope, rate: int) -> int:
    seconds = look_up(scope, _SECONDS)
    if seconds is None or not regex(r"\d{1,3}(?:\.\d{1,6})?").fullmatch(seconds.text.strip()):
        return 0
    length = float(seconds.text)
    return int(min(length * rate, MOST)) if 0 < length <= LONGEST_SECONDS else 0


def _whole(found: Found | None) -> int:
    return (as_number(found.text) or 0) if found is not None else 0
