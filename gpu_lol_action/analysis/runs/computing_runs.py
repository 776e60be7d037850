"""Programs that documents start and that compute on a card, though nothing is seen of them that trains a model or runs one.

Latent pictures of films, products of matrices, distances between all pairs: whoever starts such a program needs the card as well. They
are the last resort, where nothing of the checkout trains or infers, and steps beside the work (conversion, preparation) are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from gpu_lol_action.analysis.commands.command_verbs import is_told_to_train
from gpu_lol_action.analysis.commands.placeholder_commands import STEP
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import Behavior, top_level_gpu_import
from gpu_lol_action.analysis.runs.entry_points import Run, documented_runs, import_closure, is_started
from gpu_lol_action.domain.patterns import regex

_ON_A_CARD = regex(
    r"\.cuda\(|[\"']cuda\b|\bcuda\.is_available|\b(?:jax|tf)\.(?:config\.)?\w{0,30}devices\(|\bgpus?(?![a-z])",
    re.IGNORECASE,
)
MAX_PROGRAMS = 12
# They bring a network to what phones, browsers and other runtimes read, on whatever machine that is done.
_CONVERTERS = frozenset({"coremltools", "onnx_coreml", "tf2onnx", "tensorflowjs", "ai_edge_torch", "keras2onnx"})


def computing_runs(checkout: Checkout) -> tuple[Run, ...]:
    """Return the documented commands whose program computes on a card, in the order in which a reader meets them.

    Those that are told what only a training takes leave its steps to a library which is not here.
    """
    found = inferring_runs(checkout, _computes)
    told = [run.command is not None and is_told_to_train(run.command) for run in found]
    return tuple(
        replace(run, behavior=Behavior.TRAINS) if is_told else run for run, is_told in zip(found, told, strict=True)
    )


def inferring_runs(checkout: Checkout, infers: Callable[[Checkout, Source], bool]) -> tuple[Run, ...]:
    """Return the documented commands of whose program that holds, as runs that infer, in the order in which a reader meets them."""
    asked: dict[Source, bool] = {}
    found: list[Run] = []
    for run in documented_runs(checkout):
        if run.command is None or not run.command.is_documented or run.script is None:
            continue
        if run.script not in asked and len(asked) < MAX_PROGRAMS:
            asked[run.script] = infers(checkout, run.script)
        if asked.get(run.script):
            found.append(replace(run, behavior=Behavior.INFERS))
    return tuple(found)


@remembered
def only_prepares(checkout: Checkout) -> bool:
    """Whether all programs that import a library for a card are steps beside a work that is elsewhere, and none names a card."""
    users = []
    for source in checkout.of(Form.PYTHON, Form.NOTEBOOK):
        if top_level_gpu_import(source) is None:
            continue
        if not (STEP.search(f"/{source.name}") or _converts(source)):
            return False  # the first that works: in a large tree the other thousands need not be asked
        users.append(source)
    return bool(users) and not any(_ON_A_CARD.search(source.text) for source in users)


def _converts(source: Source) -> bool:
    return source.code is not None and bool(source.code.imported() & _CONVERTERS)


def _computes(checkout: Checkout, script: Source) -> bool:
    """Whether a program names a card, and imports a library that computes on one, itself or through others."""
    if STEP.search(f"/{script.name}") or not is_started(checkout, script) or _ON_A_CARD.search(script.text) is None:
        return False
    return any(s.code is not None and s.code.imported() & GPU_MODULES for s in import_closure(checkout, script))
