"""An architecture of servers that a list of requirements asks for."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.formats.required_architectures import required_card
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.domain.finding import Confidence
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    ("line", "is_required"),
    [
        ("- Hopper (SM90) GPUs", True),
        ("* SM90 / SM100", True),
        ("1. NVIDIA Hopper or Blackwell data center GPU", True),
        ("- **GPU**: NVIDIA Hopper", True),
        ("- GPUs with compute capability >= 9.0", True),
        ("- Ampere, Ada, or Hopper GPUs", False),
        ("- Hopper or Ada GPUs", False),
        ("- SM90 or SM120", False),
        ("- Hopper recommended", False),
        ("- Hopper GPUs for FP8, else any CUDA GPU", False),
        ("- CUDA 12.3 and above for SM90 GPUs", False),
        ("Hopper is faster", False),
    ],
)
def test_items_of_requirements(line: str, is_required: bool) -> None:
    assert (required_card(line, "Requirements") is not None) is is_required
    assert required_card(line, "News") is None


def test_a_document_that_requires_it(checkout: Build) -> None:
    tree = checkout({"README.md": "# Kernels\n## Requirements\n- SM90 GPUs\n- PyTorch 2\n"})
    cards = [(f.field, f.value, f.confidence) for f in documented.detect(tree, None) if f.field.endswith("card")]
    assert cards == [("documented.card", "H100", Confidence.HIGH)]
