"""Scripts for the machine: package data in bash, with values put in front as quoted assignments, never pasted into them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from importlib import resources

_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_PYTHON = "machine_python"
_NONCE = re.compile(r"[A-Za-z0-9]{8,64}")


def build_script(*names: str, values: Mapping[str, str]) -> str:
    """Return the named scripts of ``launch/remote`` one after another, with ``values`` as shell variables before them.

    Whoever looks for the machine's Python gets what older ones lack as well.
    """
    for name in values:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no shell variable of ours")
    if _PYTHON in names:
        values = {**values, "older_python": read_remote("gpu_lol_probe/older_python.py")}
    assignments = [f"{name}={quote(value)}" for name, value in sorted(values.items())]
    return "\n".join([*assignments, *(read_remote(f"{name}.sh") for name in names)])


def quote(value: str) -> str:
    """Return ``value`` as one word of bash. NUL cannot stand in one; lone surrogates cannot be sent."""
    return shlex.quote(value.replace("\0", "").encode("utf-8", "replace").decode("utf-8"))


def read_remote(name: str) -> str:
    """Return a file of ``launch/remote``."""
    return resources.files("gpu_lol_action").joinpath(f"launch/remote/{name}").read_text(encoding="utf-8")


def check_nonce(nonce: str) -> str:
    """Return a nonce that may mark our lines in a machine's output: 8 to 64 letters and digits, else ValueError."""
    if not _NONCE.fullmatch(nonce):
        raise ValueError("a nonce has 8 to 64 letters and digits")
    return nonce


def marked_lines(output: str, kind: str, nonce: str) -> list[str]:
    """Return what follows our marker, line by line; lines of programs that guess the marker lack the nonce."""
    marker = f"::gpu-lol-{kind} {nonce} "
    return [line[len(marker) :].strip() for line in output.splitlines() if line.startswith(marker)]
