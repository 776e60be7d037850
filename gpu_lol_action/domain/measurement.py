"""What a command used while it ran, as the machine measured it."""

from __future__ import annotations

from datetime import timedelta

from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class GpuUse:
    """One card: memory in GiB as the driver counts it (context and caches included), and how busy it was in percent."""

    name: str
    total_gib: float | None
    peak_gib: float | None
    work_percent: float | None
    work_peak_percent: float | None


@record(frozen=True, slots=True)
class Measurement:
    """``source``: ``nvml``, ``nvidia-smi`` or ``none``. Peaks are of samples: what was shorter may be missing."""

    source: str
    samples: int
    took: timedelta
    gpus: tuple[GpuUse, ...] = ()
    memory_peak_gib: float | None = None
    disk_free_least_gib: float | None = None

    @property
    def peak_gib(self) -> float | None:
        """The most that any card held; None where no card was measured."""
        return max((gpu.peak_gib for gpu in self.gpus if gpu.peak_gib is not None), default=None)
