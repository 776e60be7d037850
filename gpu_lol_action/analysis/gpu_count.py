"""How many GPUs the run takes: what starts it says so, else its configuration or program, else the documentation."""

from __future__ import annotations

import json
import math
import re

from gpu_lol_action.analysis import documented
from gpu_lol_action.analysis.behavior import Behavior
from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.configured_lists import listed_numbers
from gpu_lol_action.analysis.declared_hardware import hosted_wish
from gpu_lol_action.analysis.documented_counts import documented_count
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.gpu_counts_beside import counts_beside
from gpu_lol_action.analysis.hosting_files import Wish, counted
from gpu_lol_action.analysis.import_graph import import_closure
from gpu_lol_action.analysis.launch_commands import launch_commands
from gpu_lol_action.analysis.model_parallel import cut_over, machines_for, whole_layout
from gpu_lol_action.analysis.parallel_layout import laid_out
from gpu_lol_action.analysis.placed_devices import placed_over
from gpu_lol_action.analysis.ray_workers import ray_workers
from gpu_lol_action.analysis.rented_machines import rented_wish
from gpu_lol_action.analysis.rl_cards import cards_of
from gpu_lol_action.analysis.run_configs import run_configs
from gpu_lol_action.analysis.settings import as_number, look_up_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_FIELD = "hardware.gpu_count"
USUAL_NODE = 8  # cards of a machine that several of are asked for
_KEYS = ("num_processes", "nproc_per_node", "num_process_per_node", "num_processes_per_node", "num_gpus", "n_gpus", "gpus_per_node", "num_gpus_per_node",
         "n_gpus_per_node", "gpus", "devices", "ngpu", "ngpus", "n_gpu", "gpu_num", "tensor_parallel_size")  # fmt: skip
_SERVED = ("tp", "tp_size", "tensor_parallel_count")  # a served model is divided over so many
# JAX lays devices out as a mesh: their number is the product (`local_mesh_config=(1, 8)`).
_MESHES = ("local_mesh_config", "mesh_shape", "ici_mesh_shape", "device_mesh_shape", "mesh_dims")
# Options that list GPUs by their number: `--device 0,1,2,3`.
_LISTS = ("gpu", "gpus", "device", "devices", "gpu_ids", "gpu_id", "device_ids", "cuda_devices", "visible_devices")
# These count processes of the whole cluster, not of one machine.
_OVER_ALL_MACHINES = frozenset({"num_processes"})
# What spreads over all GPUs that it sees, or over those that a launcher gives it.
_SPREADS = frozenset({
    "init_process_group", "DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "fully_shard",
    "Accelerator", "device_count", "init_distributed", "init_distributed_mode", "init_device_mesh", "GPipe",
})  # fmt: skip
# What takes all GPUs of the machine without being told.
_TAKES_ALL = frozenset({"DataParallel", "pmap", "MirroredStrategy", "MultiWorkerMirroredStrategy", "local_device_count", "spawn",
                        "TPUStrategy", "shard_map"})  # fmt: skip
