"""Whether a card is the one that was rented, and whether a torch has code for it: what names and versions tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gpu_lol_action.domain.gpus import Accelerator, find_accelerator
from gpu_lol_action.launch.probe_facts import Version, items, mapping, whole


def is_rented_card(name: str, memory_mib: float | None, accelerator: str, rented: Accelerator | None) -> bool:
    """Whether a card is the rented one: the same in the table, or the same model with at least its memory.

    Clouds sell variants under one name (A100 on Vast is any A100; PCIe and SXM); a bigger one is no fault.
    """
    found = find_accelerator(name)
    if found is not None and rented is not None and found.name == rented.name:
        return True
    if _model(name) != _model(accelerator):
        return False
    return rented is None or memory_mib is None or memory_mib / 1024 >= 0.95 * rented.memory_gib


def _model(name: str) -> str:
    """Return the model without maker, memory and form: ``NVIDIA A100-SXM4-80GB`` and ``A100-80GB`` give ``A100``."""
    text = re.sub(
        r"NVIDIA|GEFORCE|TESLA|QUADRO|GENERATION|SERVER EDITION|WORKSTATION EDITION|BLACKWELL", " ", name.upper()
    )
    text = re.sub(r"\b\d+\s?GB\b|HBM\d\w*|SXM\d?|PCIE|NVL\b|-(?:SE|WK|S|WS|MAXQ)\b", " ", text)
    text = re.sub(r"[^A-Z0-9]", "", text)
    return re.sub(r"^RTXA(?=\d)", "A", text)


def capability_of(torch: Mapping[str, Any]) -> Version:
    """Return the compute capability of the first card that tells one; empty where none does."""
    for device in items(torch.get("devices")):
        pair = [whole(part) for part in items(mapping(device).get("capability"), 2)]
        if len(pair) == 2:
            return tuple(pair)
    return ()


def has_kernels(arch_list: list[str], capability: Version) -> bool:
    """Whether a torch built for these can use a card, by NVIDIA's rule: binaries run on the same major with an equal or higher minor, PTX on anything newer."""
    for arch in arch_list:
        found = re.fullmatch(r"(sm|compute)_(\d{1,2})(\d)([af]?)", arch)
        if not found:
            continue
        built = (int(found[2]), int(found[3]))
        if found[1] == "compute" and built <= capability:
            return True
        if found[1] == "sm" and found[4] == "a" and built == capability:
            return True
        if found[1] == "sm" and found[4] != "a" and built[0] == capability[0] and built <= capability:
            return True
    return False
