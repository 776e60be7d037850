"""Recorded answers of nvidia-smi, played to our own readers by a program of that name; other people's machines, not ours.

A recording with other columns than we ask for is laid out in the order that is asked: its cells stay as they were printed, with
their units, and what was not recorded is `[N/A]`. What is no row (blank lines, warnings) stays where it stood; the header goes,
because we ask for none.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpu_lol_action.domain.environment import Check, CheckStatus
from gpu_lol_action.launch import probe_gpu
from gpu_lol_action.launch.probe_facts import mib, version_of
from gpu_lol_action.launch.remote.gpu_lol_probe import gpu as probe

ROOT = Path(__file__).parents[2]
DATA = ROOT / "benchmarks" / "data" / "smi_outputs.jsonl"
SAMPLER = runpy.run_path(str(ROOT / "gpu_lol_action" / "launch" / "remote" / "gpu_lol_sampler.py"))
Recording = Mapping[str, Any]
_ALIASES = {"gpu_name": "name", "gpu_uuid": "uuid"}
# How the recording is written down again: line ends as on Windows, a mark in front, words of the driver around it.
DRESSES = ("as it was", "CRLF", "BOM", "warnings", "header")
_WARNING = "WARNING: infoROM is corrupted at gpu 0000:B3:00.0"
_PROGRAM = f"""#!{sys.executable} -SE
import json, sys
with open(__file__ + ".json", encoding="utf-8") as file: answers = json.load(file)
asked = next((word.split("=", 1)[1] for word in sys.argv if word.startswith("--query-gpu=")), "")
unknown = [name for name in asked.split(",") if name in answers["unknown"]]
if asked and unknown:
    print('Field "%s" is not a valid field to query.\\n' % unknown[0])
    sys.exit(2)
if not asked or answers["refusal"]:
    sys.stdout.buffer.write(answers["table"].encode())
    sys.exit(answers["exit_code"])
lines = []
for row in answers["rows"]:
    lines.append(row if isinstance(row, str) else ", ".join(row.get(name, "[N/A]") for name in asked.split(",")))
dress = answers["dress"]
end = "\\r\\n" if dress == "CRLF" else "\\n"
if dress == "warnings": lines = [answers["warning"], *lines, answers["warning"]]
sys.stdout.buffer.write((("\\ufeff" if dress == "BOM" else "") + "".join(line + end for line in lines)).encode())
sys.exit(14 if dress == "warnings" else answers["exit_code"])
"""


def recordings() -> list[dict[str, Any]]:
    """Return all of them, in the file's order."""
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


@contextmanager
def machine(recording: Recording, folder: Path, dress: str = "as it was") -> Iterator[None]:
    """Let nvidia-smi answer as recorded: it alone is on the path."""
    program = folder / "nvidia-smi"
    if not any("command not found" in line for line in recording["lines"]):
        program.write_text(_PROGRAM)
        program.chmod(0o700)
        program.with_name("nvidia-smi.json").write_text(json.dumps(_answers(recording, dress)))
    before = os.environ["PATH"]
    os.environ["PATH"] = str(folder)
    try:
        yield
    finally:
        os.environ["PATH"] = before
        program.unlink(missing_ok=True)


def _answers(recording: Recording, dress: str) -> dict[str, Any]:
    kind, lines = recording["kind"], recording["lines"]
    is_refused_field = kind == "refusal" and bool(recording.get("query"))
    rows: list[str | dict[str, str]] = [{"index": "0", "name": "NVIDIA L4", "memory.used": "1", "memory.total": "23034", "driver_version": recording["driver"].split(" ")[0] or "[N/A]"}]  # fmt: skip
    if kind == "query":
        rows = _rows(recording, has_header=dress == "header")
    return {
        "refusal": kind == "refusal" and not is_refused_field,
        "unknown": recording["query"] if is_refused_field else [],
        "table": "" if kind == "query" else "".join(line + "\n" for line in lines),
        "rows": rows,
        "exit_code": recording.get("exit_code", 1 if kind == "refusal" else 0) if not is_refused_field else 0,
        "dress": dress,
        "warning": _WARNING,
    }


