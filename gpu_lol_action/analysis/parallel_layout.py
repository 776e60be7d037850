"""How a training lays its work out over cards, as axolotl, accelerate and nanotron write it: the product is the number of cards."""

from __future__ import annotations

import math

from gpu_lol_action.analysis.behavior import Behavior
from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.entry_points import Run, import_closure
from gpu_lol_action.analysis.python_defaults import Call
from gpu_lol_action.analysis.settings import as_number, look_up_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

USUAL_NODE = 8  # cards of the machines that large trainings are spread over
_REPLICAS = ("dp_replicate_size", "dp_shard_size", "dp", "data_parallel_size")
_PARTS = ("tensor_parallel_size", "expert_parallel_size", "context_parallel_size", "sequence_parallel_degree")
_STRATEGY, _MESH = "ModelParallelStrategy", "init_device_mesh"


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


def called_layout(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the product of the ways that a program's own call writes out: Lightning's strategy, PyTorch's mesh of devices."""
    for source in import_closure(checkout, run.script) if run.script is not None else ():
        code = source.code
        for call in code.calls_named(_STRATEGY, _MESH) if code is not None else ():
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
    if call.last == _STRATEGY:
        texts = [value.text for name in ("data_parallel_size", "tensor_parallel_size") if (value := call.keyword(name))]
        texts = texts if len(texts) == 2 else []
    else:
        shape = call.keyword("mesh_shape") or (call.arguments[1] if len(call.arguments) > 1 else None)
        texts = [item.text for item in shape.items] if shape is not None else []
    numbers = tuple(as_number(text or "") for text in texts)
    return tuple(number for number in numbers if number is not None) if None not in numbers else ()
