"""How a training cuts its model over cards, in the words of Megatron-LM, NeMo, GPT-NeoX, nanotron, torchtitan and picotron.

Findings: ``training.tensor_parallel``, ``training.pipeline_parallel``, ``training.expert_parallel`` (how many ways each layer, the
layers, the experts are divided), ``training.data_parallel`` (how often all of that is repeated), ``training.runtime``
(``megatron``: gradients and copies as Megatron-LM keeps them) and what Megatron's flags say of sharding and checkpoints.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.models.megatron_flags import shape_of_flags
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import as_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.megatron import MEGATRON

TENSOR, PIPELINE, EXPERT = "training.tensor_parallel", "training.pipeline_parallel", "training.expert_parallel"
DATA, CONTEXT, RUNTIME = "training.data_parallel", "training.sequence_parallel", "training.runtime"
WHOLE_NORMS = "training.whole_norms"
_KEYS = {
    "tensor_model_parallel_size": TENSOR, "tensor_parallel_degree": TENSOR, "model_parallel_size": TENSOR, "tp_size": TENSOR, "tp": TENSOR,
    "pipeline_model_parallel_size": PIPELINE, "pipeline_parallel_degree": PIPELINE, "pipe_parallel_size": PIPELINE, "pp_size": PIPELINE,
    "pp": PIPELINE, "expert_model_parallel_size": EXPERT, "expert_parallel_size": EXPERT, "expert_parallel_degree": EXPERT, "ep_size": EXPERT,
    "cores_per_replica": TENSOR, "dp": DATA, "dp_size": DATA, "data_parallel_replicate_degree": DATA, "context_parallel_degree": CONTEXT, "cp_size": CONTEXT,
}  # fmt: skip
# Words this short mean it in a section on parallelism, or beside another of them.
_SHORT = frozenset({"tp", "pp", "dp"})
# An engine that generates, or a model beside the trained one, is cut as it likes.
_OTHERS = regex(r"rollout|infer|generat|vllm|sglang|(?:^|\.)ref\.|critic|reward|teacher|draft")
_MEGATRON = frozenset({
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "use_mcore_models", "use_distributed_optimizer",
    "no_masked_softmax_fusion", "num_layers_per_virtual_pipeline_stage", "transformer_impl",
})  # fmt: skip
_DIVIDES_OPTIMIZER = frozenset({"use_distributed_optimizer"})
_DIVIDES_ALL = frozenset({"use_torch_fsdp2", "use_megatron_fsdp", "use_custom_fsdp"})
_MOST_WAYS = 1024
USUAL_NODE = 8  # cards of one machine; more are several machines


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return how the run cuts its model, and what Megatron's flags say besides; nothing where nothing is said."""
    if run is None or run.behavior is not Behavior.TRAINS:
        return []
    said = _said(checkout, run)
    short = {setting.key for setting in said if setting.key in _SHORT}
    ways: dict[str, Finding] = {}
    for setting in said:
        field, number = _KEYS.get(setting.key), as_number(setting.text)
        is_meant = setting.key not in _SHORT or "parallel" in setting.path.rpartition(".")[0] or len(short) > 1
        if field is not None and number is not None and is_meant and 1 < number <= _MOST_WAYS:
            why = f"`{setting.key}` is {number}"
            ways.setdefault(field, Finding(field, str(number), why, Confidence.HIGH, setting.evidence))
    return [*ways.values(), *_of_megatron(run, said)]


def _said(checkout: Checkout, run: Run) -> list[Setting]:
    """Return what options and configurations say of the trained model itself."""
    return [
        setting
        for _, settings in scope_of(checkout, run).tiers[:2]
        for setting in settings
        if not _OTHERS.search(
            setting.path.removeprefix("actor_rollout_ref.")
        )  # verl's word for all that shares the cards
    ]


