"""GPUs and machines that a file asks a scheduler or a cloud for: Slurm, PBS, LSF, SkyPilot, Kubernetes, containers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.commands.azure_jobs import azure_request, is_azure_job
from gpu_lol_action.analysis.commands.determined_jobs import is_determined, machines_of_slots, slots_of
from gpu_lol_action.analysis.commands.mosaic_jobs import is_mosaic_job, mosaic_request
from gpu_lol_action.analysis.commands.sky_tasks import sky_tasks_of
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.told_numbers import as_count
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_OF_A_LAUNCHER = regex(r"GPUS?(?:_PER_NODE)?$|^N(?:UM)?_?(?:PROC|GPU)", re.IGNORECASE)
MAX_HEAD = 20_000  # characters: requests stand at the top of a script
_PER_NODE = regex(
    r"--gres[= ]\"?gpu:(?:[A-Za-z][\w.-]*:)?(\d{1,3})|--gpus-per-node[= ](?:[A-Za-z][\w.-]*:)?(\d{1,3})"
    r"|ngpus=(\d{1,3})|-gpu\s+\"?num=(\d{1,3})|-l\s\S{0,60}?\bgpus?=(\d{1,3})"
)
_OVER_ALL = regex(r"(?:--gpus|-G)[= ](?:[A-Za-z][\w.-]*:)?(\d{1,3})\b")
_NODES = regex(r"(?:--nodes|-N)[= ](\d{1,3})\b")
_PER_TASK = regex(r"--gpus-per-task[= ](?:[A-Za-z][\w.-]*:)?(\d{1,3})")
_TASKS_PER_NODE = regex(r"--ntasks-per-node[= ](\d{1,3})")
_TASKS = regex(r"(?:--ntasks|(?<!\S)-n)[= ](\d{1,3})\b")
_NODES_OF_TASK = regex(r"^num_nodes:\s*(\d{1,3})", re.MULTILINE)
_KUBERNETES = regex(r"nvidia\.com/gpu:\s*[\"']?(\d{1,2})")
# dstack: a name, a size and a count behind one another (`MI300X:8`, `A100:80GB:2`, `24GB:2`), or a count alone, each as a range.
_DSTACK = regex(
    r"^[ \t]+gpu:[ \t]*[\"']?(?:[A-Za-z0-9][\w.,]*:){0,3}(\d{1,2})(?:\.\.\d{0,2})?[\"']?[ \t]*$", re.MULTILINE
)
_DSTACK_NODES = regex(r"^nodes:[ \t]*(\d{1,3})", re.MULTILINE)
_COMPOSE = regex(r"^[ \t]+count:[ \t]*(\d{1,2})\s*$", re.MULTILINE)


@record(frozen=True, slots=True)
class MachineRequest:
    """What is asked for; None where nothing is said."""

    gpus: int | None = None
    nodes: int | None = None


def machine_request(source: Source) -> MachineRequest:
    """Return what a script or task file asks for at its head."""
    text = source.text[:MAX_HEAD]
    if source.form is Form.SHELL:
        head = "\n".join(
            line for line in text.split("\n") if regex(r"\s*#\s?(?:SBATCH\b|PBS\b|BSUB\b|OAR\b|\$\s)").match(line)
        )
        return _scheduled(head) if head else MachineRequest()
    if source.form is Form.YAML:
        if asked := [task for task in sky_tasks_of(source) if task.choice is not None]:
            return MachineRequest((asked[0].choice or ("", 1))[1], asked[0].nodes)
        if is_azure_job(text):
            return MachineRequest(*azure_request(text))
        if is_determined(source.text):
            return MachineRequest(*machines_of_slots(slots_of(source.text)))
        if is_mosaic_job(text):
            return MachineRequest(*mosaic_request(text))
        found = _KUBERNETES.search(text)
        if found is None and "capabilities" in text:
            found = _COMPOSE.search(text)
        nodes = _NODES_OF_TASK.search(text)
        if found is None and source.name.endswith((".dstack.yml", ".dstack.yaml")):
            found, nodes = _DSTACK.search(text), _DSTACK_NODES.search(text)
        return MachineRequest(as_count(found[1]) if found else None, as_count(nodes[1]) if nodes else None)
    return MachineRequest()


def request_of_words(words: Sequence[str]) -> MachineRequest:
    """Return what the options of ``srun``, ``sbatch`` or ``docker run`` ask for."""
    if not words:
        return MachineRequest()
    text = " ".join(words)
    if words[0].rsplit("/", 1)[-1] in {"srun", "sbatch", "salloc"}:
        return _scheduled(text)
    if found := regex(r"--gpus[= ]\"?'?\"?device=(\d+(?:,\d+)*)").search(text):
        return MachineRequest(len(found[1].split(",")))
    if "docker" in words[0] and (found := regex(r"--gpus[= ](\d{1,2})\b").search(text)):
        return MachineRequest(as_count(found[1]))
    return MachineRequest()


def handed_on(own: Mapping[str, str], parameters: Sequence[str]) -> MachineRequest:
    """Return the GPUs with which a launcher of the repository's own starts the script that it is handed (``dist.sh 8 train.sh``)."""
    said = [word for name, word in own.items() if _OF_A_LAUNCHER.search(name)]
    count = next((number for word in [*said, *parameters[:3]] if (number := as_count(word)) is not None), None)
    return MachineRequest(gpus=count)


def _scheduled(text: str) -> MachineRequest:
    nodes = _NODES.search(text)
    machines = as_count(nodes[1]) if nodes else None
    if found := _PER_NODE.search(text):
        return MachineRequest(as_count(next(group for group in found.groups() if group)), machines)
    if found := _PER_TASK.search(text):
        each, tasks = as_count(found[1]) or 1, _TASKS_PER_NODE.search(text)
        if tasks is None and (whole := _TASKS.search(text)):
            return MachineRequest(max(1, each * (as_count(whole[1]) or 1) // (machines or 1)), machines)
        return MachineRequest(each * ((as_count(tasks[1]) if tasks else 1) or 1), machines)
    if found := _OVER_ALL.search(text):
        total = as_count(found[1])
        return MachineRequest(max(1, total // (machines or 1)) if total else None, machines)
    return MachineRequest(None, machines)
