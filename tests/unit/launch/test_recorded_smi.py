"""Drivers' words as they were recorded on other people's machines, read by the sampler, the validator and the watch."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gpu_lol_action.launch.failures import recognize
from gpu_lol_action.launch.remote_scripts import read_remote
from tests.support.recorded_smi import DRESSES, machine, recordings, wrongs

RECORDINGS = recordings()
QUERIES = [each for each in RECORDINGS if each["kind"] == "query"]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda each: each["id"])
def test_what_stands_there_is_read(recording: dict[str, Any], tmp_path: Path) -> None:
    assert wrongs(recording, tmp_path) == []


@pytest.mark.parametrize("dress", DRESSES[1:])
@pytest.mark.parametrize("recording", QUERIES, ids=lambda each: each["id"])
def test_line_ends_marks_headers_and_warnings_change_nothing(
    recording: dict[str, Any], dress: str, tmp_path: Path
) -> None:
    assert wrongs(recording, tmp_path, dress) == []


def is_working(recording: dict[str, Any], folder: Path, dress: str) -> bool:
    """Ask the machine's own watch whether a GPU works."""
    script = read_remote("watch.sh")
    function = script[script.index("has_working_gpu() {") : script.index("note_idleness() {")]
    with machine(recording, folder, dress):
        path = f"{os.environ['PATH']}:/usr/bin:/bin"
        done = subprocess.run(["bash", "-c", f"set -u\n{function}has_working_gpu"], env={"PATH": path}, check=False)
    return done.returncode == 0


@pytest.mark.parametrize("dress", ["as it was", "warnings"])
def test_only_a_card_that_is_known_to_rest_counts_as_idle(dress: str, tmp_path: Path) -> None:
    told = [each for each in QUERIES if each["format"].endswith("nounits") or dress == "as it was"]
    for recording in told:
        works = [gpu.get("work") for gpu in recording["gpus"]]
        is_idle = all(work is not None and work <= 5 for work in works)
        # With units, which nobody asks for, a card counts as working: on a doubt nobody's run is taken for idle.
        has_units = not recording["format"].endswith("nounits") and None not in works
        assert is_working(recording, tmp_path, dress) == (has_units or not is_idle), recording["id"]


@pytest.mark.parametrize(
    "recording", [each for each in RECORDINGS if each["kind"] == "refusal"], ids=lambda each: each["id"]
)
def test_driver_that_refuses_is_the_machines_fault_in_a_log_too(recording: dict[str, Any]) -> None:
    said = recognize("\n".join(recording["lines"]))
    if recording.get("query"):
        assert said is None, "who asks for a field that is not there is told nothing of the machine"
    else:
        assert said is not None
        assert (said.kind in ("no_gpu", "gpu_lost"), said.is_machines) == (True, True)


def test_recordings_are_of_many_drivers_and_name_their_sources() -> None:
    versions = {each["driver"].split(" ")[0] for each in RECORDINGS} - {""}
    assert len(RECORDINGS) >= 60
    assert len(versions) >= 40
    assert len({version.split(".")[0] for version in versions}) >= 25
    halves = Counter((each["kind"], each["split"]) for each in RECORDINGS)
    assert all(halves[kind, split] >= 8 for kind in ("query", "table", "refusal") for split in ("known", "held-out"))
    for each in RECORDINGS:
        assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull|blob)/\S+", each["source"]), each["id"]
