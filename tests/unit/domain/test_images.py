from __future__ import annotations

import pytest

from gpu_lol_action.domain.images import is_image_allowed

DIGEST = "@sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("image", "pattern"),
    [
        ("runpod/pytorch:2.4", "runpod/*"),
        ("docker:runpod/pytorch:2.4", "docker.io/runpod/pytorch"),
        ("index.docker.io/runpod/pytorch", "runpod/*"),
        ("ubuntu", "docker.io/library/ubuntu"),
        ("ubuntu:22.04", "ubuntu:22.*"),
        ("ghcr.io/acme/team/img:1", "ghcr.io/acme/**"),
        (f"ghcr.io/acme/img:1{DIGEST}", "ghcr.io/acme/img"),
        (f"ghcr.io/acme/img:1{DIGEST}", f"ghcr.io/acme/img{DIGEST}"),
        ("localhost:5000/img", "localhost:5000/*"),
        ("nvcr.io/nvidia/pytorch:24.05-py3", "nvcr.io/nvidia/pytorch:24.*-py3"),
        ("anything/at/all", "**"),
    ],
)
def test_pattern_means_the_image(image: str, pattern: str) -> None:
    assert is_image_allowed(image, [pattern])
    assert is_image_allowed(image, ["none/such", pattern])


@pytest.mark.parametrize(
    ("image", "pattern"),
    [
        ("runpodx/pytorch", "runpod/*"),
        ("evil.io/runpod/pytorch", "runpod/*"),
        ("runpod/team/pytorch", "runpod/*"),
        ("ghcr.io/acme-evil/img", "ghcr.io/acme/**"),
        ("ghcr.io.evil.io/acme/img", "ghcr.io/acme/*"),
        ("ubuntu:24.04", "ubuntu:22.*"),
        (f"ubuntu:22.04{DIGEST}", "ubuntu:22.04"),
        (f"ubuntu{DIGEST}", "ubuntu@sha256:" + "b" * 64),
        ("someone/ubuntu", "ubuntu"),
        ("ghcrXio/acme/img", "ghcr.io/acme/*"),
    ],
)
def test_pattern_means_no_other_image(image: str, pattern: str) -> None:
    """Also not one of which the tag says what is wanted and the digest something else."""
    assert not is_image_allowed(image, [pattern])


def test_no_pattern_allows_nothing() -> None:
    assert not is_image_allowed("ubuntu", [])
