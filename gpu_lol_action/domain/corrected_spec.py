"""A spec with a person's corrections over it: what `set vram=48` means for the machine that is looked for."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.domain import gpus
from gpu_lol_action.domain.corrections import Corrections
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware, WorkloadType


def correct_spec(spec: EnvironmentSpec, corrections: Corrections) -> EnvironmentSpec:
    """Return the spec as corrected.

    Another size of memory makes any card that fits a candidate, unless a card is named too. A named card is taken as
    ordered: its own memory is what is asked for where the code would need more.
    """
    if corrections.is_empty:
        return spec
    hardware = _hardware(spec.hardware, corrections)
    environment = spec.environment
    if corrections.image is not None:
        environment = replace(environment, base_image=corrections.image)
    asks_for_gpu = corrections.gpu is not None or corrections.vram_gib is not None or bool(corrections.gpu_count)
    meta = spec.meta
    if asks_for_gpu and meta.workload_type is WorkloadType.CPU_ONLY and hardware.gpu_count:
        meta = replace(meta, workload_type=WorkloadType.INTERACTIVE)
    return replace(spec, hardware=hardware, environment=environment, meta=meta)


def _hardware(hardware: Hardware, corrections: Corrections) -> Hardware:
    if corrections.vram_gib is not None:
        hardware = replace(hardware, vram_required_gb=corrections.vram_gib, needed_gib=None)
        if corrections.gpu is None:
            hardware = replace(hardware, gpu_type=None, alternatives=())
    if corrections.gpu is not None:
        hardware = replace(hardware, gpu_type=corrections.gpu, alternatives=())
        card = gpus.parse_accelerator(corrections.gpu)
        needed = hardware.vram_required_gb
        if needed is not None and not isinstance(card, gpus.UnknownAccelerator):
            hardware = replace(
                hardware, vram_required_gb=min(needed, int(card.accelerator.marketed_gb)), needed_gib=None
            )
    if corrections.gpu_count is not None:
        return replace(hardware, gpu_count=corrections.gpu_count)
    asks_for_gpu = corrections.gpu is not None or corrections.vram_gib is not None
    return replace(hardware, gpu_count=max(hardware.gpu_count, 1)) if asks_for_gpu else hardware
