"""What is installed on a machine, as three lists that it keeps and sends; all of it is a stranger's word."""

from __future__ import annotations

import base64
import binascii
import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from gpu_lol_action.domain.snapshot import Inventory, MachineState, Package
from gpu_lol_action.launch.remote_scripts import build_script, check_nonce, marked_lines
from gpu_lol_action.launch.requirements import check_requirement, check_system_package, requirement_name

MOST_BYTES = 192 * 1024
"""Of each list: five thousand packages and more."""
NO_INVENTORY = "no_inventory"
"""What is said where set-up left no lists: it was an older gpu-lol's."""
_VERSION = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,4}){1,3}")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_WHY = {
    "editable": "it is installed from a folder that can be edited, which comes with the code",
    "local": "it is installed from a file or folder of that machine",
    "private": "the address it came from holds what may be a password",
}


def build_snapshot_script(nonce: str) -> str:
    """Return the script that asks a machine what is installed; it changes nothing there."""
    values = {"nonce": check_nonce(nonce), "most_each": str(MOST_BYTES)}
    return build_script("machine_python", "machine_inventory", "snapshot", values=values)


def parse_snapshot_output(output: str, nonce: str) -> MachineState | str:
    """Return what was said, or why it cannot be used."""
    said: dict[str, str] = {}
    for line in marked_lines(output, "snapshot", nonce):
        key, _, value = line.partition(" ")
        said.setdefault(key, value)
    if "failed" in said or "done" not in said:
        return said.get("failed", "the script ended before it was done")[:300]
    lists = [_inventory(said.get(name, "")) for name in ("image", "setup", "now")]
    image, setup, now = lists
    if image is None or setup is None:
        return NO_INVENTORY
    return MachineState(image, setup, now) if now is not None else "its packages cannot be listed"


def _inventory(encoded: str) -> Inventory | None:
    """Return a list, or None where that of the packages is not whole."""
    try:
        text = base64.b64decode(encoded[: 2 * MOST_BYTES], validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None
    facts, packages, system, refused = dict[str, str](), dict[str, Package](), set[str](), 0
    for line in text.split("\n"):
        kind, *fields = line.split("\t")
        if kind == "package" and len(fields) == 3:
            package = _package(*fields)
            if package is None:
                refused += 1
            else:
                packages.setdefault(requirement_name(package.name), package)
        elif kind == "system" and len(fields) == 1:
            is_name = check_system_package(fields[0]) is None and "=" not in fields[0]
            system |= {fields[0]} if is_name else set()
            refused += not is_name
        elif kind in ("python", "cuda", "image", "told") and len(fields) == 1:
            facts[f"told {fields[0]}" if kind == "told" else kind] = fields[0]
    if "told packages" not in facts:
        return None
    return Inventory(
        python=_matching(_VERSION, facts.get("python", "")),
        cuda=_matching(_VERSION, facts.get("cuda", "")),
        image=_matching(_IMAGE, facts.get("image", "")),
        packages=packages,
        system_packages=frozenset(system) if "told system" in facts else None,
        refused=refused,
    )


def _package(name: str, version: str, origin: str) -> Package | None:
    """Return a distribution, or None where it is none that pip could have installed."""
    if not _DISTRIBUTION.fullmatch(name) or len(version) > 100:
        return None
    try:
        Requirement(f"{name}=={version}")
        public = Version(version).public
    except (InvalidRequirement, InvalidVersion):
        return None
    if origin in _WHY:
        return Package(name, version, None, _WHY[origin])
    # The label of a build (torch 2.6.0+cu124) is another index's: `==2.6.0` means it too, and can be found anywhere.
    line = f"{name} @ {origin}" if origin else f"{name}=={public}"
    refusal = check_requirement(line)
    return Package(name, version, line) if refusal is None else Package(name, version, None, refusal)


def _matching(pattern: re.Pattern[str], text: str) -> str:
    return text if pattern.fullmatch(text) else ""
