"""How many GPUs the run takes: what starts it says so, else its configuration, else the documentation."""

from __future__ import annotations

from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.launch_commands import launch_commands
from gpu_lol_action.analysis.settings import as_number, look_up_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Finding

_KEYS = ("num_processes", "nproc_per_node", "num_gpus", "n_gpus", "gpus_per_node", "num_gpus_per_node",
         "n_gpus_per_node", "gpus", "devices", "ngpu", "ngpus", "tensor_parallel_size")  # fmt: skip
# These count processes of the whole cluster, not of one machine.
_OVER_ALL_MACHINES = frozenset({"num_processes"})


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return counts per machine, the surest first; none where nothing says any (then one is assumed)."""
    if run is None:
        return []
    found: list[Finding] = []
    if run.command is not None and run.command.processes is not None:
        count = run.command.processes
        why = f"`{run.shown}` starts {count} {'process' if count == 1 else 'processes'} per machine"
        found.append(Finding("hardware.gpu_count", str(count), why, Confidence.HIGH, run.evidence))
        if run.command.nodes > 1:
            why = f"`{run.shown}` is started on {run.command.nodes} machines"
            found.append(Finding("hardware.num_nodes", str(run.command.nodes), why, Confidence.HIGH, run.evidence))
    found = found or _configured(checkout, run)
    if not found and run.command is not None:
        found += _other_commands(checkout, run)
    return found


def _configured(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the count that the run's options, configuration or program set."""
    scope = scope_of(checkout, run)
    number = look_up_number(scope, _KEYS, 1, 64)
    if (
        number is not None
        and number.setting.key == "num_processes"
        and number.evidence.path.endswith((".py", ".ipynb"))
    ):
        number = look_up_number(scope, _KEYS[1:], 1, 64)  # in a program it counts processes of any kind
    if number is None or number.confidence is Confidence.LOW:
        return []
    count = as_number(number.text) or 1
    machines = look_up_number(scope, ("num_machines", "nnodes", "num_nodes"), 2, 64)
    if machines is not None and number.setting.key in _OVER_ALL_MACHINES:
        count = max(1, count // (as_number(machines.text) or 1))
    why = f"`{number.setting.key}` is {number.text}"
    return [Finding("hardware.gpu_count", str(count), why, Confidence.MEDIUM, number.evidence)]


def _other_commands(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the count of another documented command of the same program: possible, so a hint only."""
    for command in launch_commands(checkout):
        if run.command and command.target == run.command.target and command.processes and command.nodes == 1:
            why = f"`{command.tool}` can start {command.processes} processes of the same program"
            return [
                Finding("hardware.gpu_count_possible", str(command.processes), why, Confidence.LOW, command.evidence)
            ]
    return []
