"""The driver, torch, a product in bf16 on each GPU, and all GPUs together."""

from __future__ import annotations

import functools
import importlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, List

from .tools import MARK, Facts, cut, guarded, kill, run, worker

# Known to every nvidia-smi since 2014; one that knows not all of them answers none of them.
FIELDS = ("index", "name", "uuid", "memory.total", "memory.used", "driver_version")
SIZE = 128


def gather(request: Facts) -> Facts:
    """Return what the driver says, what torch sees, and whether the GPUs compute right."""
    facts: Facts = {"driver": guarded(_driver)}
    if not request["gpu_count"]:
        return facts
    facts["torch"] = _answer(worker("worker-torch", [], request["torch_seconds"]))
    if request["gpu_count"] > 1:
        facts["all_reduce"] = guarded(lambda: _all_reduce(request["gpu_count"], request["all_reduce_seconds"]))
    return facts


def _driver() -> Facts:
    if shutil.which("nvidia-smi") is None:
        return {"is_missing": True}
    code, banner, complaint = run(["nvidia-smi"], 30)
    facts: Facts = {
        "exit_code": code,
        "is_stand_in": "stand-in" in banner,
        "complaint": cut((complaint + banner).strip(), 400),
    }
    # Since driver 610 the words are KMD Version and CUDA UMD Version; where either is not known, N/A or ERR!.
    for name, words in (("version", "(?:Driver|KMD) Version"), ("cuda", "CUDA (?:UMD )?Version")):
        found = re.search(words + r": *([0-9]+(?:\.[0-9]+)+)", banner)
        if found:
            facts[name] = found.group(1)
    facts["gpus"] = _cards(list(FIELDS))
    return facts


def _cards(names: List[str]) -> List[Facts]:
    """Return what is told of each card; a field that this nvidia-smi does not know is left out, not the whole answer."""
    while names:
        _, table, complaint = run(["nvidia-smi", "--query-gpu=" + ",".join(names), "--format=csv,noheader,nounits"], 30)
        refused = re.match(r'Field "([\w.]+)" is not a valid field', (table + complaint).strip())
        if not refused or refused.group(1) not in names:
            # At comma and space, as it prints them. Warnings, blank lines and headers are no rows.
            lines = [line.strip().split(", ") for line in table.lstrip("\ufeff").splitlines()]
            rows = [[cell.strip() for cell in row] for row in lines if len(row) == len(names) and row[0].isdigit()]
            return [dict(zip(names, row)) for row in rows[:64]]
        names.remove(refused.group(1))
    return []


def _answer(result: Any) -> Facts:
    """Return the JSON that a worker printed last; what libraries print around it does not matter."""
    code, out, err = result
    for line in reversed(out.splitlines()):
        if line.startswith(MARK):
            return dict(json.loads(line[len(MARK) :]))
    said = (
        "its time was up" if code == 124 else "it ended with exit code %d: %s" % (code, cut((err or out).strip(), 600))
    )
    return {"error": said}


def _print(facts: Facts) -> None:
    sys.stdout.write("\n" + MARK + json.dumps(facts) + "\n")
    sys.stdout.flush()


def torch_worker(arguments: List[str]) -> None:
    """Print what torch sees; printed early once more, so that a crash in a kernel still leaves the versions."""
    try:
        torch = importlib.import_module("torch")
    except Exception as error:  # noqa: BLE001 - a broken torch fails in many ways
        _print({"import_error": cut("%s: %s" % (type(error).__name__, error), 600)})
        return
    cuda = torch.cuda
    facts: Facts = {
        "version": str(torch.__version__),
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
        "is_stand_in": bool(getattr(torch, "__stand_in__", False)),
        "is_available": bool(cuda.is_available()),
        "devices": [],
    }
    if not facts["is_available"]:
        try:
            torch.tensor([1.0], device="cuda")
        except Exception as error:  # noqa: BLE001 - torch says here why not
            facts["why_not"] = cut(str(error), 400)
        _print(facts)
        return
    facts["arch_list"] = [str(arch) for arch in cuda.get_arch_list()]
    _print(facts)
    for index in range(min(int(cuda.device_count()), 64)):
        facts["devices"].append(guarded(functools.partial(_device, torch, index)))
        _print(facts)


