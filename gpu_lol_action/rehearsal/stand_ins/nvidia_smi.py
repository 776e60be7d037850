#!/usr/bin/python3
"""nvidia-smi for a machine without a GPU: a stand-in that answers from /etc/gpu-lol-stand-in.json, its lies included.

Handles what tools ask: no arguments (the table), -L, -q (short), --query-gpu=... with --format=csv[,noheader][,nounits],
-i/--id, --version. Anything else ends with an error, as an answer made up would be worse than none.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

FACTS = os.environ.get("GPU_LOL_STAND_IN_FILE", "/etc/gpu-lol-stand-in.json")


def load() -> dict[str, object]:
    """Return the facts that this machine claims."""
    with open(FACTS, encoding="utf-8") as file:
        facts = json.load(file)
    return dict(facts)


def number(facts: dict[str, object], key: str) -> int:
    """Return a whole number of the facts, 0 when it is not there."""
    value = facts.get(key, 0)
    return int(value) if isinstance(value, (int, float, str)) else 0


def fields(facts: dict[str, object]) -> dict[str, tuple[Callable[[int], str], str]]:
    """Return, for each field of --query-gpu, how a GPU answers and the unit (empty: none)."""
    total = number(facts, "memory_mib")
    used = number(facts, "memory_used_mib")
    text = {
        key: str(facts.get(key, "[N/A]"))
        for key in ("gpu_name", "driver_version", "cuda_version", "compute_capability")
    }
    pod = str(facts.get("pod_id", "0"))
    uuid = lambda index: f"GPU-{pod}-{index}"  # noqa: E731 -- a table of small answers reads best with them inline
    return {
        "index": (str, ""),
        "count": (lambda _: str(number(facts, "gpu_count")), ""),
        "name": (lambda _: text["gpu_name"], ""),
        "gpu_name": (lambda _: text["gpu_name"], ""),
        "uuid": (uuid, ""),
        "gpu_uuid": (uuid, ""),
        "driver_version": (lambda _: text["driver_version"], ""),
        "compute_cap": (lambda _: text["compute_capability"], ""),
        "memory.total": (lambda _: str(total), "MiB"),
        "memory.used": (lambda _: str(used), "MiB"),
        "memory.free": (lambda _: str(total - used), "MiB"),
        "memory.reserved": (lambda _: "0", "MiB"),
        "utilization.gpu": (lambda _: str(number(facts, "utilization_percent")), "%"),
        "utilization.memory": (lambda _: "0", "%"),
        "temperature.gpu": (lambda _: "30", ""),
        "power.draw": (lambda _: "20.00", "W"),
        "power.limit": (lambda _: "300.00", "W"),
        "pci.bus_id": (lambda index: f"00000000:{index + 1:02X}:00.0", ""),
        "persistence_mode": (lambda _: "Enabled", ""),
        "mig.mode.current": (lambda _: "[N/A]", ""),
        "ecc.mode.current": (lambda _: "[N/A]", ""),
        "pstate": (lambda _: "P8", ""),
        "compute_mode": (lambda _: "Default", ""),
        "timestamp": (lambda _: "[N/A]", ""),
    }


def query(facts: dict[str, object], names: list[str], options: list[str], indices: list[int]) -> int:
    """Print the table that --query-gpu asks for; an unknown field is an error, as with the real program."""
    known = fields(facts)
    for name in names:
        if name not in known:
            print(f'Field "{name}" is not a valid field to query.\n')
            return 2
    if "csv" not in options:
        print('Missing or invalid "--format" option: "csv" is required with query switches.')
        return 6
    has_units = "nounits" not in options
    if "noheader" not in options:
        print(", ".join(f"{name} [{known[name][1]}]" if known[name][1] else name for name in names))
    for index in indices:
        cells = []
        for name in names:
            answer, unit = known[name]
            cells.append(f"{answer(index)} {unit}" if unit and has_units else answer(index))
        print(", ".join(cells))
    return 0


def table(facts: dict[str, object], indices: list[int]) -> None:
    """Print what the program shows without arguments, and that it is a stand-in."""
    print(
        f"| NVIDIA-SMI (stand-in, no GPU here)   Driver Version: {facts.get('driver_version')}   CUDA Version: {facts.get('cuda_version')} |"
    )
    for index in indices:
        print(
            f"| {index}  {facts.get('gpu_name')}   {number(facts, 'memory_used_mib')}MiB / {number(facts, 'memory_mib')}MiB |"
        )
    print("| Processes: no running processes found |")


def main(arguments: list[str]) -> int:
    """Answer as nvidia-smi would; returns the exit code."""
    facts = load()
    if number(facts, "gpu_count") == 0:
        print("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")
        return 9
    indices = list(range(number(facts, "gpu_count")))
    names: list[str] | None = None
    options: list[str] = []
    rest = list(arguments)
    mode = ""
    while rest:
        word = rest.pop(0)
        key, _, value = word.partition("=")
        if key in ("--query-gpu", "--format", "--id", "-i") and not value and rest:
            value = rest.pop(0)
        if key == "--query-gpu":
            names = [name.strip() for name in value.split(",")]
        elif key == "--format":
            options = [option.strip() for option in value.split(",")]
        elif key in ("--id", "-i"):
            indices = [index for index in indices if str(index) in value.split(",")]
        elif word in ("-L", "--list-gpus", "-q", "--query", "--version"):
            mode = word
        else:
            print(f"Invalid combination of input arguments (stand-in): {word}")
            return 2
    if names is not None:
        return query(facts, names, options, indices)
    if mode in ("-L", "--list-gpus"):
        for index in indices:
            print(f"GPU {index}: {facts.get('gpu_name')} (UUID: GPU-{facts.get('pod_id')}-{index})")
    else:
        table(facts, indices)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
