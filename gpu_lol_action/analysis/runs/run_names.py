"""Names of runs as profiles: small letters, digits and dashes, at most 32, unlike each other, told from what is started."""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

MAX_NAME = 32
_PLAIN = frozenset({"main", "run", "__main__", "app", "cli", "launch", "start"})


def run_names(runs: Iterable[Run]) -> tuple[str, ...]:
    """Return a name for each run, in their order."""
    taken: set[str] = set()
    names: list[str] = []
    for run in runs:
        name = next((wish for wish in _wishes(run) if wish not in taken), None)
        if name is None:
            base = next(iter(_wishes(run)))[: MAX_NAME - 3]
            name = next(f"{base}-{number}" for number in range(2, 100) if f"{base}-{number}" not in taken)
        taken.add(name)
        names.append(name)
    return tuple(names)


def _wishes(run: Run) -> list[str]:
    """Return names for one run, the shortest that says enough first."""
    program = _slug(_program(run))
    folder = _slug((run.script.folder if run.script else run.evidence.path.rpartition("/")[0]).rsplit("/", 1)[-1])
    config = _slug(regex(r"\.\w+$").sub("", run.configs[0].path.rsplit("/", 1)[-1])) if run.configs else ""
    script = _slug(regex(r"\.\w+$").sub("", run.evidence.path.rsplit("/", 1)[-1])) if run.command else ""
    wishes = [
        f"{folder}-{program}" if program in _PLAIN and folder else program,
        f"{program}-{config}",
        f"{folder}-{program}",
    ]
    if run.command is not None and run.command.processes:
        wishes.append(f"{program}-{run.command.processes}gpu")
    wishes.append(f"{program}-{script}")
    cut = [wish.strip("-")[:MAX_NAME].strip("-") for wish in wishes]
    return [wish for wish in dict.fromkeys(cut) if wish] or ["run"]


def _program(run: Run) -> str:
    if run.script is not None:
        return regex(r"\.\w+$").sub("", run.script.path.rsplit("/", 1)[-1])
    if run.command is not None:
        if run.command.is_tool and run.configs:
            return regex(r"\.\w+$").sub("", run.configs[0].path.rsplit("/", 1)[-1])
        return regex(r"\.py$").sub("", run.command.target.rsplit("/", 1)[-1].rsplit(" ", 1)[-1]).rsplit(".", 1)[-1]
    return regex(r"\.\w+$").sub("", run.evidence.path.rsplit("/", 1)[-1])


def _slug(text: str) -> str:
    return regex(r"[^a-z0-9]+").sub("-", text.lower()).strip("-")