def _rows(recording: Recording, *, has_header: bool) -> list[str | dict[str, str]]:
    """Return what was printed by column, and as it is what is no row."""
    names = [_ALIASES.get(name, name) for name in recording["query"]]
    first, rest = recording["lines"][:1], recording["lines"][1:]
    if "noheader" in recording["format"].split(","):
        first, rest = [", ".join(recording["query"])], recording["lines"]
    rows: list[str | dict[str, str]] = []
    count = 0
    for line in rest:
        cells = line.split(", ")
        if len(cells) != len(names):
            rows.append(line)
            continue
        rows.append({"index": str(count), **dict(zip(names, cells, strict=True))})
        count += 1
    head = {"index": "index", **dict(zip(names, first[0].split(", "), strict=True))}
    return [head, *rows] if has_header else rows


def wrongs(recording: Recording, folder: Path, dress: str = "as it was") -> list[str]:
    """Return what our readers make of a recording that is not so; nothing where all of it is right."""
    with machine(recording, folder, dress):
        sampled, facts = _sampled(), probe._driver()
    if recording["kind"] == "query":
        return _wrong_samples(recording, sampled) + _wrong_facts(recording, facts)
    if recording["kind"] == "table":
        return _wrong_table(recording, facts)
    if recording.get("query"):
        return [] if len(facts.get("gpus") or []) == 1 else ["a field that it does not know hides the card"]
    return _wrong_refusal(recording, sampled, facts)


def _sampled() -> dict[str, Any]:
    try:
        rows = SAMPLER["smi_rows"]()
    except (OSError, subprocess.SubprocessError):
        rows = []
    facts: dict[str, Any] = {"samples": 0, "gpus": {}}
    SAMPLER["add"](facts, rows, None, None)
    found: dict[str, Any] = facts["gpus"]
    return found


def _wrong_samples(recording: Recording, sampled: Mapping[str, Any]) -> list[str]:
    wanted = recording["gpus"]
    if sorted(sampled, key=str) != sorted(map(str, range(len(wanted)))):
        return [f"sampled cards: {sorted(sampled)}, recorded: {len(wanted)}"]
    wrong = []
    for index, gpu in enumerate(wanted):
        read = sampled[str(index)]
        # A reader that knows no figure says none: neither 0 nor a name in its place.
        pairs = (("used", "peak_mib"), ("total", "total_mib"), ("work", "work_peak"))
        wrong += [
            f"sampled {key} of {index}: {read.get(ours)}, recorded: {gpu.get(key)}"
            for key, ours in pairs
            if read.get(ours) != gpu.get(key)
        ]
        if "name" in gpu and read["name"] != gpu["name"]:
            wrong.append(f"sampled name of {index}: {read['name']}")
    return wrong


def _wrong_facts(recording: Recording, facts: Mapping[str, Any]) -> list[str]:
    found, wanted = facts.get("gpus") or [], recording["gpus"]
    if len(found) != len(wanted):
        return [f"checked cards: {len(found)}, recorded: {len(wanted)}"]
    wrong = []
    for index, (read, gpu) in enumerate(zip(found, wanted, strict=True)):
        said = {
            "used": mib(read.get("memory.used")),
            "total": mib(read.get("memory.total")),
            "driver": version_of(read.get("driver_version")),
        }
        truth = {"used": gpu.get("used"), "total": gpu.get("total"), "driver": version_of(gpu.get("driver"))}
        wrong += [
            f"checked {key} of {index}: {said[key]}, recorded: {truth[key]}" for key in truth if said[key] != truth[key]
        ]
        if "name" in gpu and read.get("name") != gpu["name"]:
            wrong.append(f"checked name of {index}: {read.get('name')}")
    return wrong


def _wrong_table(recording: Recording, facts: Mapping[str, Any]) -> list[str]:
    said, truth = version_of(facts.get("cuda")), version_of(recording["cuda"])
    wrong = [f"CUDA {said}, recorded: {truth}"] if said != truth else []
    sentence = _check(facts).sentence
    if recording["driver"] and not sentence.startswith("Driver "):
        wrong.append(f"a driver that answers is not heard: {sentence}")
    return wrong


def _wrong_refusal(recording: Recording, sampled: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    check = _check(facts)
    wrong = [f"sampled cards: {sorted(sampled)}"] if sampled else []
    if check.status is not CheckStatus.FAILED:
        wrong.append(f"a machine that refuses passes: {check.sentence}")
    first = " ".join(recording["lines"][0].split()).rstrip(" .")
    if not facts.get("is_missing") and first[:120] not in check.sentence:
        wrong.append(f"its words are not told: {check.sentence}")
    return wrong


def _check(facts: Mapping[str, Any]) -> Check:
    """Return the check on the driver, where torch says nothing."""
    return probe_gpu._driver(facts, {})
