"""Which optimizer a run steps with, in what subspace it remembers, and whether each gradient is freed as soon as it was used."""

from __future__ import annotations

import re
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import Found, Scope, is_on, look_up, look_up_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.low_rank import is_low_rank

_OPTIMIZER = ("optim", "optimizer", "optimizer_name", "opt", "optimizer_type")
# Constructors of optimizers: those with two moments, as is assumed where nothing is known, and those that remember less.
_USUAL = ("Adam", "AdamW", "FusedAdam", "DeepSpeedCPUAdam", "NAdam", "RAdam", "LAMB", "HybridAdam")
_SPARING = (
    "LOMO", "Lomo", "AdaLomo", "Adafactor", "SGD", "Lion", "DecoupledLionW", "Muon", "CAME", "Adam8bit", "AdamW8bit",
    "PagedAdam8bit", "PagedAdamW8bit", "GaLoreAdamW", "GaLoreAdamW8bit", "GaLoreAdafactor", "QGaLoreAdamW8bit", "APOLLOAdamW",
    "Adam_mini", "RMSprop", "Adagrad",
)  # fmt: skip
# The same of optax, whose functions they are: `optax.adafactor(1e-3)`.
_OF_OPTAX = {"adafactor": "Adafactor", "sgd": "SGD", "lion": "Lion", "rmsprop": "RMSprop", "adagrad": "Adagrad",
             "adam": "Adam", "adamw": "AdamW", "lamb": "LAMB", "radam": "RAdam"}  # fmt: skip
# Beside a usual optimizer, which it wraps: gradients and states of one block of layers at a time.
_WRAPPERS = {"BlockOptimizer": "badam", "DynamicLayerActivationCallback": "lisa"}
# What LLaMA-Factory, ms-swift and LMFlow switch on by a word of its own.
_SWITCHED = ("galore", "apollo", "badam", "adam_mini", "muon", "lisa")
# What axolotl and ms-swift name of LISA: any number of layers switches it on.
_LISA = ("lisa_n_layers", "lisa_activated_layers")
# The run's own, and not that of one network of several.
_OF_THE_MODEL = regex(r"(?:(?:model|trainer|training|train|algo(?:rithm)?|module|task)\.)?optim(?:izer)?")
_KNOWN = regex(
    r"adam|sgd|lion|lamb|lars|adafactor|rmsprop|adagrad|muon|came|prodigy|sophia|novograd|shampoo|lomo", re.IGNORECASE
)
_BUILT_BY = frozenset({"_component_", "_target_", "class_path"})
_RANKS = ("galore_rank", "apollo_rank", "rank")
_RANK_ARGUMENT = regex(r"\brank[\"']?\s*[=:]\s*(\d{1,4})\b")
# Each layer is stepped while the backward pass goes on: LLaMA-Factory's words, torchtune's, kohya's and OneTrainer's.
_FREES = ("galore_layerwise", "apollo_layerwise", "optimizer_in_bwd", "fused_backward_pass")
_MOST_RANK = 4096
# A dotted name is that of a module (`model.decoder.layers`), unless its last word is an optimizer's.
_PLAIN = regex(
    r"[A-Za-z][\w+-]{1,40}"
    r"|(?=.{1,80}$)(?:\w{1,40}\.){1,6}\w{0,30}(?:adam|sgd|lion|lamb|lars|lomo|adafactor|rmsprop|adagrad|adadelta|shampoo|muon|prodigy|sophia|novograd|optim|came)\w{0,30}",
    re.IGNORECASE,
)

# Under the same keys: the word itself, whoever steps it (`optim: fsdp`, a configuration's name), or that it is left to the program.
_NO_OPTIMIZER = regex(
    r"optim(?:izer)?s?|fsdp\d?|ddp|megatron|deepspeed|mindspeed|veomni|torch(?:titan)?|default|auto|custom|none|null|true|false",
    re.IGNORECASE,
)


