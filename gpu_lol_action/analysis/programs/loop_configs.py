"""What Ray Train hands the function that each of its workers runs: ``TorchTrainer(train, train_loop_config={"batch_size": 96})``."""

from __future__ import annotations

import itertools

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.local_values import Argument, parameters_of
from gpu_lol_action.analysis.python.tree import LOOP_CONFIG
from gpu_lol_action.analysis.python.values import Value

MAX_CALLS = 2000
_FUNCTIONS = ("train_loop_per_worker",)


def loop_entry(source: Source, function: str, name: str, key: str) -> Argument | None:
    """Return what a worker's function finds under a key of its only parameter; None where no trainer, or several, hand it one."""
    if source.code is None or not source.mentions(LOOP_CONFIG) or parameters_of(source, function)[:1] != (name,):
        return None
    found = []
    for call in itertools.islice(source.code.calls, MAX_CALLS):
        given = call.keyword(LOOP_CONFIG)
        started = call.arguments[0] if call.arguments else call.keyword(*_FUNCTIONS)
        if given is not None and started is not None and started.path == function:
            table = source.code.names().tables.get(given.path or LOOP_CONFIG, {})
            found.append(Argument(table.get(key, Value(None)), source, call.line, call.owner))
    return found[0] if len(found) == 1 else None
