"""What a program does: trains, runs a model, or neither, by itself or through the modules of the checkout that it imports."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.commands.command_verbs import SERVING_TARGET, TRAINING_TARGET, is_known_to_train
from gpu_lol_action.analysis.commands.services import service_of
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.programs.behavior import ARRAYS, Behavior, behavior_of
from gpu_lol_action.analysis.programs.gradients_only import only_looks_at_gradients
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.programs.library_copies import without_copies
from gpu_lol_action.analysis.programs.started_modules import started_modules
from gpu_lol_action.analysis.programs.told_by_use import has_options, uses_a_model
from gpu_lol_action.analysis.programs.unreached_training import is_training_unreached
from gpu_lol_action.analysis.runs.handed_on import (
    hands_on,
    hands_optimizer_on,
    is_idle_by_name,
    is_page_that_trains,
    is_trial,
    learns_elsewhere,
    only_derives_trainers,
    trains_what_it_serves,
)
from gpu_lol_action.domain.patterns import regex

# Options that only a program that trains has.
_TRAINING_OPTIONS = frozenset({"learning_rate", "lr", "num_train_epochs", "epochs", "weight_decay", "num_epochs", "base_lr",
                               "warmup_steps", "max_train_steps", "n_epochs", "max_epochs", "nb_epochs"})  # fmt: skip
# A package's command (`lab_cli`) may do anything.
_SERVING_PACKAGE = regex(r"(?:^|_)(?:evals?|infer|inference|demo|predict|chat|serve|server|generation|tts)(?:_|$)")
_OF_OPTIONS = regex(r"(?:opts?|options?|args|arguments|parsers?|arg_parser|params|hparams|flags|cli)\.py")
MOST_OF_A_PAGE = 12  # modules that are looked at for one
# A tokenizer is trained on cores.
_TRAINS = regex(r"^(?!.{0,200}tokeni[sz])(?:.{0,300}/)?(?:(?:pre_?)?train(?:er|ing)?|fine_?tune)\.py$", re.IGNORECASE)
_TRAINS_AT_LAST = regex(r"[_-](?:train|training|trainer|finetune|finetuning)\.py$")
_LEARNER = regex(r"(?:trainer|learner)\.py")  # who imports it does not only run what was trained


@remembered
def program_behavior(checkout: Checkout, script: Source) -> Behavior:
    """Return what a script does, itself or through the modules of this checkout that it imports, three steps deep."""
    if script.code is None:
        return Behavior.NEITHER
    if service_of(checkout, script) is not None and not trains_what_it_serves(script, _behavior(script)):
        return Behavior.INFERS
    closure = import_closure(checkout, script)
    uses_gpu = any(source.code and source.code.imported() & GPU_MODULES - ARRAYS for source in closure)
    closure = without_copies(checkout, closure)
    own = _behavior(script, uses_gpu=uses_gpu)
    if own is Behavior.TRAINS or is_trial(script) or (uses_gpu and learns_elsewhere(script)):
        return Behavior.INFERS if is_idle_by_name(script) or _only_explains(script, closure) else Behavior.TRAINS
    if is_page_that_trains(closure):
        return Behavior.TRAINS
    if uses_gpu and _serves_by_name(script) and not (_is_named_to_train(script) or _has_training_options(script)):
        # `train_web.py` serves a page on which a training is started.
        return Behavior.TRAINS if TRAINING_TARGET.match(script.name) else Behavior.INFERS
    if trains_what_it_serves(script, own):
        return Behavior.TRAINS
    if own is Behavior.NEITHER and _lets_train(checkout, script, closure, uses_gpu=uses_gpu):
        return Behavior.TRAINS
    if uses_gpu and TRAINING_TARGET.match(script.name) and _calls_training(script, with_keywords=True):
        return Behavior.TRAINS  # wherever the function that it calls may lie
    # Asked only as far as the answer needs it: each may have to be parsed.
    options = [s for s in closure[1:8] if _OF_OPTIONS.fullmatch(s.name)]
    learns = script.code.has_main and script.code.calls_named("learn")
    is_named = bool(TRAINING_TARGET.search(script.path) or learns)
    is_named = is_named or any(_LEARNER.fullmatch(s.name) and s.code is not None for s in closure[1:8])
    may_train = own is Behavior.NEITHER or is_named or _calls_training(script)
    may_train = may_train or any(_has_training_options(s) for s in (script, *options))
    parts = closure[1:] if may_train else ()
    trains = [source for source in parts if _of_part(checkout, source, uses_gpu=uses_gpu) is Behavior.TRAINS]
    if trains and not is_named and _shows_or_looks(closure):
        return Behavior.INFERS
    is_reached = own is not Behavior.NEITHER or not all(is_training_unreached(part, closure) for part in trains)
    if trains and is_reached:
        return Behavior.TRAINS
    if own is Behavior.NEITHER and uses_gpu and script.code.has_main and _TRAINS.search(script.path):
        return Behavior.TRAINS  # by a library that is not here; what it imports from here could also run a model
    return _infers(checkout, script, closure, own, uses_gpu=uses_gpu)


def _shows_or_looks(closure: Sequence[Source]) -> bool:
    """Whether a program is a page in a browser, which shows a model whatever the modules behind its tabs could do, or only looks at gradients."""
    return any(_is_page(source) for source in closure[:MOST_OF_A_PAGE]) or only_looks_at_gradients(closure)


def _lets_train(checkout: Checkout, script: Source, closure: Sequence[Source], *, uses_gpu: bool) -> bool:
    """Whether a program that does nothing by itself is known to train, starts a training, or hands its model to one that is not here."""
    is_known = uses_gpu and script.code is not None and script.code.has_main and is_known_to_train(script)
    if is_known or _starts_training(checkout, script) or hands_on(checkout, script):
        return True
    return uses_gpu and (hands_optimizer_on(script) or _trains_a_graph(script, closure))


def _infers(
    checkout: Checkout, script: Source, closure: Sequence[Source], own: Behavior, *, uses_gpu: bool
) -> Behavior:
    """Return what a program does that does not train: whether it, or what it imports, runs a model."""
    if own is Behavior.NEITHER and any(
        _of_part(checkout, source, uses_gpu=uses_gpu) is Behavior.INFERS for source in closure[1:]
    ):
        return Behavior.INFERS
    return Behavior.INFERS if own is Behavior.NEITHER and uses_a_model(script, uses_gpu=uses_gpu) else own


def _starts_training(checkout: Checkout, script: Source) -> bool:
    """Whether a program starts a module of the checkout, as a process of its own, that trains."""
    return any(
        _behavior(part, uses_gpu=True) is Behavior.TRAINS
        for started in started_modules(checkout, script)
        for part in import_closure(checkout, started)
    )


def _only_explains(script: Source, closure: Sequence[Source]) -> bool:
    """Whether a program that is not named for training only looks at the gradients of a trained network."""
    return not TRAINING_TARGET.search(script.path) and only_looks_at_gradients(closure)


def _serves_by_name(script: Source) -> bool:
    """Whether a program is called by what a trained model is used for; a package's main module by its package's name."""
    if script.name == "__main__.py":
        return _SERVING_PACKAGE.search(script.folder.rpartition("/")[2]) is not None
    return SERVING_TARGET.search(script.name) is not None


def _is_named_to_train(script: Source) -> bool:
    """Whether the last word of a program's name is that it trains, whatever it trains for (``generation_train.py``)."""
    return _TRAINS_AT_LAST.search(script.name) is not None


