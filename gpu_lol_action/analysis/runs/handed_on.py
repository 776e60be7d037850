"""Programs that are named for training and leave it to others: a library that is not here, or a class that a configuration names."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

from gpu_lol_action.analysis.commands.command_verbs import TRAINING_TARGET
from gpu_lol_action.analysis.commands.modal_orders import modal_orders
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior, training_calls
from gpu_lol_action.analysis.programs.import_graph import import_closure, module_source
from gpu_lol_action.domain.patterns import regex

_TRAINS_ELSEWHERE = regex(r"(?:run_|start_)?(?:pre)?(?:train|finetune|fine_tune)(?:_[a-z]+){0,3}")
LEAST_NAME = len("a.py")
_TRAINING_STARTED = regex(r"[\w}]/(?:\w{1,40}_)?train(?:_\w{1,40})?\.py(?=[\"'\s])")
_LEARNS = regex(r"\w*(?:Trainer|Learner)")
_TRIAL = regex(
    r"^class \w+\([^)\n]*\b(?:PyTorchTrial|TFKerasTrial|DeepSpeedTrial|EstimatorTrial|LightningAdapter|BaseTransformerTrial)\b",
    re.MULTILINE,
)
_DERIVED = regex(r"class \w{1,80}\(\s?(\w{0,80}Trainer\w{0,80})\s?[,)]")
_NAMED_IDLE = regex(
    r"^(?:infer(?:ence)?|predict|generate|sample|convert|export|quantize|average|merge)(?:[_.-])|[_-](?:infer(?:ence)?|predict|convert|export|averaging)\.py$"
)
_DEEP = ("torch", "tensorflow", "jax")
_NAMED_TRAINING = regex(r"(?:\w{1,40}_)?(?:pre)?train(?:ing)?(?:_\w{1,40})?")


def hands_on(checkout: Checkout, source: Source) -> bool:
    """Whether a program that is named for training leaves that to a library which is not here (``train_from_yaml(path)``).

    Or to a class that only its configuration names (``hydra.utils.instantiate(cfg.agent)``), or to a program of the
    checkout that it starts as a process of its own.
    """
    if source.code is None or not TRAINING_TARGET.search(f"/{source.name}"):
        return False
    if "hydra" in source.code.imported() and source.code.calls_named("instantiate", "get_class"):
        closure = import_closure(checkout, source)
        return any(each.code is not None and each.code.imported() & GPU_MODULES for each in closure)
    if _starts_another(checkout, source):
        return True
    taken = [
        name
        for item in source.code.imports
        if module_source(checkout, item.module) is None and item.module.split(".")[0] != "sklearn"
        for name in item.names
    ]
    called = {call.name for call in source.code.calls if _TRAINS_ELSEWHERE.fullmatch(call.name)}
    return bool(called & set(taken)) and any(s.mentions(word) for s in checkout.sources for word in _DEEP)


def is_page_that_trains(closure: Sequence[Source]) -> bool:
    """Whether a page in a browser puts together the command of a training that another project brings (``sd-scripts/train_network.py``)."""
    if not any(source.code is not None and "gradio" in source.code.imported() for source in closure[:1]):
        return False
    return any(source.mentions("accelerate") and _TRAINING_STARTED.search(source.text) for source in closure)


def _starts_another(checkout: Checkout, source: Source) -> bool:
    """Whether a program starts another one of the checkout, by its name in a shell's command, that computes on a GPU."""
    if not (source.mentions("subprocess") or source.mentions("os.system")):
        return False
    text = source.text
    for other in checkout.of(Form.PYTHON):
        is_long = other is not source and len(other.name) > LEAST_NAME
        if is_long and other.name in text and re.search(rf"\b{re.escape(other.name)}\b", text):
            reached = import_closure(checkout, other)
            if any(each.code is not None and each.code.imported() & GPU_MODULES for each in reached):
                return True
    return False


def is_trial(script: Source) -> bool:
    """Whether a program defines what Determined's own loop trains: it is started by that loop, and shows none."""
    code = script.code
    return code is not None and "determined" in code.imported() and _TRIAL.search(script.text) is not None


def is_idle_by_name(script: Source) -> bool:
    """Whether a program that is named for running a model, or for converting one, takes no step: it only builds what could train.

    A trainer holds the network and its weights (``FluxTrainer(config)`` in ``infer.py``); DeepSpeed's engine reads and writes them.
    """
    if script.code is None or not _NAMED_IDLE.search(script.name) or TRAINING_TARGET.search(f"/{script.name}"):
        return False
    return not script.code.calls_named(
        "backward", "fit", "train", "learn", "*step", "minimize", "apply_gradients", "*train"
    )


def only_derives_trainers(checkout: Checkout, source: Source) -> bool:
    """Whether a module trains in nothing but classes made of a library's trainer: who starts such a class trains with it.

    A program that only loads what was trained so needs the class as well, to know how the network is built.
    """
    if source.code is None or not source.mentions("Trainer") or source.code.has_main:
        return False
    lines = source.text.split("\n")
    tops = [index for index, line in enumerate(lines, 1) if line[:1].isalpha() or line[:1] == "@"]
    calls = training_calls(source.code)
    heads = [lines[tops[place - 1] - 1] if (place := bisect.bisect_right(tops, c.line)) else "" for c in calls]
    bases = {base[1] for head in heads if (base := _DERIVED.match(head)) is not None}
    own = {name for item in source.code.imports if _is_of_a_library(checkout, item.module) for name in item.names}
    return bool(heads) and all(_DERIVED.match(head) for head in heads) and bases <= own


def _is_of_a_library(checkout: Checkout, module: str) -> bool:
    return not module.startswith(".") and module_source(checkout, module) is None


def trains_what_it_serves(script: Source, own: Behavior) -> bool:
    """Whether a program of Modal's, which hosts functions of any kind, trains: it does (``own``), or it is named for that."""
    if script.code is None or "modal" not in script.code.imported():
        return False
    return own is Behavior.TRAINS or bool(TRAINING_TARGET.search(script.name) and modal_orders(script))


def learns_elsewhere(script: Source) -> bool:
    """Whether a program that is named for training takes what learns from a library (``from oat.algorithms.ppo import PPOLearner``)."""
    if script.code is None or not TRAINING_TARGET.match(script.name):
        return False
    return any(_LEARNS.fullmatch(name) for item in script.code.imports for name in item.names)


def hands_optimizer_on(script: Source) -> bool:
    """Whether a program gives an optimizer to a function that is named for training, wherever that may lie (``lib.f_train(model, optimizer)``)."""
    if script.code is None or not (script.mentions("optim") and script.mentions("train")):
        return False
    for call in script.code.calls:
        if _NAMED_TRAINING.fullmatch(call.last):
            given = [*call.arguments, *(value for _, value in call.keywords)]
            if any("optim" in (value.path or "").lower() for value in given):
                return True
    return False