_DIVIDES = frozenset({"FullyShardedDataParallel", "FSDP", "fully_shard", "init_device_mesh", "parallelize_module"})
_CARDS = ("train_gpu", "train_gpus", "gpu_list", "cuda_ids", "device_list")
# What cuts a model into stages, one per process.
_SPLITS = ("prepare_pippy", "ScheduleGPipe", "Schedule1F1B")
_TRAINERS = regex(r"\w*Trainer|TrainingArguments|\w*TrainingArguments|deepspeed\.initialize")
# The last words of all that spreads, for a first look at a program's calls.
_SPREADING_WORDS = ("*Trainer", "*TrainingArguments", "initialize", *sorted(_SPREADS | _TAKES_ALL))
# The leading line feed lets the expression engine leap from line to line.
_ASSERTED = regex(r"\n[ \t]*assert[ \t]+[^#\n]{0,80}world_size[^#\n]{0,20}==\s*(\d{1,3})\b", re.IGNORECASE)
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
    if command is not None and command.processes is not None:
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
        or ray_workers(run.script if run.behavior is Behavior.TRAINS else None)
        or _listed_in_file(checkout, run)
        or _configured(checkout, run)
        or _listed(run)
        or _meshed(checkout, run)
        or _asserted(checkout, run)
    )
    said = said or _named(run) or _hosted(checkout, run) or _documented(checkout, run)
    said = said or cut_over(checkout, run) or _shown_on(checkout, run) or _of_others(checkout, run)
    can_spread = not said and run.behavior is Behavior.TRAINS and _spreads(checkout, run)
    said = said or (counts_beside(checkout, run) if can_spread else []) or _placed(run)
    return [*said, *found]


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
    number = look_up_number(scope, _KEYS, 1, 64)
    served = look_up_number(scope, _SERVED, 1, 64) if run.behavior is Behavior.INFERS else None
    number = served if served is not None and served.confidence is Confidence.HIGH else number
    is_in_code = number is not None and number.evidence.path.endswith((".py", ".ipynb"))
    if number is not None and is_in_code and number.setting.key == "num_processes":
        number = look_up_number(scope, _KEYS[1:], 1, 64)  # in a program it counts processes of any kind
    if number is None or number.confidence is Confidence.LOW or _is_of_helper(run, number.evidence):
        return []
    count = as_number(number.text) or 1
    machines = look_up_number(scope, ("num_machines", "nnodes", "num_nodes"), 2, 64)
    if machines is not None and number.setting.key in _OVER_ALL_MACHINES:
        count = max(1, count // (as_number(machines.text) or 1))
    why = f"`{number.setting.key}` is {number.text}"
    return [Finding(_FIELD, str(count), why, Confidence.MEDIUM, number.evidence)]


def _is_of_helper(run: Run, where: Evidence) -> bool:
    """Whether a number only stands in a module that the program imports: what its loaders are given, not what is started."""
    return run.script is not None and where.path.endswith(".py") and where.path != run.script.path


def _listed(run: Run) -> list[Finding]:
    """Return how many GPUs the command's options count as a world or list by their numbers."""
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
    for key, value in run.options.items():
        bare = value.strip("[]\"'").removeprefix("cuda:")
        if key.rpartition(".")[2] in _LISTS and re.fullmatch(r"\d{1,2}(?:,\s?\d{1,2})+,?", bare):
            count = len([part for part in bare.split(",") if part])
            return [Finding(_FIELD, str(count), f"`--{key} {value}` lists them", Confidence.HIGH, run.evidence)]
    return []


def _listed_in_file(checkout: Checkout, run: Run) -> list[Finding]:
    """Return how many cards a configuration lists by their numbers (``train_gpu: [0, 1, 2, 3]``)."""
    if any(key.rpartition(".")[2] in {*_KEYS, *_LISTS} for key in run.options):
        return []
    for source in run_configs(checkout, run):
        lists = listed_numbers([source])
        for key in (*_LISTS, *_CARDS):
            numbers = json.loads(lists.get(key, "[]"))
            if 1 < len(numbers) <= 16 and numbers == list(range(len(numbers))):
                return [
                    Finding(_FIELD, str(len(numbers)), f"`{key}` lists them", Confidence.MEDIUM, Evidence(source.path))
                ]
    return []


def _meshed(checkout: Checkout, run: Run) -> list[Finding]:
    """Return how many devices of one machine the run lays out as a mesh."""
    for confidence, settings in scope_of(checkout, run).tiers[:4]:
        for setting in settings:
            sides = re.findall(r"\d{1,3}", setting.text) if setting.key in _MESHES else []
            count = math.prod(int(side) for side in sides)
            if len(sides) > 1 and 1 < count <= 16 and re.fullmatch(r"[\s()\[\]\d,]+", setting.text):
                why = f"`{setting.key}` is {setting.text}"
                return [Finding(_FIELD, str(count), why, min(confidence, Confidence.MEDIUM), setting.evidence)]
    return []


def _asserted(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the world size that the program insists on."""
    for source in _sources(checkout, run):
        text = f"\n{source.text}"
        found = _ASSERTED.search(text) if "world_size" in text.lower() else None
        if found is not None and 1 <= int(found[1]) <= 64:
            where = Evidence(source.path, text.count("\n", 0, found.start(1)))
            return [Finding(_FIELD, found[1], "the program insists on this world size", Confidence.MEDIUM, where)]
    return []


def _named(run: Run) -> list[Finding]:
    """Return the count in the name of the run's configuration or script (``_8xb2_`` of OpenMMLab, ``run_4gpu.sh``)."""
    paths = [source.path for source in run.configs[:1]]
    paths += [run.evidence.path] if run.command is not None and run.evidence.path.endswith(".sh") else []
    for path in paths:
        found = _NAMED.search(re.sub(r"\.\w+$", "", path.rsplit("/", 1)[-1]))
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
        return []
    statement = documented_count(
        checkout, run, is_free=is_divided or run.command is None or _spreads(checkout, run, alone=True)
    )
    return [statement] if statement is not None else []


def _shown_on(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the number of cards that documentation demands of a run that infers with layers spread over all that it sees."""
    if run.behavior is not Behavior.INFERS or (where := _placed_over_all(checkout, run)) is None:
        return []
    found = [f for f in documented.detect(checkout, run) if not f.field.startswith("documented.training.")]
    asked = {f.evidence for f in found if f.field.endswith(".card") and f.confidence >= Confidence.MEDIUM}
    asked |= {f.evidence for f in found if f.field.endswith("memory_gb") and f.confidence is Confidence.HIGH}
    for said in found:
        is_count = said.field == "documented.gpu_count" and said.confidence is Confidence.MEDIUM
        if is_count and said.evidence in asked and 1 < int(said.value) <= 8:
            why = f"{said.why}, and `{where}` spreads the model's layers over them"
            return [Finding(_FIELD, said.value, why, Confidence.LOW, said.evidence)]
    return []


def _placed_over_all(checkout: Checkout, run: Run) -> str | None:
    """Return the words with which the run's program spreads a model's layers over all GPUs that it sees; None without."""
    for source in _sources(checkout, run):
        for call in source.code.calls_named("from_pretrained") if source.code else ():
            placed = call.keyword("device_map")
            if placed is not None and placed.text in {"auto", "balanced", "balanced_low_0", "sequential"}:
                return f"device_map={placed.text}"
        for call in source.code.calls_named(*_SPLITS) if source.code else ():
            return call.last
    return None


def _of_others(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the count of another command of the same program, where the program divides its model over several GPUs."""
    if run.command is None or not any(
        source.code.calls_named(*sorted(_DIVIDES)) for source in _sources(checkout, run) if source.code
    ):
        return []
    for command in launch_commands(checkout):
        if command.target == run.command.target and (command.processes or 0) > 1 and command.nodes == 1:
            why = f"the program divides its model, and another command of it starts {command.processes} processes"
            return [Finding(_FIELD, str(command.processes), why, Confidence.LOW, command.evidence)]
    return []


def _placed(run: Run) -> list[Finding]:
    """Return the number of cards on which the program itself puts the parts of its model."""
    found = placed_over(run.script) if run.script is not None else None
    if found is None or run.script is None:
        return []
    why = f"the program puts parts of its work on {found[0]} cards by their numbers"
    return [Finding(_FIELD, str(found[0]), why, Confidence.LOW, Evidence(run.script.path, found[1]))]


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
