"""What a command leads to: a script, a target of ``make``, or a file that describes a job for whoever runs it (``sky launch task.yaml``)."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.command_lines.launch_tools import SHELLS, SUBMITTERS
from gpu_lol_action.domain.patterns import regex

_SUBMITS = regex(rf"(?:{'|'.join(SUBMITTERS)}) ")


def followed(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return the script or ``make:target`` that a command leads to, with what is handed to it; None for other commands."""
    first = words[0].rsplit("/", 1)[-1] if words else ""
    if first in {"make", "just"}:
        targets = [word for word in words[1:] if regex(r"[A-Za-z][\w.-]*").fullmatch(word)]
        return (f"make:{targets[0]}", []) if targets else None
    if first in SHELLS:
        rest = list(words[1:])
        while rest and rest[0].startswith("-"):
            rest.pop(0)
        return (
            (rest[0], rest[1:])
            if rest and regex(r"\.(?:sh|bash|slurm|sbatch|job|pbs)$|^[\w./-]+$").search(rest[0])
            else None
        )
    if words and regex(r"^[\w.$/{}-]+\.(?:sh|bash|slurm|sbatch)$").search(words[0]):
        return words[0], list(words[1:])
    if _SUBMITS.match(" ".join(words[:5])):
        return next(((word, []) for word in words[2:] if regex(r"[\w./-]+\.ya?ml").fullmatch(word)), None)
    return None
