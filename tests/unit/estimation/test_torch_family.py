"""The table of what PyTorch's own libraries are built for says one thing of each release, forwards and backwards."""

from __future__ import annotations

import pytest

from gpu_lol_action.estimation.torch_family import FAMILY, built_for, three_numbers, torch_of
from gpu_lol_action.estimation.torch_releases import parse_version, torch_releases


@pytest.mark.parametrize("name", FAMILY)
def test_the_release_for_a_pytorch_is_built_for_it(name: str) -> None:
    built = {torch: built_for(name, torch) for torch in torch_releases()}
    assert any(built.values())
    assert all(torch_of(name, release) == torch for torch, release in built.items() if release)


@pytest.mark.parametrize("name", FAMILY)
def test_newer_releases_are_built_for_newer_pytorches(name: str) -> None:
    releases = [release for torch in torch_releases() if (release := built_for(name, torch))]
    assert releases == sorted(releases, key=parse_version)
    assert len(set(releases)) == len(releases)


@pytest.mark.parametrize(
    ("name", "version", "torch"),
    [
        ("torchvision", "0.11", "1.10.0"),
        ("torchvision", "0.15.2+cu118", "2.0.1"),
        ("torchaudio", "0.7.2", "1.7.1"),
        ("torchaudio", "2.0.1", "2.0.0"),
        ("torchtext", "0.18.0", ""),
        ("torchdata", "0.7.1", ""),
        ("torchaudio", "2.11.0", ""),
        ("torchvision", "", ""),
        ("torch", "2.6.0", ""),
    ],
)
def test_a_release_names_its_pytorch(name: str, version: str, torch: str) -> None:
    assert torch_of(name, version) == torch


def test_versions_are_read_as_the_table_writes_them() -> None:
    assert [three_numbers(text) for text in ("1.10", "2.6.0+cu124", "2", "main", "")] == [
        "1.10.0",
        "2.6.0",
        "2.0.0",
        "",
        "",
    ]
