"""What this machine claims about its GPUs, as ``torch.cuda`` tells it."""

from __future__ import annotations

from dataclasses import dataclass

from . import _facts

_MIB = 1024 * 1024
_current = [0]


@dataclass(frozen=True)
class _DeviceProperties:
    name: str
    total_memory: int
    major: int
    minor: int
    multi_processor_count: int


def is_available() -> bool:
    """Whether a GPU can be used."""
    return _facts.flag("is_cuda_available", True) and device_count() > 0


def device_count() -> int:
    """Return how many GPUs torch sees (may be made to differ from what nvidia-smi counts)."""
    return int(_facts.number("torch_gpu_count", _facts.number("gpu_count", 0)))


def current_device() -> int:
    """Return the GPU that is set."""
    return _current[0]


def set_device(index: int) -> None:
    """Set the GPU."""
    _check(index)
    _current[0] = index


def _check(index: object) -> int:
    chosen = current_device() if index is None else getattr(index, "index", index)
    if not isinstance(chosen, int) or not 0 <= chosen < device_count():
        raise RuntimeError("CUDA error: invalid device ordinal")
    return chosen


def get_device_name(device: object = None) -> str:
    """Return the GPU's name."""
    _check(device)
    return _facts.text("torch_gpu_name", _facts.text("gpu_name", ""))


def get_device_capability(device: object = None) -> tuple[int, int]:
    """Return the compute capability."""
    _check(device)
    major, _, minor = _facts.text("compute_capability", "0.0").partition(".")
    return int(major), int(minor or 0)


def _total_bytes() -> int:
    return int(_facts.number("torch_memory_mib", _facts.number("memory_mib", 0))) * _MIB


def mem_get_info(device: object = None) -> tuple[int, int]:
    """Return free and total bytes."""
    _check(device)
    total = _total_bytes()
    return total - int(_facts.number("memory_used_mib", 0)) * _MIB, total


def get_device_properties(device: object = None) -> _DeviceProperties:
    """Return name, memory and capability."""
    major, minor = get_device_capability(device)
    return _DeviceProperties(get_device_name(device), _total_bytes(), major, minor, 1)


def get_arch_list() -> list[str]:
    """Return the architectures that the build serves: this GPU's own, unless told otherwise."""
    stated = _facts.text("torch_arch_list", "")
    major, minor = (int(part) for part in _facts.text("compute_capability", "0.0").split("."))
    return stated.split() if stated else [f"sm_{major}{minor}"]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 works: natively from Ampere on."""
    return including_emulation or get_device_capability()[0] >= 8


def synchronize(device: object = None) -> None:
    """Wait for nothing: the stand-in computes at once."""
    _check(device)


def empty_cache() -> None:
    """Free nothing: there is no cache."""


def max_memory_allocated(device: object = None) -> int:
    """Return 0: nothing is ever allocated on a GPU."""
    _check(device)
    return 0
