"""A command on a running machine, and logs of it: what is sent is data to the machine's shell, what comes back is data to us."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from datetime import timedelta

from gpu_lol_action.domain.measurement import Measurement
from gpu_lol_action.launch.remote_scripts import build_script, check_nonce, marked_lines
from gpu_lol_action.launch.samples import parse_samples, sampler_program

MOST_BYTES = 48 * 1024
"""Of output, from its end: what a comment can hold with room for the rest."""
TIMED_OUT = frozenset({124, 137})
"""How ``timeout`` ends what did not end in time (GNU coreutils)."""
_NUMBER = re.compile(r"[0-9]{1,15}")
_SHA = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Output:
    """What a command or a log said. ``exit_code`` None: a log, last written ``age`` ago. ``bytes_total`` before it was cut.

    ``commit`` is what the checkout stands at, empty where its files were changed on the machine or nobody knows.
    """

    text: str
    bytes_total: int
    exit_code: int | None = None
    took: timedelta = timedelta(0)
    age: timedelta = timedelta(0)
    is_timed_out: bool = False
    measured: Measurement | None = None
    commit: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether its beginning is left out."""
        return self.bytes_total > MOST_BYTES


def build_run_script(script: str, folder: str, time_box: timedelta, nonce: str) -> str:
    """Return the script that runs a command in the checkout, with what set-up has put into the environment."""
    seconds = max(int(time_box.total_seconds()), 1)
    return _build("run", nonce, script=script, folder=folder, seconds=str(seconds))


def build_logs_script(which: str, nonce: str) -> str:
    """Return the script that shows a log: ``setup``, or ``run`` for that of the last command."""
    return _build("setup" if which == "setup" else "latest", nonce)


def _build(mode: str, nonce: str, *, script: str = "", folder: str = "", seconds: str = "1") -> str:
    values = {"mode": mode, "script": script, "folder": folder, "seconds": seconds, "most": str(MOST_BYTES)}
    if mode != "run":
        return build_script("command", values={**values, "nonce": check_nonce(nonce)})
    values |= {"sampler": sampler_program(), "nonce": check_nonce(nonce)}
    return build_script("machine_python", "watching", "command", values=values)


def parse_command_output(output: str, time_box: timedelta, nonce: str) -> Output | str:
    """Return what was said, or why nothing was."""
    said: dict[str, str] = {}
    for line in marked_lines(output, "command", nonce):
        key, _, value = line.partition(" ")
        said.setdefault(key, value)
    if "failed" in said or "done" not in said:
        return said.get("failed", "the script ended before it was done")[:300]
    try:
        text = base64.b64decode(said.get("output", ""), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return "its output could not be read"
    took = timedelta(seconds=_number(said.get("seconds")))
    code = _number(said["exit"]) if "exit" in said else None
    return Output(
        text=text,
        bytes_total=_number(said.get("bytes")),
        exit_code=code,
        took=took,
        age=timedelta(seconds=_number(said.get("age"))),
        # A command may end with these codes of its own accord.
        is_timed_out=code in TIMED_OUT and took >= time_box - timedelta(seconds=1),
        measured=parse_samples(said.get("samples", "")),
        commit=said["commit"] if _SHA.fullmatch(said.get("commit", "")) else "",
    )


def _number(text: str | None) -> int:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else 0
