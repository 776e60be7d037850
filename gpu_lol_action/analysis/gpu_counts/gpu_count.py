"""How many GPUs the run takes: what starts it says so, else its configuration or program, else the documentation."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from gpu_lol_action.analysis.commands.hosting_files import Wish, counted
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.gpu_counts.asserted_worlds import asserted_world
from gpu_lol_action.analysis.gpu_counts.gpu_counts_beside import counts_beside, left_open
from gpu_lol_action.analysis.gpu_counts.hugectr_cards import listed_for_solver
from gpu_lol_action.analysis.gpu_counts.listed_cards import (
    LISTS,
    is_listed,
    listed_by_command,
    listed_in_configuration,
    listed_in_text,
)
from gpu_lol_action.analysis.gpu_counts.noted_counts import noted_count, remarked_count
from gpu_lol_action.analysis.gpu_counts.parallel_layout import assigned_layout, called_layout, laid_out
from gpu_lol_action.analysis.gpu_counts.placed_devices import placed_on
from gpu_lol_action.analysis.gpu_counts.ray_workers import ray_cards
from gpu_lol_action.analysis.gpu_counts.rl_cards import cards_of
from gpu_lol_action.analysis.gpu_counts.rllib_cards import rllib_cards
from gpu_lol_action.analysis.gpu_counts.spread_layers import shown_on
from gpu_lol_action.analysis.gpu_counts.started_processes import BY_ROLES, started_processes
from gpu_lol_action.analysis.gpu_counts.tpu_hosts import tpu_host
from gpu_lol_action.analysis.models.model_parallel import cut_over, machines_for, whole_layout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.mpi_workers import are_on_cores
from gpu_lol_action.analysis.runs.other_launches import is_left_to_ask, is_of_another_configuration
from gpu_lol_action.analysis.runs.rented_machines import rented_wish
from gpu_lol_action.analysis.runs.settings import Found, as_number, look_up_number, scope_of
from gpu_lol_action.analysis.stated.declared_hardware import hosted_wish
from gpu_lol_action.analysis.stated.documented_counts import asked_of_one, documented_count, said_to_train, tabled_count
from gpu_lol_action.analysis.training.ultralytics_runs import trained_by_ultralytics
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_FIELD = "hardware.gpu_count"
USUAL_NODE = 8  # cards of a machine that several of are asked for
_KEYS = ("num_processes", "nproc_per_node", "num_process_per_node", "num_processes_per_node", "num_gpus", "n_gpus", "gpus_per_node", "num_gpus_per_node",
         "n_gpus_per_node", "gpus", "devices", "ngpu", "ngpus", "n_gpu", "gpu_num", "num_gpu", "gpus_num", "gpu_count", "ngpus_per_node", "num_devices", "nr_gpu", "nr_gpus", "number_of_gpus", "ray_num_workers",
         "tensor_parallel_size")  # fmt: skip
_OF_WORKERS = regex(r"preprocessing\.num_process")  # on cores, of what reads the data
_WORLDS = ("world_size", "distributed_world_size")  # processes of all machines together
_SERVED = ("tp", "tp_size", "tensor_parallel_count")  # a served model is divided over so many
_STAGES = ("pipeline_parallel_size",)
# JAX lays devices out as a mesh: their number is the product (`local_mesh_config=(1, 8)`).
_MESHES = ("local_mesh_config", "mesh_shape", "ici_mesh_shape", "device_mesh_shape", "mesh_dims")
# These count processes of the whole cluster, not of one machine.
_OVER_ALL_MACHINES = frozenset({"num_processes"})
# What spreads over all GPUs that it sees, or over those that a launcher gives it.
_SPREADS = frozenset({
    "init_process_group", "DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "fully_shard",
    "Accelerator", "Fabric", "device_count", "init_distributed", "init_distributed_mode", "init_device_mesh", "GPipe",
    "ddp_init_group", "DistributedOptimizer", "DistributedGradientTape",  # SpeechBrain's, Horovod's
})  # fmt: skip
# What takes all GPUs of the machine without being told.
_TAKES_ALL = frozenset({"DataParallel", "pmap", "MirroredStrategy", "MultiWorkerMirroredStrategy", "multi_gpu_model", "local_device_count", "spawn",
                        "TPUStrategy", "shard_map"})  # fmt: skip
_DIVIDES = frozenset({"FullyShardedDataParallel", "FSDP", "fully_shard", "init_device_mesh", "parallelize_module"})
_TRAINERS = regex(r"\w*Trainer|TrainingArguments|\w*TrainingArguments|deepspeed\.initialize")
# The last words of all that spreads, for a first look at a program's calls.
_SPREADING_WORDS = ("*Trainer", "*TrainingArguments", "initialize", *sorted(_SPREADS | _TAKES_ALL))
_NAMED = regex(
    r"(?:^|[_.-])(?:(\d{1,2})_?gpus?|(\d{1,2})x[ahvb]\d{2,3}|x(\d{1,2})|(\d{1,2})xb\d+|gpus?(\d{1,2}))(?=$|[_.-])",
    re.IGNORECASE,
)


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return counts per machine, the surest first; none where nothing says any (then one is assumed)."""
    if run is None:
        return _wished(rented_wish(checkout, None))
    command, found = run.command, list[Finding]()
    if command is not None and command.nodes > 1:
        why = f"`{run.shown}` is started on {command.nodes} machines"
        found.append(Finding("hardware.num_nodes", str(command.nodes), why, Confidence.HIGH, run.evidence))
    if with_engines := cards_of(checkout, run):
        return [*with_engines, *found]
    is_on_cores = command is not None and command.tool == "mpirun" and are_on_cores(_sources(checkout, run))
    if command is not None and command.processes is not None and not is_on_cores:
        count = command.processes
        why = f"`{run.shown}` starts {count} {'process' if count == 1 else 'processes'} per machine"
        # Accelerate gives each process a whole model where nothing is trained: samples are divided, weights are not.
        if count > 1 and command.tool == "accelerate" and run.behavior is Behavior.INFERS:
            copies = f"`{run.shown}` starts {count} processes, each with the whole model"
            found.append(Finding("hardware.replicas", str(count), copies, Confidence.HIGH, run.evidence))
        more = machines_for(checkout, run, count)
        found = [more] if more is not None and int(more.value) > command.nodes else found
        return [Finding(_FIELD, str(count), why, Confidence.HIGH, run.evidence), *found]
    said = (
        whole_layout(checkout, run)
        or laid_out(checkout, run)
        or called_layout(checkout, run)
        or assigned_layout(checkout, run)
        or ray_cards(checkout, run)
        or rllib_cards(checkout, run)
        or listed_by_command(run)
        or listed_for_solver(run)
        or ([] if _is_said(run) else listed_in_configuration(checkout, run))
        or _configured(checkout, run)
        or _counted_as_world(checkout, run)
        or (listed_in_text(checkout, run) if trained_by_ultralytics(run) or _spreads(checkout, run) else [])
        or started_processes(checkout, run)
        or noted_count(checkout, run)
        or _meshed(checkout, run)
        or _asserted(checkout, run)
    )
    said = said or _named(run) or _hosted(checkout, run) or remarked_count(checkout, run) or _documented(checkout, run)
    said = said or cut_over(checkout, run) or shown_on(checkout, run) or _of_others(checkout, run)
    is_free = not said and run.behavior is Behavior.TRAINS
    said = said or (counts_beside(checkout, run) if is_free and _spreads(checkout, run) else [])
    said = said or (left_open(checkout, run) if is_free else []) or asked_of_one(checkout, run) or placed_on(run)
    return [*(said or tpu_host(checkout, run)), *found]