def _device(torch: Any, index: int) -> Facts:
    free, total = torch.cuda.mem_get_info(index)
    facts: Facts = {
        "name": str(torch.cuda.get_device_name(index)),
        "free_bytes": int(free),
        "total_bytes": int(total),
        "capability": list(torch.cuda.get_device_capability(index)),
    }
    facts["product"] = guarded(lambda: _product(torch, index))
    return facts


def _product(torch: Any, index: int) -> Facts:
    """Multiply two matrices of small whole numbers in bf16 and compare with whole-number arithmetic in plain Python.

    Factors in -2..2 are exact in bf16 and sums of 128 products stay far under 2^24, so that any right device (which sums
    in single precision) is off by no more than the last rounding: 2^-8 of the value.
    """
    left = [[(3 * row + 5 * column + row * column) % 5 - 2 for column in range(SIZE)] for row in range(SIZE)]
    right = [[(7 * row + 2 * column + row * column) % 5 - 2 for column in range(SIZE)] for row in range(SIZE)]
    columns = list(zip(*right))
    expected = [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in left]
    device = "cuda:%d" % index

    def on_device(rows: List[List[int]]) -> Any:
        return torch.tensor([[float(value) for value in row] for row in rows]).to(device).to(torch.bfloat16)

    began = time.monotonic()
    result = (on_device(left) @ on_device(right)).float().cpu().tolist()
    seconds = time.monotonic() - began
    worst, wrong = 0.0, 0
    for row, expected_row in zip(result, expected):
        for value, right_value in zip(row, expected_row):
            error = abs(value - right_value)
            if not error <= abs(right_value) / 256.0 + 1e-6:  # also true for NaN
                wrong += 1
            worst = max(worst, 1e30 if math.isnan(error) else error)
    return {"elements": SIZE * SIZE, "wrong": wrong, "worst": min(worst, 1e30), "seconds": round(seconds, 3)}


def _all_reduce(count: int, seconds: float) -> Facts:
    """Let one process per GPU add up its rank with NCCL; each must get the same right sum."""
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        environment = dict(os.environ, NCCL_DEBUG="WARN")
        for rank in range(count):
            command = [
                sys.executable,
                sys.argv[0],
                "worker-all-reduce",
                str(rank),
                str(count),
                os.path.join(folder, "meet"),
            ]
            out = open(os.path.join(folder, "out%d" % rank), "wb")  # noqa: SIM115 - the child writes on after this block
            processes.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    env=environment,
                    cwd="/",
                    start_new_session=True,
                )
            )
            out.close()
        deadline = time.monotonic() + seconds
        try:
            # One rank that fails leaves the others waiting for it: its answer is enough.
            while time.monotonic() < deadline and any(process.poll() is None for process in processes):
                if any(process.poll() for process in processes):
                    break
                time.sleep(0.1)
        finally:
            for process in processes:
                kill(process)
                process.wait()
        answers = []
        for rank, process in enumerate(processes):
            with open(os.path.join(folder, "out%d" % rank), "rb") as file:
                said = file.read()[-20000:].decode("utf-8", "replace")
            answers.append(_answer((124 if process.returncode == -9 else process.returncode, said, "")))
        return {"ranks": answers}


def all_reduce_worker(arguments: List[str]) -> None:
    """Be one rank."""
    rank, count, meet = int(arguments[0]), int(arguments[1]), arguments[2]
    torch = importlib.import_module("torch")
    distributed = importlib.import_module("torch.distributed")
    if not distributed.is_available() or not distributed.is_nccl_available():
        _print({"is_unavailable": True, "is_stand_in": bool(getattr(torch, "__stand_in__", False))})
        return
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", init_method="file://" + meet, rank=rank, world_size=count)
    values = torch.tensor([float(rank + 1)] * 4096).to("cuda:%d" % rank)
    distributed.all_reduce(values)
    torch.cuda.synchronize()
    got = values.cpu().tolist()
    _print({"sums": sorted(set(got))[:4], "is_stand_in": bool(getattr(torch, "__stand_in__", False))})
    distributed.destroy_process_group()