def optimizer_of(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return the optimizer by its name: the one that is set, else the only one that the program builds; None where none is named."""
    found = look_up(scope, _OPTIMIZER)
    if is_on(eight := look_up(scope, ("use_8bit_adam",))) and eight is not None:
        return _named("adamw_8bit", eight)
    for name in _SWITCHED:
        if is_on(switch := look_up(scope, (f"use_{name}",))) and switch is not None:
            return _named(name, switch)
    if (layers := look_up_number(scope, _LISA, 1, 64)) is not None and layers.confidence is Confidence.HIGH:
        return _named("lisa", layers)
    if found is None and not _builds_one(checkout, run):
        found = _component(scope)
    if found is None or not _PLAIN.fullmatch(found.text) or _NO_OPTIMIZER.fullmatch(found.text):
        return _built_optimizer(checkout, run)
    return Finding(
        "training.optimizer", found.text, f"`{found.setting.key}` is {found.text}", found.confidence, found.evidence
    )


def _builds_one(checkout: Checkout, run: Run) -> bool:
    """Whether the program builds an optimizer itself, of whatever kind."""
    closure = import_closure(checkout, run.script) if run.script is not None else ()
    return any(source.code.calls_named(*_USUAL, *_SPARING) for source in closure if source.code is not None)


def _component(scope: Scope) -> Found | None:
    """Return the class that a configuration has built for its optimizer, as torchtune and Hydra write it: the last word of its path."""
    for confidence, settings in scope.tiers[:2]:
        for setting in settings:
            section, _, key = setting.path.rpartition(".")
            name = setting.text.strip().rpartition(".")[2]
            if key in _BUILT_BY and _OF_THE_MODEL.fullmatch(section) and _KNOWN.search(name):
                return Found(replace(setting, text=name), confidence)
    return None


def rank_of(scope: Scope, optimizer: Finding | None) -> Finding | None:
    """Return the rank of the subspace in which a low-rank optimizer remembers; None for other optimizers."""
    if optimizer is None or not is_low_rank(optimizer.value):
        return None
    said = look_up_number(scope, _RANKS, 1, _MOST_RANK)
    if said is not None:
        why = f"`{said.setting.key}` is {said.text}"
        return Finding("training.optimizer_rank", said.text.strip(), why, said.confidence, said.evidence)
    arguments = look_up(scope, ("optim_args",))
    told = _RANK_ARGUMENT.search(arguments.text) if arguments is not None else None
    if told is None or arguments is None:
        return None
    why = f"`optim_args` says rank {told[1]}"
    return Finding("training.optimizer_rank", told[1], why, arguments.confidence, arguments.evidence)


def freed_gradients_of(scope: Scope) -> Finding | None:
    """Return that gradients are freed during the backward pass, where a switch says so."""
    found = look_up(scope, _FREES)
    if not is_on(found) or found is None:
        return None
    why = f"`{found.setting.key}` is on: each gradient is freed as soon as it was used"
    return Finding("training.gradients", "freed", why, found.confidence, found.evidence)


def _named(name: str, switch: Found) -> Finding:
    why = f"`{switch.setting.key}` is {switch.text}" if name == "lisa" else f"`{switch.setting.key}` is on"
    return Finding("training.optimizer", name, why, switch.confidence, switch.evidence)


def _built_optimizer(checkout: Checkout, run: Run) -> Finding | None:
    """Return the optimizer that the program builds; none where it can build several, or a usual one."""
    built: dict[str, Finding] = {}
    for source in import_closure(checkout, run.script) if run.script is not None else ():
        for call in source.code.calls_named(*_USUAL, *_SPARING, *_WRAPPERS) if source.code is not None else ():
            built.setdefault(call.last, _built(call.last, call.last, source.path, call.line))
        for call in source.code.calls_named(*_OF_OPTAX) if source.code is not None and source.mentions("optax") else ():
            if call.name.startswith("optax."):
                name = _OF_OPTAX[call.last]
                built.setdefault(name, _built(name, call.name, source.path, call.line))
    wrapped = [name for name in _WRAPPERS if name in built]
    if wrapped:
        first = built[wrapped[0]]
        return Finding(first.field, _WRAPPERS[wrapped[0]], first.why, first.confidence, first.evidence)
    return next(iter(built.values())) if len(built) == 1 and not set(built) & set(_USUAL) else None


def _built(name: str, call: str, path: str, line: int) -> Finding:
    why = f"the program builds `{call}`"
    return Finding("training.optimizer", name, why, Confidence.MEDIUM, Evidence(path, line))
