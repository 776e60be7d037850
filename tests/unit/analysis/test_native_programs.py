"""Programs in C and CUDA, which no Python speaks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
MAKE = "GPU=0\nNVCC=nvcc\n%.o: %.cu\n\t$(NVCC) -c $< -o $@\n"


@pytest.mark.parametrize(
    ("command", "workload"),
    [
        ("./net detector train cfg/voc.data cfg/net.cfg", WorkloadType.TRAINING),
        ("./train_gpt2cu -b 4", WorkloadType.TRAINING),
        ("./net detect cfg/net.cfg picture.jpg", WorkloadType.INFERENCE),
    ],
)
def test_a_makefile_that_compiles_cuda_asks_for_a_gpu(checkout: Build, command: str, workload: WorkloadType) -> None:
    tree = checkout({"Makefile": MAKE, "README.md": f"```\n{command}\n```\n", "scripts/table.py": "print(1)\n"})
    spec = analyze(tree).spec
    assert spec.meta.workload_type is workload
    assert spec.hardware.vram_required_gb


def test_other_makefiles_ask_for_none(checkout: Build) -> None:
    tree = checkout({"Makefile": "CC=gcc\n# nvcc is not used\nall:\n\t$(CC) main.c\n", "README.md": "./main train\n"})
    assert analyze(tree).spec.meta.workload_type is WorkloadType.CPU_ONLY
