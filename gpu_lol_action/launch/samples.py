"""Read what the sampler on a machine wrote: figures from a stranger's machine, held to what can be."""

from __future__ import annotations

import base64
import binascii
import json
import math
from datetime import timedelta
from typing import Any

from gpu_lol_action.domain.measurement import GpuUse, Measurement
from gpu_lol_action.launch.remote_scripts import read_remote

MAX_TEXT = 64 * 1024
_GIB = 1 << 30
_MIB_PER_GIB = 1024
_SOURCES = ("nvml", "nvidia-smi", "none")
_MAX_GPUS = 64
_MOST_GIB = 1 << 20


def sampler_program() -> str:
    """Return the sampler as one word for a script's value."""
    return base64.b64encode(read_remote("gpu_lol_sampler.py").encode()).decode("ascii")


def parse_samples(text: str) -> Measurement | None:
    """Return what was measured; None where nothing can be read from it."""
    if len(text) > MAX_TEXT:
        return None
    try:
        found = json.loads(base64.b64decode(text, validate=True)) if text else None
    except (binascii.Error, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("source") not in _SOURCES:
        return None
    samples, seconds = _number(found.get("samples")), _number(found.get("seconds"))
    if not samples or seconds is None:
        return None
    gpus = found.get("gpus")
    cards = sorted(gpus.items(), key=lambda each: str(each[0]).zfill(4)) if isinstance(gpus, dict) else []
    memory, disk = _number(found.get("memory_peak_bytes")), _number(found.get("disk_free_least_bytes"))
    return Measurement(
        source=found["source"],
        samples=int(samples),
        took=timedelta(seconds=min(seconds, 30 * 86400.0)),
        gpus=tuple(_gpu(each) for _, each in cards[:_MAX_GPUS] if isinstance(each, dict)),
        memory_peak_gib=memory / _GIB if memory is not None else None,
        disk_free_least_gib=disk / _GIB if disk is not None else None,
    )


def _gpu(read: dict[str, Any]) -> GpuUse:
    total, peak = _number(read.get("total_mib")), _number(read.get("peak_mib"))
    work, count = _number(read.get("work_sum")), _number(read.get("work_samples"))
    return GpuUse(
        name=str(read.get("name", ""))[:100],
        total_gib=_gib(total),
        peak_gib=_gib(peak),
        work_percent=min(work / count, 100.0) if work is not None and count else None,
        work_peak_percent=_number(read.get("work_peak")),
    )


def _gib(mib: float | None) -> float | None:
    return min(mib / _MIB_PER_GIB, float(_MOST_GIB)) if mib is not None else None


def _number(value: object) -> float | None:
    """Return a figure that can be one: neither a truth value, nor negative, nor endless."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    figure = float(value) if abs(value) < 1e18 else math.inf
    return figure if math.isfinite(figure) and figure >= 0 else None
