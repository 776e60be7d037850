"""PyTorch's releases: images, CUDA builds, Pythons, and the cards that a build runs on.

Sources: PyTorch's RELEASE.md (compatibility matrix: Python and CUDA per release), its "previous versions" page, tags of
pytorch/pytorch as public Dockerfiles use them, and PyTorch issues 157517, 172352 and 190385 (architectures per wheel).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

Version = tuple[int, ...]


@record(frozen=True, slots=True)
class TorchRelease:
    """One release: CUDA of its images, cuDNN in their tags, Python in them; CUDA of its wheels; least and newest Python."""

    name: str
    image_cudas: tuple[str, ...]
    cudnn: int
    image_python: str
    wheel_cudas: tuple[str, ...]
    pythons: tuple[str, str]

    @property
    def version(self) -> Version:
        """The release as numbers."""
        return parse_version(self.name)


# release | CUDA of images | cuDNN | Python in images | CUDA of wheels | Pythons
_TABLE = """
1.6.0  | 10.1           | 7 | 3.7  | 9.2 10.1 10.2       | 3.6 3.8
1.7.0  | 11.0           | 8 | 3.8  | 9.2 10.1 10.2 11.0  | 3.6 3.8
1.7.1  | 11.0           | 8 | 3.8  | 9.2 10.1 10.2 11.0  | 3.6 3.9
1.8.0  | 11.1           | 8 | 3.8  | 10.2 11.1           | 3.6 3.9
1.8.1  | 11.1           | 8 | 3.8  | 10.2 11.1           | 3.6 3.9
1.9.0  | 11.1           | 8 | 3.7  | 10.2 11.1           | 3.6 3.9
1.9.1  | 11.1           | 8 | 3.7  | 10.2 11.1           | 3.6 3.9
1.10.0 | 11.3           | 8 | 3.7  | 10.2 11.1 11.3      | 3.6 3.9
1.11.0 | 11.3           | 8 | 3.8  | 10.2 11.3 11.5      | 3.7 3.10
1.12.0 | 11.3           | 8 | 3.7  | 10.2 11.3 11.6      | 3.7 3.10
1.12.1 | 11.3           | 8 | 3.7  | 10.2 11.3 11.6      | 3.7 3.10
1.13.0 | 11.6           | 8 | 3.10 | 11.6 11.7           | 3.7 3.11
1.13.1 | 11.6           | 8 | 3.10 | 11.6 11.7           | 3.7 3.11
2.0.0  | 11.7           | 8 | 3.10 | 11.7 11.8           | 3.8 3.11
2.0.1  | 11.7           | 8 | 3.10 | 11.7 11.8           | 3.8 3.11
2.1.0  | 11.8 12.1      | 8 | 3.10 | 11.8 12.1           | 3.8 3.11
2.1.1  | 11.8 12.1      | 8 | 3.10 | 11.8 12.1           | 3.8 3.11
2.1.2  | 11.8 12.1      | 8 | 3.10 | 11.8 12.1           | 3.8 3.11
2.2.0  | 11.8 12.1      | 8 | 3.10 | 11.8 12.1           | 3.8 3.12
2.2.1  | 11.8 12.1      | 8 | 3.10 | 11.8 12.1           | 3.8 3.12
2.2.2  | 11.8 12.1      | 8 | 3.10 | 11.8 12.1           | 3.8 3.12
2.3.0  | 11.8 12.1      | 8 | 3.10 | 11.8 12.1           | 3.8 3.12
2.3.1  | 11.8 12.1      | 8 | 3.10 | 11.8 12.1           | 3.8 3.12
2.4.0  | 11.8 12.1 12.4 | 9 | 3.11 | 11.8 12.1 12.4      | 3.8 3.12
2.4.1  | 11.8 12.1 12.4 | 9 | 3.11 | 11.8 12.1 12.4      | 3.8 3.12
2.5.0  | 11.8 12.1 12.4 | 9 | 3.11 | 11.8 12.1 12.4      | 3.9 3.12
2.5.1  | 11.8 12.1 12.4 | 9 | 3.11 | 11.8 12.1 12.4      | 3.9 3.12
2.6.0  | 11.8 12.4 12.6 | 9 | 3.11 | 11.8 12.4 12.6      | 3.9 3.13
2.7.0  | 11.8 12.6 12.8 | 9 | 3.11 | 11.8 12.6 12.8      | 3.9 3.13
2.7.1  | 11.8 12.6 12.8 | 9 | 3.11 | 11.8 12.6 12.8      | 3.9 3.13
2.8.0  | 12.6 12.8 12.9 | 9 | 3.11 | 12.6 12.8 12.9      | 3.9 3.13
2.9.0  | 12.6 12.8 13.0 | 9 | 3.12 | 12.6 12.8 13.0      | 3.10 3.14
2.9.1  | 12.6 12.8 13.0 | 9 | 3.12 | 12.6 12.8 13.0      | 3.10 3.14
2.10.0 | 12.6 12.8 13.0 | 9 | 3.12 | 12.6 12.8 13.0      | 3.10 3.14
2.11.0 | 12.6 12.8 13.0 | 9 | 3.12 | 12.6 12.8 13.0      | 3.10 3.14
2.12.0 | 12.6 13.0 13.2 | 9 | 3.12 | 12.6 13.0 13.2      | 3.10 3.14
2.13.0 | 12.6 13.0 13.2 | 9 | 3.12 | 12.6 13.0 13.2      | 3.10 3.14
"""

DEFAULT_TORCH = "2.6.0"
"""The newest whose lowest CUDA 12 is 12.4; packages of today still support it."""
FIRST_BLACKWELL_TORCH: Version = (2, 7)
FIRST_BLACKWELL_CUDA: Version = (12, 8)
FIRST_HOPPER_CUDA: Version = (11, 8)
FIRST_AMPERE_CUDA: Version = (11, 0)
# NVIDIA, CUDA compatibility guide, minor-version compatibility: the oldest Linux driver that runs any CUDA of a major.
LEAST_DRIVERS: Mapping[int, str] = MappingProxyType({10: "440.33", 11: "450.80", 12: "525.60", 13: "580.65"})


@functools.lru_cache(maxsize=1)
def torch_releases() -> Mapping[str, TorchRelease]:
    """Return the releases by name, oldest first."""
    found: dict[str, TorchRelease] = {}
    for line in _TABLE.strip().split("\n"):
        name, images, cudnn, python, wheels, pythons = (part.strip() for part in line.split("|"))
        least, most = pythons.split()
        found[name] = TorchRelease(
            name, tuple(images.split()), int(cudnn), python, tuple(wheels.split()), (least, most)
        )
    return MappingProxyType(found)


def parse_version(text: str) -> Version:
    """Return the leading numbers of a version: ``2.9.1+cu128`` gives (2, 9, 1)."""
    found = regex(r"\s*v?(\d{1,9}(?:\.\d{1,9})*)").match(text)
    return tuple(int(part) for part in found[1].split(".")[:3]) if found else ()


def least_capability(torch: Version | None, cuda: Version) -> Version:
    """Return the oldest compute capability that a CUDA build of PyTorch runs on."""
    if cuda >= (13, 0):
        return (7, 5)
    if cuda >= (12, 8):
        keeps_volta = torch is None or (2, 8) <= torch[:2] <= (2, 10)
        return (7, 0) if keeps_volta else (7, 5)
    return (5, 0) if cuda >= (11, 8) else (3, 7)


def first_cuda(capability: tuple[int, int]) -> Version:
    """Return the first CUDA whose builds hold code for a card of that capability (code of one major runs on its minors)."""
    if capability[0] >= 10:
        return FIRST_BLACKWELL_CUDA
    if capability[0] == 9:
        return FIRST_HOPPER_CUDA
    return FIRST_AMPERE_CUDA if capability[0] == 8 else (9, 2)


def least_driver(cuda: str) -> str:
    """Return the oldest Linux driver that runs that CUDA; empty where it is not known."""
    version = parse_version(cuda)
    return LEAST_DRIVERS.get(version[0], "") if version else ""
