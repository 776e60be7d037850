"""Watches what a command uses: memory and work of each GPU, main memory, disk. Runs on the machine beside the command.

Arguments: where the answer goes (JSON, rewritten whole as it grows), the folder whose disk is watched, the process to watch.
NVML where its library answers, else nvidia-smi, else the rest alone. A sample is taken every two seconds, or as much
more seldom as keeps this process under one percent of one core.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

INTERVAL_S = 2.0
SHARE = 0.01
FIELDS = "index,name,memory.used,memory.total,utilization.gpu"
Row = Tuple[str, str, str, str, str]
Facts = Dict[str, Any]


class NvmlMemory(ctypes.Structure):
    """nvmlMemory_t of nvml.h: bytes."""


class NvmlUtilization(ctypes.Structure):
    """nvmlUtilization_t of nvml.h: percent of the last interval in which a kernel ran, and in which memory was used."""


NvmlMemory._fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]
NvmlUtilization._fields_ = [(name, ctypes.c_uint) for name in ("gpu", "memory")]


def nvml_reader() -> Optional[Callable[[], List[Row]]]:
    """Return a reader through the driver's own library; None where there is none, or it does not start."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        if library.nvmlInit_v2() != 0:
            return None
        count = ctypes.c_uint()
        if library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
            return None
        devices = []
        for index in range(min(count.value, 64)):
            device, name = ctypes.c_void_p(), ctypes.create_string_buffer(96)
            if library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) != 0:
                return None
            library.nvmlDeviceGetName(device, name, 96)
            devices.append((device, name.value.decode("utf-8", "replace")))
    except (OSError, AttributeError):
        return None

    def read() -> List[Row]:
        rows: List[Row] = []
        for index, (device, name) in enumerate(devices):
            memory, used = NvmlMemory(), NvmlUtilization()
            if library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) != 0:
                continue
            is_told = library.nvmlDeviceGetUtilizationRates(device, ctypes.byref(used)) == 0
            mib = 1 << 20
            work = str(used.gpu) if is_told else "[N/A]"
            rows.append((str(index), name, str(memory.used // mib), str(memory.total // mib), work))
        return rows

    return read


def smi_reader() -> Optional[Callable[[], List[Row]]]:
    """Return a reader through nvidia-smi; None where it does not answer."""

    def read() -> List[Row]:
        command = ["nvidia-smi", "--query-gpu=" + FIELDS, "--format=csv,noheader,nounits"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20, check=True)
        lines = done.stdout.decode("utf-8", "replace").splitlines()[:64]
        cells = [[cell.strip() for cell in line.split(",")] for line in lines]
        return [(row[0], row[1], row[2], row[3], row[4]) for row in cells if len(row) == 5]

    try:
        read()
    except (OSError, subprocess.SubprocessError):
        return None
    return read


def number(text: str) -> Optional[float]:
    """Return a figure; None for what is not told (`[N/A]`, `[Not Supported]`, `[Unknown Error]`)."""
    try:
        return float(text.split(maxsplit=1)[0])
    except (ValueError, IndexError):
        return None


def used_memory_bytes() -> Optional[int]:
    """Return what the container holds where that is told (cgroup v2, then v1, without the file cache), else the machine."""
    for used, stat, key in (
        ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "inactive_file"),
        ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"),
    ):
        try:
            with open(used) as file:
                whole = int(file.read())
            with open(stat) as file:
                cached = next((int(line.split()[1]) for line in file if line.startswith(key + " ")), 0)
        except (OSError, ValueError, IndexError):
            continue
        return max(whole - cached, 0)
    try:
        with open("/proc/meminfo") as file:
            facts = {line.split(":")[0]: int(line.split()[1]) for line in file if len(line.split()) > 1}
    except (OSError, ValueError):
        return None
    if "MemTotal" not in facts or "MemAvailable" not in facts:
        return None
    return (facts["MemTotal"] - facts["MemAvailable"]) * 1024


def free_disk_bytes(folder: str) -> Optional[int]:
    """Return what programs may still write there."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


def add(facts: Facts, rows: List[Row], memory: Optional[int], disk: Optional[int]) -> None:
    """Take one sample into what is known so far."""
    facts["samples"] += 1
    if memory is not None:
        facts["memory_peak_bytes"] = max(facts.get("memory_peak_bytes", 0), memory)
    if disk is not None:
        facts["disk_free_least_bytes"] = min(facts.get("disk_free_least_bytes", disk), disk)
    for index, name, used, total, work in rows:
        gpu = facts["gpus"].setdefault(
            index, {"name": name, "total_mib": number(total), "work_sum": 0.0, "work_samples": 0}
        )
        held, busy = number(used), number(work)
        if held is not None:
            gpu["peak_mib"] = max(gpu.get("peak_mib", 0.0), held)
        if busy is not None:
            gpu["work_sum"] += busy
            gpu["work_samples"] += 1
            gpu["work_peak"] = max(gpu.get("work_peak", 0.0), busy)


def is_running(process: int) -> bool:
    """Whether a process is there and has not ended: one that its parent has not asked about yet is over too."""
    try:
        with open("/proc/%d/stat" % process) as file:
            return file.read().rsplit(")", 1)[-1].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def write(path: str, facts: Facts) -> None:
    """Write the answer whole: whoever reads it never sees half of one."""
    with open(path + ".new", "w") as file:
        json.dump(facts, file)
    os.replace(path + ".new", path)


def main() -> None:
    """Sample until the watched process is gone."""
    path, folder, watched = sys.argv[1], sys.argv[2], int(sys.argv[3])
    nvml = nvml_reader()
    read = nvml or smi_reader()
    facts: Facts = {"source": "nvml" if nvml else "nvidia-smi" if read else "none", "samples": 0, "gpus": {}}
    began = time.monotonic()
    failures = 0
    while True:
        # Time of this process and of what it starts: a slow nvidia-smi must not slow down what is watched.
        before = sum(os.times()[:4])
        rows: List[Row] = []
        if read is not None and failures < 5:
            try:
                rows = read()
            except (OSError, subprocess.SubprocessError):
                failures += 1
        add(facts, rows, used_memory_bytes(), free_disk_bytes(folder))
        facts["seconds"] = round(time.monotonic() - began, 1)
        facts["failures"] = failures
        write(path, facts)
        cost = sum(os.times()[:4]) - before
        until = time.monotonic() + max(INTERVAL_S, cost / SHARE)
        while time.monotonic() < until:
            if not is_running(watched):
                return
            time.sleep(min(0.5, max(until - time.monotonic(), 0.0)))


if __name__ == "__main__":
    main()
