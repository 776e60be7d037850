"""What a run's environment holds of what its program asks it for: set by its command, its script, its container or a file of variables."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.command_lines.container_words import is_secret
from gpu_lol_action.analysis.commands.container_lines import given_variables
from gpu_lol_action.analysis.commands.service_variables import given_by_service
from gpu_lol_action.analysis.commands.sourced_scripts import variables_beside
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.programs.asked_environment import asked_as, reads_variables, variable_files
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.domain.finding import Evidence


def of_environment(checkout: Checkout, run: Run) -> Iterator[Setting]:
    """Yield what variables in front of the command, of the image that starts it, or of a file that its program reads are set to, of those that it asks for."""
    if run.script is None:
        return
    command = run.command
    given: dict[str, tuple[str, Evidence]] = {}
    reading = [source for source in import_closure(checkout, run.script) if reads_variables(source)]
    if reading:
        names = dict.fromkeys(name for source in reading for name in variable_files(source))
        given = variables_beside(checkout, run.script, names)
    if command is not None:
        place = checkout.find(run.evidence.path)
        service = given_by_service(place, run.evidence.line) if place is not None else {}
        said = {**service, **command.environment, **given_variables(command.text)}
        given |= {name: (value, run.evidence) for name, value in said.items()}
    asking = import_closure(checkout, run.script) if given else ()
    for name, (value, where) in given.items():
        if not is_secret(name, value) and (asked := asked_as(name, asking)) is not None:
            yield Setting(fold_key(asked), fold_key(asked), value, where)
