"""Commands within another: what a site's own program that submits a job is handed behind ``--``, and what a kept text joins.

``python submit.py --cluster a --gpus 8 -- accelerate launch --num_processes 8 train.py --lr 1e-5`` starts ``accelerate``; the
submitter's options are the machine's, and those behind it the training's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.command_lines.launch_help import starts_nothing
from gpu_lol_action.analysis.command_lines.launch_tools import COUNT_FLAGS, TOOLS, tool_of, without_runners
from gpu_lol_action.analysis.command_lines.torchx_jobs import torchx_command
from gpu_lol_action.analysis.commands.machine_requests import MachineRequest
from gpu_lol_action.analysis.commands.speech_recipes import recipe_command
from gpu_lol_action.analysis.commands.stool_jobs import stool_job
from gpu_lol_action.analysis.formats.told_numbers import as_count

_GPUS = ("--gpus", "--num_gpus", "--num-gpus", "--gpus-per-node", "--gpus_per_node", "--n_gpus")
_NODES = ("--num_nodes", "--num-nodes", "--nnodes", "--nodes", "--replicas")


def wrapped(words: Sequence[str]) -> tuple[MachineRequest, list[str]] | None:
    """Return what a submitter asks for and the command that it is handed; None where a command is what it seems.

    What stands behind the dashes has to be a program that we know a launcher or an interpreter of; of several joined by
    ``&&`` the last does the work.
    """
    if (recipe := recipe_command(words)) is not None:
        return recipe
    if (job := torchx_command(words)) is not None:
        return MachineRequest(), job
    if (launched := stool_job(words)) is not None:
        return launched
    if "--" not in words or tool_of(words)[0] != "python":
        return None
    place = list(words).index("--")
    before, behind = words[:place], list(words[place + 1 :])
    while (joined := next((i for i, word in enumerate(behind) if word in {"&&", ";"}), None)) is not None:
        behind = behind[joined + 1 :]
    _, _, inner = without_runners(behind)
    if not inner:
        return None
    tool, rest = tool_of(inner)
    is_work = tool in COUNT_FLAGS or tool in TOOLS or (tool == "python" and any(w.endswith(".py") for w in rest[:3]))
    return (MachineRequest(_said(before, _GPUS), _said(before, _NODES)), inner) if is_work else None


_JOINS = frozenset({"&&", "||", ";"})


def working_part(words: list[str], scripts: Mapping[str, str]) -> list[str]:
    """Return, of commands that a variable or a shell's text joins (``mkdir -p out && torchrun train.py``), the last that starts something."""
    if not any(word in _JOINS or word.endswith(";") for word in words):
        return words
    parts: list[list[str]] = [[]]
    for word in words:
        if word not in _JOINS:
            parts[-1].append(word.removesuffix(";"))
        if word in _JOINS or word.endswith(";"):
            parts.append([])
    for part in reversed(parts):
        _, _, inner = without_runners(part, scripts)
        if inner and not starts_nothing(inner) and tool_of(inner)[0] is not None:
            return inner
    return words


def _said(words: Sequence[str], names: Sequence[str]) -> int | None:
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return as_count(value if equals else next(iter(words[index + 1 : index + 2]), None))
    return None
