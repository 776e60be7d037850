"""Numbers of cards and processes as commands write them."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.domain.patterns import regex

USUAL_NODE = 8
_COUNTED_ON = ("NUM_GPUS", "num_gpus", "NGPUS", "N_GPUS", "NUM_DEVICES")
COUNTED_ON = ("NPROC_PER_NODE", "NUM_GPUS", "NGPU", "NGPUS", "GPUS_PER_NODE", "GPU_NUM", "N_GPU", "NUM_GPU",
              "GPU_NUMS", "GPU_COUNT", "NUM_GPUS_PER_NODE", "DEVICES_PER_NODE")  # fmt: skip
"""Variables of a script that count the cards of a machine, whether or not its launcher is told: they often divide the batch of all."""


def visible_devices(text: str | None) -> int | None:
    """Return how many GPUs ``CUDA_VISIBLE_DEVICES`` leaves."""
    return len(text.split(",")) if text and regex(r"\d+(?:,\s?\d+)*").fullmatch(text.strip()) else None


def as_count(text: str | None) -> int | None:
    """Return a number of processes or machines; None for words (``auto``, ``$N``) and what no machine has."""
    found = regex(r"(\d{1,3})(?::\d+)?").fullmatch((text or "").strip())
    return int(found[1]) if found and 0 < int(found[1]) <= 512 else None


def of_all_machines(variables: Mapping[str, str]) -> int | None:
    """Return the GPUs of one machine where a script counts those of all: DeepSpeed takes its machines from a list of hosts, of eight each as a rule."""
    count = next((as_count(variables[name]) for name in _COUNTED_ON if name in variables), None)
    return count if count is None or count <= USUAL_NODE else USUAL_NODE if count % USUAL_NODE == 0 else None
