"""Watches what a command uses: memory and work of each GPU, main memory, disk. Runs on the machine beside the command.

Arguments: where the answer goes (JSON, rewritten whole as it grows), the folder whose disk is watched, the process to watch.
NVML where its library answers, else nvidia-smi, else the rest alone. A sample is taken every two seconds, or as much
more seldom as keeps this process under half a percent of one core.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
import time
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

INTERVAL_S = 2.0
SHARE = 0.005
FIELDS = "index,name,memory.used,memory.total,utilization.gpu"
UNKNOWN = "[N/A]"
MIB = 1 << 20
# Where the driver's library lies when the loader does not know: in WSL, and in Google's and other clouds' containers.
LIBRARIES = (
    "libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib/libnvidia-ml.so.1",
)
Row = Tuple[str, str, str, str, str]
Facts = Dict[str, Any]


class NvmlMemory(ctypes.Structure):
    """nvmlMemory_t of nvml.h: bytes."""


class NvmlUtilization(ctypes.Structure):
    """nvmlUtilization_t: percent of the last interval in which a kernel ran, and in which memory was used."""


class NvmlAccounting(ctypes.Structure):
    """nvmlAccountingStats_t: what the driver itself counts of a process, where somebody has switched that on."""


NvmlMemory._fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]
NvmlUtilization._fields_ = [(name, ctypes.c_uint) for name in ("gpu", "memory")]
NvmlAccounting._fields_ = [
    *((name, ctypes.c_uint) for name in ("gpu_percent", "memory_percent")),
    *((name, ctypes.c_ulonglong) for name in ("most_bytes", "time_ms", "start_us")),
    ("is_running", ctypes.c_uint),
    ("reserved", ctypes.c_uint * 5),
]


class Nvml:
    """The driver's own library; raises OSError or AttributeError where it does not start."""

    def __init__(self, load: Callable[[str], Any] = ctypes.CDLL) -> None:
        self.library = first_of(load)
        count = ctypes.c_uint()
        if self.library.nvmlInit_v2() != 0 or self.library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
            raise OSError("the driver does not answer")
        self.devices = [self._device(index) for index in range(min(count.value, 64))]
        self.before = [self._processes(device) for device, _ in self.devices]

    def read(self) -> List[Row]:
        """Return what each card says; one that does not answer (lost, or a part of another) has no figures."""
        return [(str(index), name, *self._row(device)) for index, (device, name) in enumerate(self.devices)]

    def counted(self) -> Dict[str, float]:
        """Return the most that one process held on each card, in MiB, of those that came since: the driver's own count."""
        found = {}
        for index, (device, _) in enumerate(self.devices):
            held = [self._most(device, process) for process in self._processes(device) - self.before[index]]
            if held:
                found[str(index)] = max(held) / MIB
        return found

    def _device(self, index: int) -> Tuple[Any, str]:
        device, name = ctypes.c_void_p(), ctypes.create_string_buffer(96)
        if self.library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) != 0:
            return None, ""
        self.library.nvmlDeviceGetName(device, name, 96)
        return device, name.value.decode("utf-8", "replace")

    def _row(self, device: Any) -> Tuple[str, str, str]:
        if device is None:
            return UNKNOWN, UNKNOWN, UNKNOWN
        memory, work = NvmlMemory(), NvmlUtilization()
        used = total = busy = UNKNOWN
        # Not supported where the card has no memory of its own (GB10), not permitted for a part of a card (MIG).
        if self.library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == 0:
            used, total = str(memory.used // MIB), str(memory.total // MIB)
        if self.library.nvmlDeviceGetUtilizationRates(device, ctypes.byref(work)) == 0:
            busy = str(work.gpu)
        return used, total, busy

    def _processes(self, device: Any) -> Set[int]:
        is_on, count = ctypes.c_uint(), ctypes.c_uint(4096)
        ids = (ctypes.c_uint * 4096)()
        try:
            if device is None or self.library.nvmlDeviceGetAccountingMode(device, ctypes.byref(is_on)) != 0:
                return set()
            if not is_on.value or self.library.nvmlDeviceGetAccountingPids(device, ctypes.byref(count), ids) != 0:
                return set()
        except AttributeError:  # a library that knows no accounting
            return set()
        return set(ids[: min(count.value, 4096)])

    def _most(self, device: Any, process: int) -> int:
        said = NvmlAccounting()
        is_told = self.library.nvmlDeviceGetAccountingStats(device, process, ctypes.byref(said)) == 0
        return int(said.most_bytes) if is_told and said.most_bytes < 1 << 50 else 0  # all ones: not known


def first_of(load: Callable[[str], Any]) -> Any:
    """Return the driver's library from the first place that has it."""
    for place in LIBRARIES:
        try:
            return load(place)
        except OSError:
            continue
    raise OSError("the driver has no library here")


def smi_rows() -> List[Row]:
    """Ask nvidia-smi; raises OSError or SubprocessError where it does not answer."""
    command = ["nvidia-smi", "--query-gpu=" + FIELDS, "--format=csv,noheader,nounits"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20, check=False)
    rows = rows_of(done.stdout.decode("utf-8", "replace"))
    # Some warnings end it with a status of their own, behind an answer that is whole (14: a damaged infoROM).
    if done.returncode != 0 and not rows:
        raise subprocess.CalledProcessError(done.returncode, command)
    return rows


def rows_of(text: str) -> List[Row]:
    """Return the rows of an answer; warnings, blank lines, headers and what is cut off are none."""
    rows: List[Row] = []
    for line in text.lstrip("\ufeff").splitlines():
        # At comma and space, as it prints them: a comma within a figure is none.
        cells = [cell.strip() for cell in line.split(", ")]
        if len(cells) == 5 and cells[0].isdigit():
            rows.append((cells[0], cells[1], cells[2], cells[3], cells[4]))
    return rows[:64]


def number(text: str) -> Optional[float]:
    """Return a figure, with its unit or without; None for whatever else is said (`[N/A]`, `[Unknown Error]`, ...)."""
    found = re.match(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(?: ?(?:MiB|%))?$", text.strip())
    return float(found.group(1)) if found else None


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
        gpu = facts["gpus"].setdefault(index, {"name": name, "total_mib": None, "work_sum": 0.0, "work_samples": 0})
        held, busy = number(used), number(work)
        if gpu["total_mib"] is None:
            gpu["total_mib"] = number(total)
        if held is not None:
            gpu["peak_mib"] = max(gpu.get("peak_mib", 0.0), held)
        if busy is not None:
            gpu["work_sum"] += busy
            gpu["work_samples"] += 1
            gpu["work_peak"] = max(gpu.get("work_peak", 0.0), busy)


def raise_peaks(facts: Facts, counted: Dict[str, float]) -> None:
    """Take in what the driver itself counted: a process held it, though perhaps between two samples."""
    for index, most in counted.items():
        gpu = facts["gpus"].get(index)
        if gpu is not None and most > 0:
            gpu["peak_mib"] = max(gpu.get("peak_mib", 0.0), most)


def pause_s(look_s: float, spent_s: float, ran_s: float) -> float:
    """Return how long to wait for the next look, of the processor's time that one took, all took, and what went by.

    A look that is cheap enough for every interval waits for the next; a dear one until all of them, and the start, and it
    once more are within the share.
    """
    if look_s <= SHARE * INTERVAL_S:
        return INTERVAL_S
    return max(INTERVAL_S, (spent_s + look_s) / SHARE - ran_s)


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


def spent_s() -> float:
    """Return the processor's time of this process and of what it started: a slow nvidia-smi must not slow down what is watched."""
    return sum(os.times()[:4])


def main() -> None:
    """Sample until the watched process is gone."""
    path, folder, watched = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.nice(10)
    began = time.monotonic()
    try:
        nvml: Optional[Nvml] = Nvml()
    except (OSError, AttributeError):
        nvml = None
    source, read = ("nvml", nvml.read) if nvml else ("nvidia-smi", smi_rows)
    facts: Facts = {"source": "none", "samples": 0, "gpus": {}, "failures": 0}
    while True:
        before = spent_s()
        rows: List[Row] = []
        if facts["failures"] < 5:
            try:
                rows = read()
            except (OSError, subprocess.SubprocessError):
                facts["failures"] += 1
        if rows:
            facts["source"] = source
        add(facts, rows, used_memory_bytes(), free_disk_bytes(folder))
        facts["seconds"] = round(time.monotonic() - began, 1)
        write(path, facts)
        ran = time.monotonic() - began
        until = time.monotonic() + pause_s(spent_s() - before, spent_s(), ran)
        while time.monotonic() < until:
            if not is_running(watched):
                if nvml is not None:
                    raise_peaks(facts, nvml.counted())
                    write(path, facts)
                return
            time.sleep(min(0.5, max(until - time.monotonic(), 0.0)))


if __name__ == "__main__":
    main()
