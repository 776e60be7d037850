"""Experiments of Determined: the program that a configuration starts, and how many GPUs each trial takes.

Format: the reference of the experiment configuration (``entrypoint``, ``hyperparameters``, ``resources.slots_per_trial``). A trial's class
stands as ``module:Class``, alone or behind ``--trial`` of a launcher of Determined's; else the words behind the launcher are a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.patterns import regex

_KEYS = (
    regex(r"^entrypoint:", re.MULTILINE),
    regex(r"^(?:searcher|hyperparameters|records_per_epoch|max_restarts):", re.MULTILINE),
)
_ENTRY = regex(r"entrypoint:[ \t]*(.*)$")
_SLOTS = regex(r"^[ \t]+slots_per_trial:[ \t]*(\d{1,3})\b", re.MULTILINE)
_TRIAL = regex(r"(?:--trial[ =])?([A-Za-z_][\w.]{0,80}):[A-Za-z_]\w{0,80}$")
_LAUNCHER = regex(
    r"python3?\s+-m\s+determined\.launch\.\w{1,30}\s+(?:--[\w-]{1,30}(?:=\S{1,60}|\s+\d{1,5})?\s+)*(?:--\s+)?"
)
USUAL_NODE = 8
_BLOCK = frozenset({"", "|", ">", "|-", ">-"})


def is_determined(text: str) -> bool:
    """Whether a YAML file configures an experiment of Determined."""
    return all(key.search(text) for key in _KEYS)


def slots_of(text: str) -> int | None:
    """Return how many GPUs a trial takes; None where nothing says it (Determined takes one)."""
    found = _SLOTS.search(text)
    return int(found[1]) or None if found else None


def machines_of_slots(slots: int | None) -> tuple[int | None, int | None]:
    """Return GPUs per machine and machines: Determined fills machines of eight where a trial takes more."""
    if slots is None or slots <= USUAL_NODE:
        return slots, None
    return USUAL_NODE, -(-slots // USUAL_NODE)


def determined_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield the command that an experiment starts, with its line, the file as its configuration, and an empty section."""
    start, parts = 0, list[str]()
    for number, line in enumerate(source.text.split("\n"), 1):
        if start and line.strip() and not line[0].isspace() and not line.startswith("- "):
            break
        if not start and (found := _ENTRY.match(line)) is not None:
            said = found[1].strip()
            start, parts = number, [] if said in _BLOCK else [said.strip("\"'")]
        elif start and line.strip() and not line.lstrip().startswith("#"):
            parts.append(line.strip().removeprefix("- ").strip("\"'"))
    text = " ".join(parts)
    trial = _TRIAL.search(text)
    if trial is not None:
        yield start, f"python {trial[1].replace('.', '/')}.py --config {source.name}", ""
    elif text:
        yield start, _LAUNCHER.sub("", text), ""
