"""Code, disk, shared memory, the Hub, credentials, and who may log in: what the machine said, judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_lol_action.domain.environment import Check, CheckStatus
from gpu_lol_action.launch.probe_facts import gib, items, mapping, number, shown, whole

GB_IN_GIB = 1e9 / 2**30
MIN_FREE_GIB = 2.0
"""Less than this is not enough for one checkpoint of anything that needs a GPU."""
RENTED_SHARE = 0.9
"""Part of the rented disk that must be there: file systems and images take some of it."""
SHARED_MEMORY_GIB_PER_GPU = 1.0
"""What NCCL and DataLoader workers are comfortable with; NVIDIA's images ask for ``--shm-size=1g`` and more."""

_OTHER_MACHINE = "End it with `/gpu-lol down` and start another one; hosts differ."


@dataclass(frozen=True, slots=True)
class ExpectedCode:
    """The commit that must be there. With set-up commands, files may have been changed on purpose."""

    folder: str
    sha: str
    tree_id: str
    has_setup_commands: bool


def judge_code(facts: Mapping[str, Any], expected: ExpectedCode) -> Check:
    """Compare tree ids, and the files on disk with the index by their hashes."""

    def failed(sentence: str) -> Check:
        return Check("code", CheckStatus.FAILED, sentence, "Run `/gpu-lol up` again; the code is shipped anew.")

    short = expected.sha[:12]
    if facts.get("is_missing") is True or not facts.get("head_tree"):
        why = shown(facts.get("complaint")) or shown(facts.get("error")) or "there is no checkout"
        return failed(f"The code is not at ~/{expected.folder}: {why}.")
    if facts.get("marker") != expected.sha:
        return failed(
            f"The code is marked {shown(facts.get('marker'), 12) or 'as nothing'}, the pinned commit is {short}."
        )
    if expected.tree_id and facts.get("head_tree") != expected.tree_id:
        return failed(
            f"The checkout's tree is {shown(facts.get('head_tree'), 12)}, commit {short} has {expected.tree_id[:12]}."
        )
    changed = whole(facts.get("changed")) + (facts.get("index_tree") != facts.get("head_tree"))
    if changed:
        names = ", ".join(shown(name, 60) for name in items(facts.get("examples"), 3)) or "staged changes"
        sentence = f"{changed} of {whole(facts.get('files'))} files differ from commit {short}: {names}."
        if expected.has_setup_commands:
            return Check("code", CheckStatus.NOTED, sentence + " A set-up command may have changed them.")
        return failed(sentence)
    exact = "" if facts.get("head") == expected.sha else " HEAD is a commit of ours with the same tree."
    return Check(
        "code", CheckStatus.PASSED, f"All {whole(facts.get('files'))} files are those of commit {short}.{exact}"
    )


def judge_disk(facts: Mapping[str, Any], disk_gb: int | None) -> Check:
    """Hold the largest volume against the rented size (GB, powers of ten), and the home's free space against a floor."""
    volumes = [
        (gib(mapping(v).get("total_bytes")), gib(mapping(v).get("free_bytes"))) for v in items(facts.get("volumes"), 4)
    ]
    known = [(total, free) for total, free in volumes if total is not None and free is not None]
    if not known:
        return Check("disk", CheckStatus.FAILED, "The disk could not be looked at.", _OTHER_MACHINE)
    total, free = max(known)[0], max(free for _, free in known)
    rented = disk_gb * GB_IN_GIB if disk_gb else None
    if rented is not None and total < rented * RENTED_SHARE:
        return Check(
            "disk", CheckStatus.FAILED, f"The disk has {total:.0f} GiB, {disk_gb} GB were rented.", _OTHER_MACHINE
        )
    if free < MIN_FREE_GIB:
        fix = "Ask for more: `hardware.disk_gb` in `.gpu-lol.yaml`."
        return Check("disk", CheckStatus.FAILED, f"Only {free:.1f} of {total:.0f} GiB are free.", fix)
    return Check("disk", CheckStatus.PASSED, f"{free:.0f} of {total:.0f} GiB are free.")


