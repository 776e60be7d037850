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
    if uses_gpu and _serves_by_name(script) and not _has_training_options(script):
        # `train_web.py` serves a page on which a training is started.
        return Behavior.TRAINS if TRAINING_TARGET.match(script.name) else Behavior.INFERS
    if trains_what_it_serves(script, own):
        return Behavior.TRAINS
    is_guarded = uses_gpu and script.code.has_main
    is_known = is_guarded and is_known_to_train(script)
    if own is Behavior.NEITHER and (is_known or _starts_training(checkout, script)):
        return Behavior.TRAINS
    if own is Behavior.NEITHER and (hands_on(checkout, script) or (uses_gpu and hands_optimizer_on(script))):
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
    if may_train and any(_of_part(checkout, source, uses_gpu=uses_gpu) is Behavior.TRAINS for source in closure[1:]):
        # A page in a browser shows a model, whatever the modules behind its tabs could do.
        is_page = not is_named and any(_is_page(source) for source in closure[:MOST_OF_A_PAGE])
        is_idle = is_page or (not is_named and only_looks_at_gradients(closure))
        return Behavior.INFERS if is_idle else Behavior.TRAINS
    if own is Behavior.NEITHER and is_guarded and _TRAINS.search(script.path):
        return Behavior.TRAINS  # by a library that is not here; what it imports from here could also run a model
    return _infers(checkout, script, closure, own, uses_gpu=uses_gpu)


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
