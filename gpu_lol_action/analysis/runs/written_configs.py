"""Configurations that a launch script writes before it starts what reads them: ``cat > ds.json <<EOF`` with DeepSpeed's sections."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import json_settings
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

MAX_TEXTS = 8
MAX_LINES = 400
_FILE = r"[\"']?([\w./${}-]{1,120})[\"']?"
_END = r"<<-?[ ]?[\"']?(\w{1,30})[\"']?"
_WRITES = (
    regex(rf"\bcat\s{{0,4}}>\s{{0,4}}{_FILE}\s{{0,4}}{_END}"),
    regex(rf"\bcat\s{{0,4}}{_END}\s{{0,4}}>\s{{0,4}}{_FILE}"),
)
# A number that the shell fills in: what it will be is not known here.
_OPEN = regex(r"(?<=[:\[,])(\s{0,20})\$(?:\w{1,60}|\{[^{}\n]{1,80}\})(?=\s{0,20}[,}\]\n])")
_OF_DEEPSPEED = '"zero_optimization"'


def written_settings(checkout: Checkout, run: Run) -> tuple[Setting, ...]:
    """Return the settings of the first DeepSpeed configuration that the run's own launch script writes; a later one is an alternative."""
    source = checkout.find(run.evidence.path) if run.command is not None else None
    if source is None or source.code is not None or not source.mentions("<<") or not source.mentions(_OF_DEEPSPEED):
        return ()
    return _written(source)


@remembered
def _written(source: Source) -> tuple[Setting, ...]:
    for first, text in _texts(source.text.split("\n")):
        if _OF_DEEPSPEED in text and (found := json_settings(_OPEN.sub(r"\1null", text), source.path, first)):
            return found
    return ()


def _texts(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the first texts that a script writes into files, each with the number of its first line."""
    heads = (number for number, line in enumerate(lines) if "<<" in line and any(p.search(line) for p in _WRITES))
    for number in itertools.islice(heads, MAX_TEXTS):
        end = re.search(_END, lines[number])
        inner = lines[number + 1 : number + 1 + MAX_LINES]
        stop = next((at for at, each in enumerate(inner) if end is not None and each.strip() == end[1]), None)
        if stop is not None:
            yield number + 2, "\n".join(inner[:stop])
