"""What a run was measured to use, in sentences: beside what was estimated, and beside what the repository's file asks."""

from __future__ import annotations

from gpu_lol_action.domain.measured import MeasuredRun
from gpu_lol_action.domain.measured_json import card_name
from gpu_lol_action.domain.measurement import GpuUse, Measurement
from gpu_lol_action.estimation.calibration import SpecAdvice, difference_percent
from gpu_lol_action.render import formats

_SHOWN_CARDS = 8


def usage_line(measured: Measurement | None) -> str:
    """Return what a command used at most; nothing where nobody looked."""
    if measured is None:
        return ""
    cards = [gpu for gpu in measured.gpus if gpu.peak_gib is not None][:_SHOWN_CARDS]
    parts = [f"GPU memory {_card(gpu)}" for gpu in cards] or ["no GPU was measured"]
    if measured.memory_peak_gib is not None:
        parts.append(f"main memory {formats.gib(measured.memory_peak_gib)}")
    return f"At most: {'; '.join(parts)}."


def comparison_line(run: MeasuredRun) -> str:
    """Return ``Estimated 21.3 GiB, measured 19.8 GiB (-7 %).``; what a run cannot say is said with it."""
    if run.expected_gib is None:
        return ""
    percent = difference_percent(run.expected_gib, run.peak_gib)
    sign = "+" if percent >= 0 else "\u2212"
    said = f"Estimated {formats.gib(run.expected_gib)}, measured {formats.gib(run.peak_gib)} ({sign}{abs(percent)} %)"
    if run.is_card_full:
        return f"{said}: at least so much, for the card was full."
    return f"{said}: at least so much, for it ended early." if run.is_at_least else f"{said}."


def advice_line(advice: SpecAdvice | None) -> str:
    """Return which value the repository's file should have; nothing where it is right. Nobody changes it but people."""
    if advice is None:
        return ""
    is_less = advice.asked_gb < advice.most_gib
    than = f"{'less' if is_less else 'far more'} than the {formats.gib(advice.most_gib)} that were measured"
    value = f"`hardware.vram_required_gb: {advice.value_gb}` {'is what it needs' if is_less else 'would do'}"
    return f"`.gpu-lol.yaml` asks for {advice.asked_gb} GB, {than}; {value}."


def _card(gpu: GpuUse) -> str:
    of = f" of {formats.gib(gpu.total_gib)}" if gpu.total_gib is not None else ""
    name = f" ({card_name(gpu.name)})" if card_name(gpu.name) else ""
    busy = f", busy {gpu.work_percent:.0f} % of the time" if gpu.work_percent is not None else ""
    return f"{formats.gib(gpu.peak_gib or 0.0)}{of}{name}{busy}"