def _hosted(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the count that a host of models is asked for."""
    return _wished(hosted_wish(checkout, run))


def _wished(wish: Wish | None) -> list[Finding]:
    if wish is None or wish.count is None:
        return []
    count, where = wish.count
    return [Finding(_FIELD, str(count), counted(wish, count), Confidence.MEDIUM, where)]


def _configured(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the count that the run's options, configuration or program set."""
    scope = scope_of(checkout, run)
    # A training's model that is divided over one card may be repeated over any number of them.
    is_repeated = run.behavior is Behavior.TRAINS
    number = look_up_number(scope, _KEYS[:-1] if is_repeated else _KEYS, 1, 64)
    number = number or (look_up_number(scope, _KEYS[-1:], 2, 64) if is_repeated else None)
    served = look_up_number(scope, _SERVED, 1, 64) if run.behavior is Behavior.INFERS else None
    number = served if served is not None and served.confidence is Confidence.HIGH else number
    is_in_code = number is not None and number.evidence.path.endswith((".py", ".ipynb"))
    if number is not None and is_in_code and number.setting.key == "num_processes":
        number = look_up_number(
            scope, _KEYS[1:-1] if is_repeated else _KEYS[1:], 1, 64
        )  # in a program it counts processes of any kind
    if (
        number is None
        or number.confidence is Confidence.LOW
        or (_is_of_helper(run, number.setting.called or number.evidence) and (is_repeated or not _of_engine(number)))
        or _OF_WORKERS.search(number.setting.path)
        or _is_one_of_two(run, number)
        or is_listed(checkout, number)
    ):
        return []
    count = as_number(number.text) or 1
    machines = look_up_number(scope, ("num_machines", "nnodes", "num_nodes"), 2, 64)
    if machines is not None and number.setting.key in _OVER_ALL_MACHINES:
        count = max(1, count // (as_number(machines.text) or 1))
    why = f"`{number.setting.key}` is {number.text}"
    said = [Finding(_FIELD, str(count), why, Confidence.MEDIUM, number.evidence)]
    stages = look_up_number(scope, _STAGES, 2, 16) if number.setting.key == _KEYS[-1] and not is_repeated else None
    return _in_stages(said[0], as_number(stages.text) or 1, stages) if stages is not None else said


def _in_stages(split: Finding, stages: int, told: Found) -> list[Finding]:
    """Return the cards of a served model whose layers lie in stages as well: on one machine, else one per stage (vLLM's guide on scaling)."""
    why, cards = f"{split.why}, `{told.setting.key}` {stages}", int(split.value) * stages
    if cards <= USUAL_NODE:
        return [replace(split, value=str(cards), why=why)]
    return [split, replace(split, field="hardware.num_nodes", value=str(stages), why=why)]


def _is_one_of_two(run: Run, number: Found) -> bool:
    """Whether a 1 is what a program sets in one branch and asks for in another (``n_gpu = 1`` else ``device_count()``)."""
    code = run.script.code if run.script is not None and number.evidence.path == run.script.path else None
    if code is None or as_number(number.text) != 1 or "." in number.setting.path:
        return False
    default = code.default(number.setting.key)
    return not (default is not None and default.is_option) and bool(code.calls_named("device_count"))


def _is_said(run: Run) -> bool:
    """Whether the command itself has an option for the cards: a configuration's list then says what it would take without."""
    return any(key.rpartition(".")[2] in {*_KEYS, *LISTS} for key in run.options)


def _of_engine(number: Found) -> bool:
    """Whether a served model is divided so by what makes its engine (``LLM(tensor_parallel_size=2)``): whichever module makes it, it is what runs."""
    return number.setting.key == _KEYS[-1] and number.setting.path[:1].isupper()


def _is_of_helper(run: Run, where: Evidence) -> bool:
    """Whether a number only stands in a module that the program imports: what its loaders are given, not what is started."""
    return run.script is not None and where.path.endswith(".py") and where.path != run.script.path


def _counted_as_world(checkout: Checkout, run: Run) -> list[Finding]:
    """Return how many GPUs the command's options, or the run's own settings, count as a world; ranks that call each other are roles."""
    if run.script is not None and run.script.mentions(BY_ROLES):
        return []
    world = as_number(run.options.get("world_size", ""))
    if world is not None and "multiprocessing_distributed" in run.options:
        # PyTorch's ImageNet example and its many heirs: a world of machines, each of which starts a process per card.
        why = f"`--multiprocessing-distributed` takes all cards of each of {world} machines" if world > 1 else ""
        counts = ((_FIELD, USUAL_NODE), ("hardware.num_nodes", world)) if why else ()
        return [Finding(field, str(number), why, Confidence.MEDIUM, run.evidence) for field, number in counts]
    if world is not None and 1 < world <= 16:
        return [Finding(_FIELD, str(world), f"`--world_size` is {world}", Confidence.HIGH, run.evidence)]
    per_node = [as_number(value) for key, value in run.options.items() if key.endswith("gpus_per_node")]
    if (most := max((number for number in per_node if number and number <= 16), default=0)) > 0:
        return [Finding(_FIELD, str(most), f"`gpus_per_node` is {most}", Confidence.HIGH, run.evidence)]
    told = look_up_number(scope_of(checkout, run), _WORLDS, 2, 512)
    if told is None or told.confidence is not Confidence.HIGH or _is_of_helper(run, told.evidence):
        return []
    count = as_number(told.text) or 1
    why = f"`{told.setting.key}` is {told.text}"
    return [Finding(_FIELD, str(count if count <= 16 else USUAL_NODE), why, Confidence.MEDIUM, told.evidence)]


def _meshed(checkout: Checkout, run: Run) -> list[Finding]:
    """Return how many devices of one machine the run lays out as a mesh."""
    for confidence, settings in scope_of(checkout, run).tiers[:4]:
        for setting in settings:
            sides = regex(r"\d{1,3}").findall(setting.text) if setting.key in _MESHES else []
            count = math.prod(int(side) for side in sides)
            if len(sides) > 1 and 1 < count <= 16 and regex(r"[\s()\[\]\d,]+").fullmatch(setting.text):
                why = f"`{setting.key}` is {setting.text}"
                return [Finding(_FIELD, str(count), why, min(confidence, Confidence.MEDIUM), setting.evidence)]
    return []


def _asserted(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the world size that the program insists on."""
    for source in _sources(checkout, run):
        count, line = asserted_world(source)
        if count and 1 <= int(count) <= 64:
            where = Evidence(source.path, line)
            return [Finding(_FIELD, count, "the program insists on this world size", Confidence.MEDIUM, where)]
    return []


def _named(run: Run) -> list[Finding]:
    """Return the count in the name of the run's configuration or script (``_8xb2_`` of OpenMMLab, ``run_4gpu.sh``)."""
    paths = [source.path for source in run.configs[:1]]
    paths += [run.evidence.path] if run.command is not None and run.evidence.path.endswith(".sh") else []
    for path in paths:
        found = _NAMED.search(regex(r"\.\w+$").sub("", path.rsplit("/", 1)[-1]))
        count = int(next(group for group in found.groups() if group)) if found else 0
        if 1 <= count <= 16:
            why = f"the name `{path.rsplit('/', 1)[-1]}` says it"
            return [Finding(_FIELD, str(count), why, Confidence.MEDIUM, Evidence(path))]
    return []


def _documented(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the documented count, for a run that trains and can be spread: being able to is no count, being told is."""
    if run.behavior is not Behavior.TRAINS:
        return []
    is_divided = run.command is not None and run.command.is_divided
    spreads = is_divided or _spreads(checkout, run)
    # A folder of configuration has a program that we do not see.
    if not spreads and run.script is not None:
        statement = said_to_train(checkout, run, spreads=False)
        return [statement] if statement is not None else []
    is_free = is_divided or run.command is None or _spreads(checkout, run, alone=True)
    statement = documented_count(checkout, run, is_free=is_free) or said_to_train(checkout, run, spreads=True)
    statement = statement or (tabled_count(checkout, run) if spreads else None)
    return [statement] if statement is not None else []


def _of_others(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the count of another command of the same program, where it divides its model or its launcher is left without a number."""
    if run.behavior is not Behavior.TRAINS:
        return []  # what infers on one card where it is started plainly takes several only where it does not fit
    if run.command is None:
        return []
    is_open = run.command.processes is None and (run.command.is_divided or is_left_to_ask(checkout, run.command))
    if not is_open and not any(
        source.code.calls_named(*sorted(_DIVIDES)) for source in _sources(checkout, run) if source.code
    ):
        return []
    why = "the command leaves the number open" if is_open else "the program divides its model"
    for command in launch_commands(checkout):
        is_same = command.target == run.command.target and not is_of_another_configuration(command, run)
        if is_same and (command.processes or 0) > 1 and command.nodes == 1:
            why = f"{why}, and another command of its program starts {command.processes} processes"
            return [Finding(_FIELD, str(command.processes), why, Confidence.LOW, command.evidence)]
    return []


def _spreads(checkout: Checkout, run: Run, *, alone: bool = False) -> bool:
    """Whether the program can run on several GPUs; ``alone``: by itself, without a launcher or a trainer that decides."""
    for source in _sources(checkout, run):
        for call in source.code.calls_named(*_SPREADING_WORDS) if source.code else ():
            is_trainer = _TRAINERS.fullmatch(call.last) or _TRAINERS.fullmatch(call.name)
            if call.last in _TAKES_ALL or (not alone and (call.last in _SPREADS or is_trainer)):
                return True
    return False


def _sources(checkout: Checkout, run: Run) -> tuple[Source, ...]:
    return import_closure(checkout, run.script) if run.script is not None else ()
