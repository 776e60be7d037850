"""The stand-ins as programs of their own, as a machine runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_lol_action.rehearsal import stand_ins

FOLDER = Path(stand_ins.__file__).parent
FACTS = {
    "gpu_name": "NVIDIA A40",
    "gpu_count": 2,
    "memory_mib": 46068,
    "memory_used_mib": 68,
    "driver_version": "580.95.05",
    "cuda_version": "13.0",
    "compute_capability": "8.6",
    "torch_version": "2.8.0+cu128",
    "torch_cuda_version": "12.8",
    "pod_id": "p1",
}


@pytest.fixture
def ask(tmp_path):
    def ask(*command, **lies):
        facts = tmp_path / "facts.json"
        facts.write_text(json.dumps({**FACTS, **lies}))
        environment = {"PATH": os.defpath, "GPU_LOL_STAND_IN_FILE": str(facts), "PYTHONPATH": str(FOLDER)}
        return subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment, check=False)

    return ask


@pytest.fixture
def smi(ask):
    return lambda *arguments, **lies: ask(str(FOLDER / "nvidia_smi.py"), *arguments, **lies)


@pytest.fixture
def torch(ask):
    def torch(code, **lies):
        done = ask("-c", f"import torch\n{code}", **lies)
        return done.stdout.strip() or done.stderr.strip().splitlines()[-1]

    return torch


def test_smi_answers_queries_in_the_formats_of_the_real_one(smi):
    query = "--query-gpu=index,name,memory.total"
    assert smi(query, "--format=csv").stdout == (
        "index, name, memory.total [MiB]\n0, NVIDIA A40, 46068 MiB\n1, NVIDIA A40, 46068 MiB\n"
    )
    assert smi(query, "--format=csv,noheader,nounits").stdout == "0, NVIDIA A40, 46068\n1, NVIDIA A40, 46068\n"
    assert smi(query, "--format=csv,noheader", "-i", "1").stdout == "1, NVIDIA A40, 46068 MiB\n"


def test_smi_refuses_what_it_does_not_know(smi):
    assert smi("--query-gpu=nonsense", "--format=csv").returncode == 2
    assert smi("--query-gpu=name").returncode == 6
    assert smi("--reset").returncode == 2


def test_smi_says_that_it_is_a_stand_in(smi):
    assert "stand-in" in smi().stdout


def test_smi_without_gpus_fails_as_without_a_driver(smi):
    assert smi("-L", gpu_count=0).returncode == 9


def test_smi_tells_the_lies_of_the_file(smi):
    assert smi("--query-gpu=driver_version", "--format=csv,noheader", driver_version="470.1").stdout == "470.1\n" * 2


def test_torch_says_that_it_is_a_stand_in(torch):
    assert torch("print(torch.__stand_in__, torch.__version__, torch.version.cuda)") == "True 2.8.0+cu128 12.8"


def test_torch_describes_the_gpus(torch):
    code = "c = torch.cuda; print(c.is_available(), c.device_count(), c.get_device_name(1), c.mem_get_info(0), c.get_device_capability())"
    mib = 1024**2
    assert torch(code) == f"True 2 NVIDIA A40 ({46000 * mib}, {46068 * mib}) (8, 6)"


MATMUL = """
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.bfloat16, device="cuda:1")
print((a @ a).float().cpu().tolist())
"""


def test_torch_multiplies_rightly_unless_told_to_lie(torch):
    assert torch(MATMUL) == "[[7.0, 10.0], [15.0, 22.0]]"
    assert torch(MATMUL, matmul_error=1.0) == "[[8.0, 11.0], [16.0, 23.0]]"


def test_torch_rounds_as_bfloat16_does(torch):
    assert (
        torch("print(torch.tensor([1.00390625, 1.01171875, 257.0], dtype=torch.bfloat16).tolist())")
        == "[1.0, 1.015625, 256.0]"
    )


@pytest.mark.parametrize("lies", [{"is_cuda_available": False}, {"gpu_count": 0}])
def test_torch_without_cuda_cannot_put_a_tensor_there(torch, lies):
    assert torch("print(torch.cuda.is_available())", **lies) == "False"
    assert "no NVIDIA driver" in torch("torch.ones(2, 2, device='cuda')", **lies)


def test_torch_knows_no_gpu_beyond_the_last(torch):
    assert "invalid device ordinal" in torch("torch.ones(2, 2, device='cuda:2')")
