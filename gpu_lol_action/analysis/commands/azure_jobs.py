"""Jobs of Azure Machine Learning: the command that a job file starts, and how many processes on how many machines.

Format: the reference of the command job's YAML (``command``, ``environment``, ``compute``, ``distribution``, ``resources``). A job
without ``distribution`` is one process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.patterns import regex

_KEYS = (regex(r"^command:", re.MULTILINE), regex(r"^(?:environment|compute|code):", re.MULTILINE))
_SCHEMA = "azuremlschemas"
_COMMAND = regex(r"command:[ \t]*(.*)$")
_BLOCK = regex(r"([|>])[-+]?[ \t]*$")
_PROCESSES = regex(r"^[ \t]+process_count_per_instance:[ \t]*[\"']?(\d{1,2})\b", re.MULTILINE)
_INSTANCES = regex(r"^[ \t]+instance_count:[ \t]*[\"']?(\d{1,3})\b", re.MULTILINE)
_INPUT = regex(r"\$\{\{\s*inputs\.(\w{1,60})\s*\}\}")
_GIVEN = regex(r"^[ \t]+(\w{1,60}):[ \t]+([^\s#{\[][^#\n]{0,200})", re.MULTILINE)


def is_azure_job(text: str) -> bool:
    """Whether a YAML file is a job of Azure Machine Learning."""
    return _SCHEMA in text and all(key.search(text) for key in _KEYS)


def azure_request(text: str) -> tuple[int | None, int | None]:
    """Return the processes per machine and the machines that a job asks for; None where it says nothing."""
    processes, instances = _PROCESSES.search(text), _INSTANCES.search(text)
    return int(processes[1]) if processes else None, int(instances[1]) if instances else None


def azure_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of a job's command with its inputs put into it, each with its number and an empty section."""
    inputs = dict(_GIVEN.findall(source.text))
    start, parts, folds = 0, [], False
    for number, line in enumerate(source.text.split("\n"), 1):
        if start and line.strip() and not line[0].isspace():
            break
        if not start and (found := _COMMAND.match(line)) is not None:
            block = _BLOCK.match(found[1])
            start, folds = number, block is None or block[1] == ">"
            parts = [] if block else [(number, found[1].strip().strip("\"'"))]
        elif start and line.strip():
            parts.append((number, line.strip()))
    put = [(number, _INPUT.sub(lambda found: inputs.get(found[1], found[0]), text)) for number, text in parts]
    if folds and put:
        yield put[0][0], " ".join(text for _, text in put), ""
    else:
        yield from ((number, text, "") for number, text in put)
