"""The environment spec: what `.gpu-lol.yaml` says, as frozen values (product.md section 2)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field

from gpu_lol_action.domain.records import record


class WorkloadType(enum.Enum):
    """What the code is for; decides whether a GPU is needed at all."""

    TRAINING = "training"
    INFERENCE = "inference"
    INTERACTIVE = "interactive"
    CPU_ONLY = "cpu-only"


@record(frozen=True, slots=True)
class Hardware:
    """Machine to rent. ``vram_required_gb`` is per GPU, in the size that cards are sold with; ``gpu_count`` 0 means no GPU.

    ``needed_gib`` is what programs must be able to allocate of each, where it was computed: it chooses among cards of that
    size, is written into no file, and two machines that differ in it alone are the same.
    """

    gpu_type: str | None = None
    gpu_count: int = 1
    vram_required_gb: int | None = None
    num_nodes: int = 1
    use_spot: bool = False
    disk_gb: int | None = None
    cpus: int | None = None
    memory_gb: int | None = None
    alternatives: tuple[str, ...] = ()
    needed_gib: int | None = field(default=None, compare=False)


@record(frozen=True, slots=True)
class Software:
    """The ``environment`` section: image and versions."""

    base_image: str | None = None
    python_version: str | None = None
    cuda_version: str | None = None


@record(frozen=True, slots=True)
class Dependencies:
    """What is installed on top of the image, in this order: system packages, requirements, set-up commands."""

    requirements: tuple[str, ...] = ()
    system_packages: tuple[str, ...] = ()
    setup_commands: tuple[str, ...] = ()
    asset_links: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Meta:
    """Name, purpose and origin of the spec. ``created_at`` never counts as a change."""

    name: str = ""
    workload_type: WorkloadType = WorkloadType.INTERACTIVE
    created_from: str = "auto"
    created_at: str | None = None


@record(frozen=True, slots=True)
class Smoke:
    """The command that proves the environment (none: chosen from the code), its time box, and the matrix it runs on.

    ``gpus`` are cards as ``L4`` or ``A100-80GB:2``; without any, the spec's. Likewise ``images``.
    """

    command: str = ""
    timeout_minutes: int = 15
    gpus: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class EnvironmentSpec:
    """A whole `.gpu-lol.yaml`. ``profiles`` maps a profile's name to the spec with that profile applied."""

    hardware: Hardware = Hardware()
    environment: Software = Software()
    dependencies: Dependencies = Dependencies()
    meta: Meta = Meta()
    env: Mapping[str, str] = field(default_factory=dict)
    profiles: Mapping[str, EnvironmentSpec] = field(default_factory=dict)
    smoke: Smoke | None = None
    keep: tuple[str, ...] = ()
    measured: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs_gpu(self) -> bool:
        """Whether any accelerator is to be rented."""
        return self.hardware.gpu_count > 0 and self.meta.workload_type is not WorkloadType.CPU_ONLY


@record(frozen=True, slots=True)
class SpecDifference:
    """One key on which the repository's file and the analysis disagree; the file wins, the comment says so."""

    key: str
    in_file: str
    in_code: str
    why: str
