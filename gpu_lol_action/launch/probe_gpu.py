"""What the driver, torch and the GPUs said, held against what was rented.

Where one check fails, those that can only follow from it are noted, not failed: a person reads one cause, not six.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_lol_action.domain.environment import Check, CheckStatus
from gpu_lol_action.domain.gpus import find_accelerator
from gpu_lol_action.launch.probe_card import capability_of, has_kernels, is_rented_card
from gpu_lol_action.launch.probe_facts import (
    Version,
    dotted,
    gib,
    items,
    mapping,
    mib,
    number,
    shown,
    version_of,
    whole,
)

# NVIDIA, CUDA compatibility guide, minor-version compatibility: the oldest Linux driver that runs any CUDA of a major.
MIN_DRIVERS: Mapping[int, Version] = {11: (450, 80, 2), 12: (525, 60, 13), 13: (580, 65, 6)}
# Used by others: more than torch's own context (0.3 to 0.6 GiB on cards that we know of) leaves in use.
MAX_OCCUPIED_FRACTION = 0.1

# nvidia-smi(1), "Return value": 0, and 14 where it warns of a damaged infoROM behind an answer that is whole.
_ANSWERED = (0, 14)
_STAND_IN = " This is a stand-in: a rehearsal has no GPU."
_DRIVER_SAID = re.compile(r"Driver ([0-9.]{1,30}[0-9])(?= serves| is too old|;)")
_TORCH_SAID = re.compile(r"torch (\S{1,40}) \(CUDA ([0-9.]{1,20})\)")
_OTHER_MACHINE = "End it with `/gpu-lol down` and start another one; hosts differ."


@dataclass(frozen=True, slots=True)
class ExpectedGpus:
    """What was rented and what the code needs (usable GiB per GPU)."""

    accelerator: str
    count: int
    vram_required_gib: float | None
    is_torch_required: bool


def judge(facts: Mapping[str, Any], expected: ExpectedGpus) -> list[Check]:
    """Return the checks on driver, torch, GPU, memory, product and all-reduce."""
    driver, torch = mapping(facts.get("driver")), mapping(facts.get("torch"))
    driver_check = _driver(driver, torch)
    is_driver_right = driver_check.status is not CheckStatus.FAILED
    torch_check = _torch(torch, expected, is_driver_right=is_driver_right)
    is_torch_right = torch_check.status is CheckStatus.PASSED
    checks = [driver_check, torch_check]
    if is_driver_right or items(driver.get("gpus")):
        checks.append(_gpu(driver, torch, expected, is_torch_right=is_torch_right))
    else:
        checks.append(_follows("gpu", "driver", driver))
    if not is_torch_right:
        checks += [_memory(driver, torch, expected), _follows("product", "torch", torch)]
    else:
        checks += [_memory(driver, torch, expected), _product(torch)]
    if expected.count > 1:
        cause = next(
            (c.name for c in checks if c.name in {"gpu", "product"} and c.status is not CheckStatus.PASSED), None
        )
        reduced = mapping(facts.get("all_reduce"))
        checks.append(_follows("all_reduce", cause, torch) if cause else _all_reduce(reduced, expected))
    return checks


def versions(checks: Sequence[Check]) -> tuple[str, str, str]:
    """Return driver, CUDA and torch as our own sentences name them; empty where a check does not."""
    said = {check.name: check.sentence for check in checks}
    driver = _DRIVER_SAID.match(said.get("driver", ""))
    torch = _TORCH_SAID.match(said.get("torch", ""))
    return driver[1] if driver else "", torch[2] if torch else "", torch[1] if torch else ""


def _check(name: str, status: CheckStatus, sentence: str, fix: str, facts: Mapping[str, Any]) -> Check:
    is_stand_in = facts.get("is_stand_in") is True
    return Check(name, status, sentence + (_STAND_IN if is_stand_in else ""), fix, is_stand_in)


def _follows(name: str, cause: str, facts: Mapping[str, Any]) -> Check:
    return _check(name, CheckStatus.NOTED, f"Not looked at, because the check of `{cause}` comes before it.", "", facts)


def _driver(driver: Mapping[str, Any], torch: Mapping[str, Any]) -> Check:
    def failed(sentence: str, fix: str = _OTHER_MACHINE) -> Check:
        return _check("driver", CheckStatus.FAILED, sentence, fix, driver)

    if driver.get("is_missing") is True:
        return failed(
            "nvidia-smi is not on this machine.",
            "Take an image for NVIDIA GPUs (its name says cuda), or another machine.",
        )
    gpus = items(driver.get("gpus"))
    if driver.get("exit_code") not in _ANSWERED or not gpus:
        said = shown(driver.get("complaint")) or shown(driver.get("error")) or "nothing"
        return failed(f"nvidia-smi does not answer: {said}.")
    version = version_of(mapping(gpus[0]).get("driver_version")) or version_of(driver.get("version"))
    if not version:
        return failed("nvidia-smi names no driver version.")
    cuda, reach = version_of(torch.get("cuda")), version_of(driver.get("cuda"))
    wants = f"CUDA {dotted(cuda)}, for which torch {shown(torch.get('version'), 40)} is built," if cuda else "CUDA 11"
    least = MIN_DRIVERS.get(cuda[0]) if cuda else MIN_DRIVERS[11]
    if cuda and reach >= cuda[:1] and torch.get("is_available") is True and (least is None or version < least):
        # Newer than the table, or older with NVIDIA's compatibility libraries in the image: torch itself has tried it.
        sentence = f"Driver {dotted(version)} serves {wants} as it reaches CUDA {dotted(reach)}."
        return _check("driver", CheckStatus.PASSED, sentence, "", driver)
    if least is None:
        sentence = f"Driver {dotted(version)}; which one CUDA {dotted(cuda)} needs is not known here."
        return _check("driver", CheckStatus.NOTED, sentence, "", driver)
    if version < least:
        fix = f"Take an image with an older CUDA, or another machine: {wants} needs {dotted(least)} or newer."
        return failed(f"Driver {dotted(version)} is too old: {wants} needs {dotted(least)} or newer.", fix)
    sentence = f"Driver {dotted(version)} serves {wants.rstrip(',')} (needs {dotted(least)} or newer)."
    return _check("driver", CheckStatus.PASSED, sentence, "", driver)


def _torch(torch: Mapping[str, Any], expected: ExpectedGpus, *, is_driver_right: bool) -> Check:
    def failed(sentence: str, fix: str) -> Check:
        return _check("torch", CheckStatus.FAILED, sentence, fix, torch)

    broken = shown(torch.get("import_error")) or shown(torch.get("error"))
    if broken.startswith("ModuleNotFoundError: No module named 'torch'") and not expected.is_torch_required:
        sentence = "torch is not installed and not asked for; without it the GPU cannot be tried."
        return _check("torch", CheckStatus.NOTED, sentence, "", torch)
    if broken or not version_of(torch.get("version")):
        return failed(
            f"torch cannot be used: {broken or 'it names no version'}.",
            "Take an image with torch, or pin torch in the requirements.",
        )
    version, cuda = shown(torch.get("version"), 40), version_of(torch.get("cuda"))
    if not cuda:
        return failed(
            f"torch {version} is built without CUDA.",
            "A requirement replaced the image's torch by a CPU build, or the image is for CPUs: pin torch with its CUDA, as in torch==2.4.0+cu124.",
        )
    built = f"torch {version} (CUDA {dotted(cuda)})"
    if torch.get("is_available") is not True:
        if not is_driver_right:
            return _check("torch", CheckStatus.NOTED, f"{built} sees no GPU, which follows from the driver.", "", torch)
        why = shown(torch.get("why_not")) or "it does not say why"
        return failed(f"{built} sees no GPU: {why}.", _OTHER_MACHINE)
    capability = capability_of(torch)
    served = [arch for arch in items(torch.get("arch_list")) if isinstance(arch, str)]
    if capability and served and not has_kernels(served, capability):
        fix = "Take an image with a torch that is built for this card (Blackwell: torch 2.7 with CUDA 12.8 or newer)."
        return failed(f"{built} has no kernels for compute capability {dotted(capability)}.", fix)
    reach = f", built for compute capability {dotted(capability)}" if capability else ""
    return _check(
        "torch", CheckStatus.PASSED, f"{built} sees {len(items(torch.get('devices')))} GPUs{reach}.", "", torch
    )


def _gpu(driver: Mapping[str, Any], torch: Mapping[str, Any], expected: ExpectedGpus, *, is_torch_right: bool) -> Check:
    gpus = [mapping(gpu) for gpu in items(driver.get("gpus"))]
    names = [shown(gpu.get("name"), 60) or "(no name)" for gpu in gpus]
    asked = f"{expected.count} × {expected.accelerator}"
    has = ", ".join(f"{names.count(name)} × {name}" for name in dict.fromkeys(names))
    if len(gpus) != expected.count:
        return _check("gpu", CheckStatus.FAILED, f"{asked} was rented, the machine has {has}.", _OTHER_MACHINE, driver)
    rented = find_accelerator(expected.accelerator)
    for gpu, name in zip(gpus, names, strict=True):
        if not is_rented_card(name, mib(gpu.get("memory.total")), expected.accelerator, rented):
            sentence = f"{asked} was rented, the machine has {has}."
            return _check("gpu", CheckStatus.FAILED, sentence, _OTHER_MACHINE, driver)
    seen = len(items(torch.get("devices")))
    if is_torch_right and seen != expected.count:
        fix = "Is CUDA_VISIBLE_DEVICES set in the image or in `env:`?"
        return _check("gpu", CheckStatus.FAILED, f"The machine has {has}, torch sees {seen}.", fix, driver)
    return _check("gpu", CheckStatus.PASSED, f"{has}, as rented ({asked}).", "", driver)


def _memory(driver: Mapping[str, Any], torch: Mapping[str, Any], expected: ExpectedGpus) -> Check:
    """Hold usable memory per GPU (as torch sees it, else as the driver does) against the need."""
    source = torch
    pairs = [
        (gib(mapping(d).get("total_bytes")), gib(mapping(d).get("free_bytes"))) for d in items(torch.get("devices"))
    ]
    if not pairs:
        source = driver
        pairs = [_driver_memory(mapping(gpu)) for gpu in items(driver.get("gpus"))]
    known = [(total, free) for total, free in pairs if total is not None]
    if not known:
        return _follows("vram", "driver", driver)
    total, free = min(total for total, _ in known), min((free for _, free in known if free is not None), default=None)
    need = expected.vram_required_gib
    if need is not None and total < need:
        fix = "Ask for a card with more memory: `/gpu-lol up --gpu ...`, or `hardware.vram_required_gb`."
        return _check(
            "vram", CheckStatus.FAILED, f"{total:.1f} GiB per GPU can be used, {need:g} GiB are needed.", fix, source
        )
    if free is not None and free < total * (1 - MAX_OCCUPIED_FRACTION):
        sentence = (
            f"Only {free:.1f} of {total:.1f} GiB are free before anything of yours runs: somebody else uses this GPU."
        )
        return _check("vram", CheckStatus.FAILED, sentence, _OTHER_MACHINE, source)
    wanted = f", {need:g} GiB are needed" if need is not None else ""
    return _check("vram", CheckStatus.PASSED, f"{total:.1f} GiB per GPU can be used{wanted}.", "", source)


def _driver_memory(gpu: Mapping[str, Any]) -> tuple[float | None, float | None]:
    total, used = mib(gpu.get("memory.total")), mib(gpu.get("memory.used"))
    if total is None:
        return None, None
    return total / 1024, (total - used) / 1024 if used is not None else None


def _product(torch: Mapping[str, Any]) -> Check:
    devices = [mapping(device) for device in items(torch.get("devices"))]
    wrong: list[str] = []
    for index, device in enumerate(devices):
        product = mapping(device.get("product"))
        error = shown(product.get("error")) or shown(device.get("error"))
        elements = whole(product.get("elements"))
        if error or elements <= 0:
            wrong.append(f"GPU {index}: {error or 'no answer'}")
        elif product.get("wrong") != 0:
            wrong.append(
                f"GPU {index}: {whole(product.get('wrong'))} of {elements} elements are wrong, by up to {number(product.get('worst')) or 0:.3g}"
            )
    if wrong:
        return _check(
            "product",
            CheckStatus.FAILED,
            f"A bf16 matrix product is not right. {'; '.join(wrong[:4])}.",
            _OTHER_MACHINE,
            torch,
        )
    sentence = (
        f"A bf16 matrix product is right on {'the GPU' if len(devices) == 1 else f'each of {len(devices)} GPUs'}."
    )
    return _check("product", CheckStatus.PASSED, sentence, "", torch)


def _all_reduce(facts: Mapping[str, Any], expected: ExpectedGpus) -> Check:
    """NCCL adds up 1 to n over n GPUs: each must hold n (n + 1) / 2."""
    ranks = [mapping(rank) for rank in items(facts.get("ranks"))]
    about = ranks[0] if ranks else {}
    if ranks and all(rank.get("is_unavailable") is True for rank in ranks):
        if about.get("is_stand_in") is True:
            return _check("all_reduce", CheckStatus.NOTED, "NCCL cannot be tried without GPUs.", "", about)
        fix = "Take an image whose torch has NCCL (the usual Linux builds do)."
        return _check(
            "all_reduce", CheckStatus.FAILED, "This torch has no NCCL, so the GPUs cannot work together.", fix, about
        )
    right = expected.count * (expected.count + 1) / 2
    # A rank that was ended because another one failed says least: look at what the others say first.
    for index, rank in sorted(enumerate(ranks), key=lambda pair: "time was up" in shown(pair[1].get("error"))):
        sums = [number(value) for value in items(rank.get("sums"), 4)]
        if sums != [right]:
            said = shown(rank.get("error")) or f"it got {shown(str(sums), 60)} instead of {right:g}"
            fix = (
                "Small /dev/shm and hosts without peer access are the usual causes:"
                " try `NCCL_P2P_DISABLE=1` in `env:`, or another machine."
            )
            sentence = f"The GPUs do not work together. Rank {index}: {said}."
            return _check("all_reduce", CheckStatus.FAILED, sentence, fix, rank)
    if len(ranks) != expected.count:
        sentence = f"The GPUs were not tried together: {shown(facts.get('error')) or 'no answer'}."
        return _check("all_reduce", CheckStatus.FAILED, sentence, _OTHER_MACHINE, facts)
    return _check(
        "all_reduce", CheckStatus.PASSED, f"{expected.count} GPUs add up right together (NCCL all-reduce).", "", about
    )