@remembered
def _is_page(source: Source) -> bool:
    return source.mentions("gradio") and source.code is not None and "gradio" in source.code.imported()


def _of_part(checkout: Checkout, source: Source, *, uses_gpu: bool) -> Behavior:
    """Return what a module does that a program imports; one that takes all names of another (`*`) has its libraries from there."""
    takes_all = source.code is not None and any("*" in item.names for item in source.code.imports)
    # A loss that is walked back through needs no library in its own module to say so.
    learns = takes_all or source.mentions("loss.backward(")
    behavior = _behavior(source, uses_gpu=uses_gpu and learns)
    if behavior is Behavior.TRAINS and _only_offers_an_optimizer(source, uses_gpu=uses_gpu and learns):
        return Behavior.NEITHER
    return Behavior.NEITHER if behavior is Behavior.TRAINS and only_derives_trainers(checkout, source) else behavior


def _only_offers_an_optimizer(source: Source, *, uses_gpu: bool) -> bool:
    """Whether all that speaks of training is the optimizer that one of Lightning's networks would give a trainer: who imports it may only run it."""
    call = (
        behavior_of(source.code, uses_gpu=uses_gpu)[1] if source.code and source.mentions("LightningModule") else None
    )
    return call is not None and call.owner in {"configure_optimizers", "get_optimizer", "get_optimizers"}


def _trains_a_graph(script: Source, closure: Sequence[Source]) -> bool:
    """Whether a program lets a model of TensorFlow train (``model.train()``): one of PyTorch's only sets a mode by that."""
    calls = script.code.calls_named("train") if script.code is not None and script.code.has_main else ()
    if not any("." in call.name and not call.arguments for call in calls):
        return False
    imported = {name for source in closure if source.code is not None for name in source.code.imported()}
    return bool(imported & {"tensorflow", "keras"}) and "torch" not in imported


@remembered
def _calls_training(script: Source, *, with_keywords: bool = False) -> bool:
    """Whether a program calls a function that is named for training, of another module (``simclr_train(loader, model)``)."""
    calls = script.code.calls if script.code is not None and script.mentions("train") else ()
    named = (call for call in calls if regex(r"(?:\w+_)?train(?:ing)?(?:_\w+)?").fullmatch(call.last))
    given = ((call, len(call.arguments) + with_keywords * len(call.keywords)) for call in named)
    return any("." not in call.name and count > 1 for call, count in given)


@remembered
def _has_training_options(script: Source) -> bool:
    """Whether a program has an option of one that trains."""
    return has_options(script, _TRAINING_OPTIONS)


@remembered
def _behavior(source: Source, *, uses_gpu: bool = False) -> Behavior:
    """Return what one program does by itself."""
    return behavior_of(source.code, uses_gpu=uses_gpu)[0] if source.code is not None else Behavior.NEITHER