def judge_shared_memory(facts: Mapping[str, Any], gpu_count: int) -> Check:
    """Fail only where several GPUs would have to talk through it and NCCL was not told otherwise."""
    size = gib(facts.get("total_bytes"))
    if size is None:
        return Check("shared_memory", CheckStatus.NOTED, "Shared memory (/dev/shm) could not be looked at.")
    need = SHARED_MEMORY_GIB_PER_GPU * max(1, gpu_count)
    if size >= need * RENTED_SHARE:
        return Check("shared_memory", CheckStatus.PASSED, f"Shared memory (/dev/shm) has {size:.1f} GiB.")
    sentence = f"Shared memory (/dev/shm) has {size:.2f} GiB, {need:g} GiB are comfortable: DataLoader workers may die with a bus error."
    if gpu_count > 1 and facts.get("is_nccl_told") is not True:
        fix = 'Set `NCCL_SHM_DISABLE: "1"` in `env:`, or take another machine.'
        return Check("shared_memory", CheckStatus.FAILED, sentence + " NCCL needs it as well.", fix)
    told = " NCCL is told to do without." if facts.get("is_nccl_told") is True else ""
    return Check(
        "shared_memory", CheckStatus.NOTED, sentence + told, "Use `num_workers=0`, or the file_system sharing strategy."
    )


def judge_hub(facts: Mapping[str, Any], *, is_rehearsal: bool) -> Check:
    """Note where models cannot be downloaded; a machine may be meant to be offline, so that it is no failure."""
    url, status = shown(facts.get("url"), 80), number(facts.get("status"))
    if status is not None and 200 <= status < 500:
        return Check("hub", CheckStatus.PASSED, f"{url} answers in {number(facts.get('seconds')) or 0:.1f} s.")
    why = (
        f"it answers with status {status:g}"
        if status is not None
        else shown(facts.get("why") or facts.get("error")) or "no answer"
    )
    sentence = f"{url or 'The Hub'} cannot be reached: {why}. Models cannot be downloaded there."
    if is_rehearsal:
        return Check(
            "hub", CheckStatus.NOTED, sentence + " A rehearsal's machine is on this computer and has its network."
        )
    return Check("hub", CheckStatus.NOTED, sentence, "Try again, or bring models along in `asset_links`.")


def judge_credentials(facts: Mapping[str, Any]) -> Check:
    """Fail for anything that would let a borrower of this machine act elsewhere; only places are named."""
    if not isinstance(facts.get("found"), list):
        why = shown(facts.get("error")) or "no answer"
        return Check(
            "credentials",
            CheckStatus.FAILED,
            f"The machine could not be searched for credentials: {why}.",
            "Run `/gpu-lol validate` again.",
        )
    found = [mapping(entry) for entry in items(facts.get("found"), 50)]
    if found:
        places = "; ".join(f"{shown(entry.get('what'), 60)} ({shown(entry.get('where'), 80)})" for entry in found[:4])
        fix = "Whoever logs in could take them. Remove them from the image or `env:`; if SkyPilot put them there, end this machine and tell us."
        return Check("credentials", CheckStatus.FAILED, f"{len(found)} credentials are on the machine: {places}.", fix)
    scoped = ", ".join(shown(name, 40) for name in items(facts.get("scoped"), 4))
    but = f" but {scoped}, which the platform scopes to this pod" if scoped else ""
    unread = whole(facts.get("unread_processes"))
    unseen = f" {unread} processes of other users could not be looked into." if unread > 0 else ""
    return Check("credentials", CheckStatus.PASSED, f"No credential is on the machine{but}.{unseen}")


def judge_passwords(facts: Mapping[str, Any]) -> Check:
    """Fail where the running sshd offers anything but keys."""
    methods = [method for method in items(facts.get("methods"), 8) if isinstance(method, str)]
    if not methods:
        return Check(
            "passwords", CheckStatus.FAILED, "How one may log in could not be asked.", "Run `/gpu-lol validate` again."
        )
    weak = [shown(method, 40) for method in methods if method not in {"publickey", "hostbased"}]
    if weak:
        fix = "End this machine: its SSH server did not take the changed configuration."
        return Check("passwords", CheckStatus.FAILED, f"The SSH server also lets people in by {', '.join(weak)}.", fix)
    return Check("passwords", CheckStatus.PASSED, "The SSH server lets people in by key only.")


def judge_keys(facts: Mapping[str, Any], count: int) -> Check:
    """Fail where a key of the requester is not in our block of ``authorized_keys``."""
    missing = facts.get("missing_keys")
    if not isinstance(missing, list):
        return Check(
            "requester_keys", CheckStatus.FAILED, "The installed keys could not be read.", "Run `/gpu-lol up` again."
        )
    if missing:
        sentence = f"{len(missing)} of {count} keys of the requester are not installed."
        return Check(
            "requester_keys", CheckStatus.FAILED, sentence, "Run `/gpu-lol up` again; keys are installed anew."
        )
    return Check("requester_keys", CheckStatus.PASSED, f"{count} of the requester's keys open this machine.")
