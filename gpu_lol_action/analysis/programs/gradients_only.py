"""Gradients that are only looked at: a backward pass, and nothing of all that a program imports takes a step with it.

Attribution, saliency and the debuggers of networks walk back through a loss to see what it came from: they read the gradients. So does
what guides a sampler by a loss on its picture, whose ``scheduler.step`` is a step of that, and comparisons of layers and kernels take
the time of it. Who trains also makes an optimizer somewhere, or takes a step by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.programs.behavior import training_calls
from gpu_lol_action.analysis.programs.import_graph import MAX_CLOSURE
from gpu_lol_action.domain.patterns import regex

_WALKS, _CLEARS = "backward", "zero_grad"
_READS = regex(
    r"\.grad\b|\bretain_grad\(|register_(?:full_)?backward_hook\(|\.elapsed_time\(|\bperf_counter\(|\btimeit\b|\bdo_bench\("
)
# Whatever a step is called, and how far it goes. Told from the text, comments and all: a word too many leaves the answer as it was.
_STEPS = regex(
    r"(?<!env\.)(?<!scheduler\.)step\(|[Oo]ptimizer|\boptim\b|[Mm]inimi[sz]e\w{0,20}\(|\b(?:base_|init_)?(?:lr|learning_rate)\b|\bepochs?\b"
    r"|Trainer\b|\.data\s?[-+]=|(?:[-+]=|(?:add|sub)_\()[^\n]{0,80}\.grad\b"
)


def only_looks_at_gradients(closure: Sequence[Source]) -> bool:
    """Whether the one thing in a program and what it imports that could train is a backward pass, whose gradients are read, or whose time is taken, and no step follows.

    ``closure`` is the program with all modules of the checkout that it imports; of one that is cut short nobody knows the rest.
    """
    walking = [source for source in closure if source.code is not None and source.mentions(_WALKS)]
    if len(closure) >= MAX_CLOSURE or not any(_READS.search(source.text) for source in walking):
        return False
    programs = [(source, source.code) for source in closure if source.code is not None]
    if any(_STEPS.search(source.text) for source, _ in programs):
        return False
    calls = [call for _, code in programs for call in training_calls(code)]
    return {call.last for call in calls} in ({_WALKS}, {_WALKS, _CLEARS})
