"""How a training lays its work out over cards, as axolotl, accelerate and nanotron write it: the product is the number of cards."""

from __future__ import annotations

import math
import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.run_configs import run_configs
from gpu_lol_action.analysis.runs.settings import as_number, look_up_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

USUAL_NODE = 8  # cards of the machines that large trainings are spread over
_REPLICAS = ("dp_replicate_size", "dp_shard_size", "dp", "data_parallel_size")
_PARTS = ("tensor_parallel_size", "expert_parallel_size", "context_parallel_size", "sequence_parallel_degree")
_STRATEGY, _MESH, _DEGREES = "ModelParallelStrategy", "init_device_mesh", "ParallelismConfig"
_WAYS = ("data_parallel_shard_degree", "expert_parallel_degree", "tensor_parallel_degree", "context_parallel_degree")
_PARALLEL = regex(r"^parallel[ \t]*=[ \t]*(dict\([^#]{1,300})", re.MULTILINE)
_PIPELINE = regex(r"pipeline=(?:dict\(size=)?(\w{1,60})")
_TENSOR = regex(r"tensor=(?:dict\((?:mode=[\w\"']{1,40},\s{0,20})?size=)?(\w{1,60})")
MOST_CARDS = 64


def laid_out(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the product of the ways in which a run's configuration divides its work; none where only layers are divided.

    The number that divides layers alone (``tensor_parallel_size``) may be repeated over any number of cards. More than a usual
    machine has are several machines.
    """
    if run.behavior is not Behavior.TRAINS or not run.configs or run.script is not None:
        return []
    scope = scope_of(checkout, run)
    found = [look_up_number(scope, (name,), 2, 4096) for name in (*_REPLICAS, *_PARTS)]
    ways = [each for each in found if each is not None and each.confidence is Confidence.HIGH]
    if not ways or all(each.setting.key == _PARTS[0] for each in ways):
        return []
    count = min(math.prod(as_number(each.text) or 1 for each in ways), USUAL_NODE)
    why = " times ".join(f"`{each.setting.key}` {each.text}" for each in ways)
    return [Finding("hardware.gpu_count", str(count), why, Confidence.MEDIUM, ways[0].evidence)]


def assigned_layout(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the product of the ways in which Colossal-AI's configuration divides a model: ``parallel = dict(pipeline=2, tensor=dict(size=4))``."""
    if run.behavior is not Behavior.TRAINS:
        return []
    script = run.script if run.script is not None and run.script.mentions("colossalai") else None
    beside = checkout.find(f"{script.folder}/config.py".lstrip("/")) if script is not None else None
    for source in (*run_configs(checkout, run), *((beside,) if beside is not None else ())):
        found = _PARALLEL.search(source.text) if source.code is not None and source.mentions("parallel") else None
        sizes = [_size(source, way.search(found[1])) for way in (_PIPELINE, _TENSOR)] if found is not None else []
        if found is not None and 1 < (count := math.prod(sizes)) <= MOST_CARDS:
            where = Evidence(source.path, source.text.count("\n", 0, found.start(1)) + 1)
            why = f"`parallel` divides the model over {count} cards"
            return [Finding("hardware.gpu_count", str(min(count, USUAL_NODE)), why, Confidence.MEDIUM, where)]
    return []


def _size(source: Source, found: re.Match[str] | None) -> int:
    """Return the number of a way, written out or by the name of what the configuration assigns; 1 where it is not said."""
    if found is None:
        return 1
    given = re.search(rf"^{found[1]}[ \t]*=[ \t]*(\d{{1,2}})\b", source.text, re.MULTILINE)
    return as_number(given[1] if given is not None else found[1]) or 1


def called_layout(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the product of the ways that a program's own call writes out: Lightning's strategy, PyTorch's mesh of devices, torchtitan's degrees."""
    for source in import_closure(checkout, run.script) if run.script is not None else ():
        code = source.code
        for call in code.calls_named(_STRATEGY, _MESH, _DEGREES) if code is not None else ():
            sides = _sides(call)
            count = math.prod(sides)
            if sides and 1 < count <= USUAL_NODE and not _is_on_cores(call):
                why = f"`{call.last}` lays out {' times '.join(map(str, sides))} cards"
                return [
                    Finding("hardware.gpu_count", str(count), why, Confidence.MEDIUM, Evidence(source.path, call.line))
                ]
    return []


def _is_on_cores(call: Call) -> bool:
    """Whether a mesh is one of processors: ``init_device_mesh("cpu", (2, 2))``."""
    device = call.keyword("device_type") or next(iter(call.arguments), None)
    return call.last == _MESH and device is not None and device.text == "cpu"


def _sides(call: Call) -> tuple[int, ...]:
    """Return the sizes that a call writes out in numbers, all of them; none where one is to be found out at run time."""
    if call.last == _DEGREES:
        # Experts lie on the cards that the other ways have: the largest number is the least that it takes.
        degrees = [as_number(value.text or "") or 1 for name in _WAYS if (value := call.keyword(name))]
        return (min(max(degrees), USUAL_NODE),) if degrees else ()
    if call.last == _STRATEGY:
        texts = [value.text for name in ("data_parallel_size", "tensor_parallel_size") if (value := call.keyword(name))]
        texts = texts if len(texts) == 2 else []
    else:
        shape = call.keyword("mesh_shape") or (call.arguments[1] if len(call.arguments) > 1 else None)
        texts = [item.text for item in shape.items] if shape is not None else []
    numbers = tuple(as_number(text or "") for text in texts)
    return tuple(number for number in numbers if number is not None) if None not in numbers else ()
