"""Links to builds for another Python, and names of builds for one CUDA."""

from __future__ import annotations

import pytest

from gpu_lol_action.estimation.wheel_links import fitting_link, names_by_link, of_any_cuda

PUBLISHED = frozenset({"flash-attn", "torch-scatter", "dgl", "spconv"})
FLASH = "https://host/v2.5.7/flash_attn-2.5.7+cu122torch2.1cxx11abiFALSE-cp39-cp39-linux_x86_64.whl"


@pytest.mark.parametrize(
    ("requirement", "python", "instead"),
    [
        (FLASH, "3.10", "flash-attn==2.5.7"),
        (f"flash-attn @ {FLASH}#sha256=00", "3.11", "flash-attn==2.5.7"),
        (FLASH.replace("+", "%2B"), "3.10", "flash-attn==2.5.7"),
        ("https://host/torch_scatter-2.0.6-cp36-cp36m-linux_x86_64.whl", "3.8", "torch-scatter==2.0.6"),
        ("https://host/torch_scatter-2.0.6-1-cp36-cp36m-manylinux1_x86_64.whl", "3.8", "torch-scatter==2.0.6"),
    ],
)
def test_a_build_for_another_python_gives_way_to_its_version(requirement: str, python: str, instead: str) -> None:
    found = fitting_link(requirement, python, PUBLISHED)
    assert found is not None
    assert found.nearest == instead


@pytest.mark.parametrize(
    ("requirement", "python"),
    [
        (FLASH, "3.9"),
        ("https://host/flash_attn-2.5.7-py3-none-any.whl", "3.11"),
        ("https://host/flash_attn-2.5.7-cp38-abi3-manylinux2014_x86_64.whl", "3.11"),
        ("https://host/own_build-1.0-cp38-cp38-linux_x86_64.whl", "3.11"),
        ("https://host/flash_attn-2.5.dev1-cp38-cp38-linux_x86_64.whl", "3.11"),
        ("https://host/flash_attn-2.5.7.tar.gz", "3.11"),
        ("flash-attn==2.5.7", "3.11"),
    ],
    ids=["fits", "any Python", "stable interface", "on no index", "a day's build", "source", "no link"],
)
def test_other_links_stay_as_they_are(requirement: str, python: str) -> None:
    assert fitting_link(requirement, python, PUBLISHED) is None


def test_what_is_linked_for_another_python_may_have_to_be_built() -> None:
    assert names_by_link([FLASH, "torch"], "3.10") == {"flash-attn"}
    assert names_by_link([FLASH, "torch"], "3.9") == frozenset()


@pytest.mark.parametrize(
    ("requirement", "python", "instead"),
    [
        ("dgl-cu110", "3.11", "dgl"), ("dgl-cu110==0.6.1", "3.11", "dgl"), ("dgl_cu90", "3.9", None), ("dgl-cu110", "3.8", None),
        ("dgl-cu113", "3.11", None), ("own-cu110", "3.11", None), ("dgl", "3.11", None), ("spconv-cu102", "3.12", None),
    ],
)  # fmt: skip
def test_a_name_for_an_ended_cuda_gives_way_to_the_package_itself(
    requirement: str, python: str, instead: str | None
) -> None:
    found = of_any_cuda(requirement, python, PUBLISHED)
    assert (found.nearest if found is not None else None) == instead
