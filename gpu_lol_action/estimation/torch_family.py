"""Which PyTorch the releases of its own libraries are built for: torchvision, torchaudio, torchtext and torchdata.

Each wheel pins its PyTorch, so two of a family that do not go together cannot be installed together. Source: the ``Requires-Dist``
of every release (2026-11-29), and of torchvision 0.11.0 and 0.15.0 the releases that took their place within a week.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from gpu_lol_action.estimation.torch_releases import parse_version

# torch | torchvision | torchaudio | torchtext | torchdata; of several the last is the one to take. Empty where none is bound to
# that PyTorch alone: torchtext before 0.8.1 and 0.18.0, and torchdata since 0.7.1, ask for none, torchaudio since 2.11 for a least one.
_TABLE = """
1.2.0  | 0.4.0         |              |        |
1.3.0  | 0.4.1         |              |        |
1.3.1  | 0.4.2         |              |        |
1.4.0  | 0.5.0         | 0.4.0        |        |
1.5.0  | 0.6.0         | 0.5.0        |        |
1.5.1  | 0.6.1         | 0.5.1        |        |
1.6.0  | 0.7.0         | 0.6.0        |        |
1.7.0  | 0.8.0 0.8.1   | 0.7.0        |        |
1.7.1  | 0.8.2         | 0.7.2        | 0.8.1  |
1.8.0  | 0.9.0         | 0.8.0        | 0.9.0  |
1.8.1  | 0.9.1         | 0.8.1        | 0.9.1  |
1.9.0  | 0.10.0        | 0.9.0        | 0.10.0 |
1.9.1  | 0.10.1        | 0.9.1        | 0.10.1 |
1.10.0 | 0.11.0 0.11.1 | 0.10.0       | 0.11.0 |
1.10.1 | 0.11.2        | 0.10.1       | 0.11.1 |
1.10.2 | 0.11.3        | 0.10.2       | 0.11.2 |
1.11.0 | 0.12.0        | 0.11.0       | 0.12.0 | 0.3.0
1.12.0 | 0.13.0        | 0.12.0       | 0.13.0 | 0.4.0
1.12.1 | 0.13.1        | 0.12.1       | 0.13.1 | 0.4.1
1.13.0 | 0.14.0        | 0.13.0       | 0.14.0 | 0.5.0
1.13.1 | 0.14.1        | 0.13.1       | 0.14.1 | 0.5.1
2.0.0  | 0.15.0 0.15.1 | 2.0.0 2.0.1  | 0.15.1 | 0.6.0
2.0.1  | 0.15.2        | 2.0.2        | 0.15.2 | 0.6.1
2.1.0  | 0.16.0        | 2.1.0        | 0.16.0 | 0.7.0
2.1.1  | 0.16.1        | 2.1.1        | 0.16.1 |
2.1.2  | 0.16.2        | 2.1.2        | 0.16.2 |
2.2.0  | 0.17.0        | 2.2.0        | 0.17.0 |
2.2.1  | 0.17.1        | 2.2.1        | 0.17.1 |
2.2.2  | 0.17.2        | 2.2.2        | 0.17.2 |
2.3.0  | 0.18.0        | 2.3.0        |        |
2.3.1  | 0.18.1        | 2.3.1        |        |
2.4.0  | 0.19.0        | 2.4.0        |        |
2.4.1  | 0.19.1        | 2.4.1        |        |
2.5.0  | 0.20.0        | 2.5.0        |        |
2.5.1  | 0.20.1        | 2.5.1        |        |
2.6.0  | 0.21.0        | 2.6.0        |        |
2.7.0  | 0.22.0        | 2.7.0        |        |
2.7.1  | 0.22.1        | 2.7.1        |        |
2.8.0  | 0.23.0        | 2.8.0        |        |
2.9.0  | 0.24.0        | 2.9.0        |        |
2.9.1  | 0.24.1        | 2.9.1        |        |
2.10.0 | 0.25.0        | 2.10.0       |        |
2.11.0 | 0.26.0        |              |        |
2.12.0 | 0.27.0        |              |        |
2.12.1 | 0.27.1        |              |        |
2.13.0 | 0.28.0        |              |        |
2.14.0 | 0.29.0        |              |        |
2.14.1 | 0.29.1 0.29.2 |              |        |
"""
FAMILY = ("torchvision", "torchaudio", "torchtext", "torchdata")


@functools.lru_cache(maxsize=1)
def _rows() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the releases of each of the family by PyTorch, oldest first."""
    rows: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for line in _TABLE.strip().split("\n"):
        torch, *built = (part.strip() for part in line.split("|"))
        rows[torch] = MappingProxyType(
            {name: tuple(releases.split()) for name, releases in zip(FAMILY, built, strict=True)}
        )
    return MappingProxyType(rows)


def torch_of(name: str, version: str) -> str:
    """Return the PyTorch that a release is built for; empty for one that asks for none, or that nobody knows."""
    return _of_release().get((name, three_numbers(version)), "")


@functools.lru_cache(maxsize=1)
def _of_release() -> Mapping[tuple[str, str], str]:
    return MappingProxyType(
        {
            (name, release): torch
            for torch, row in _rows().items()
            for name, releases in row.items()
            for release in releases
        }
    )


def built_for(name: str, torch: str) -> str:
    """Return the release of one of the family for a PyTorch (``2.6.0``); empty where none is bound to it."""
    releases = _rows().get(three_numbers(torch), {}).get(name, ())
    return releases[-1] if releases else ""


def three_numbers(version: str) -> str:
    """Return a release as the table writes it: ``1.10`` and ``1.10.0+cu113`` are 1.10.0; empty for what is no version."""
    numbers = parse_version(version)
    return ".".join(map(str, (*numbers, 0, 0)[:3])) if numbers else ""