def _of_megatron(run: Run, said: list[Setting]) -> list[Finding]:
    """Return that gradients, copies and checkpoints are kept as Megatron-LM keeps them."""
    keys = {setting.key: setting for setting in reversed(said)}
    is_tool = run.command is not None and run.command.tool == "megatron"
    named = next((keys[key] for key in sorted(_MEGATRON & keys.keys())), None)
    if named is None and not is_tool:
        return []
    where = named.evidence if named is not None else run.evidence
    words = f"`{named.key}` is Megatron-LM's word" if named is not None else "it is started with Megatron-LM"
    found = [Finding(RUNTIME, MEGATRON, words, Confidence.HIGH, where), *shape_of_flags(said)]
    if keys.get("sequence_parallel") is None or not _is_on(keys, frozenset({"sequence_parallel"})):
        why = "`sequence_parallel` is not on: norms keep their inputs whole"
        found.append(Finding(WHOLE_NORMS, "yes", why, Confidence.MEDIUM, where))
    if is_tool and not {"bf16", "fp16", "torch_dtype"} & keys.keys():
        why = "ms-swift trains with Megatron-LM in the numbers of the model, 16-bit ones"
        found.append(Finding("training.precision", "bf16", why, Confidence.MEDIUM, where))
    if _is_on(keys, _DIVIDES_OPTIMIZER) or is_tool:
        why = "the distributed optimizer divides what it remembers"
        found.append(Finding("training.sharding", "zero-1", why, Confidence.HIGH, where))
    elif _is_on(keys, _DIVIDES_ALL):
        found.append(Finding("training.sharding", "fsdp", "FSDP divides everything", Confidence.HIGH, where))
    if (kept := keys.get("recompute_granularity") or keys.get("activations_checkpoint_granularity")) is not None:
        state = "on" if kept.text.strip().strip("\"'").lower() == "full" else "off"
        why = f"`{kept.key}` is {kept.text}"
        found.append(Finding("training.gradient_checkpointing", state, why, Confidence.HIGH, kept.evidence))
    return found


def _is_on(keys: dict[str, Setting], names: frozenset[str]) -> bool:
    texts = [keys[name].text.strip().lower() for name in names if name in keys]
    return any(text in {"", "true", "1"} for text in texts)


def whole_layout(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the cards of a machine that one copy of the model and its repetitions take, where the run says both."""
    ways = _ways(detect(checkout, run))
    count = _world(ways)
    if count < 2 or len(ways) < 2 or not any(each.field == DATA for each in ways):
        return []
    why = " times ".join(each.why for each in ways)
    return [Finding("hardware.gpu_count", str(min(count, USUAL_NODE)), why, Confidence.MEDIUM, ways[0].evidence)]


def cut_over(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the cards of a usual machine for a run that cuts its model and says no count: such runs are started on whole ones."""
    ways = _ways(detect(checkout, run))
    if _world(ways) < 2:
        return []
    why = " times ".join(each.why for each in ways) + ", on machines of the usual eight"
    return [Finding("hardware.gpu_count", str(USUAL_NODE), why, Confidence.MEDIUM, ways[0].evidence)]


def machines_for(checkout: Checkout, run: Run, per_machine: int) -> Finding | None:
    """Return the machines that one copy of the model takes at least, where a machine's cards are too few for it.

    A world is a multiple of tensor times pipeline times context or expert parallelism (Megatron-LM and its kin insist on it).
    """
    ways = [each for each in _ways(detect(checkout, run)) if each.field != DATA]
    machines = -(-_world(ways) // max(per_machine, 1))
    if machines < 2:
        return None
    why = f"{' times '.join(each.why for each in ways)}, and a machine has {per_machine} cards"
    return Finding("hardware.num_nodes", str(machines), why, Confidence.MEDIUM, ways[0].evidence)


def _ways(found: list[Finding]) -> list[Finding]:
    return [each for each in found if each.field in {TENSOR, PIPELINE, DATA, CONTEXT, EXPERT}]


def _world(ways: list[Finding]) -> int:
    """Return the cards that the ways take at least together; experts lie over whatever else a stage is divided."""
    numbers = {each.field: int(each.value) for each in ways}
    stage = numbers.get(TENSOR, 1) * numbers.get(DATA, 1) * numbers.get(CONTEXT, 1)
    return numbers.get(PIPELINE, 1) * max(stage, numbers.get(EXPERT, 1))
