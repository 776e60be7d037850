"""Programs that documents start and that run a model in ONNX Runtime, without any library that trains.

They are looked for where all else that was found is a step beside the work: whoever exports a network shows next what runs it. ONNX
Runtime computes on the CPU until its package for cards is installed and a session is told of a card.
"""

from __future__ import annotations

from gpu_lol_action.analysis.commands.placeholder_commands import STEP
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import is_imported
from gpu_lol_action.analysis.runs.computing_runs import inferring_runs
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure, is_started, programs
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

_RUNTIME, _SESSION = "onnxruntime", "InferenceSession"
_FOR_CARDS, _ON_CUDA = "onnxruntime-gpu", "CUDAExecutionProvider"
_ON_A_CARD = regex(r"(?:CUDA|Tensorrt|ROCM|MIGraphX)ExecutionProvider|onnxruntime[-_]gpu|get_available_providers")


def session_runs(checkout: Checkout) -> tuple[Run, ...]:
    """Return the documented commands whose program runs sessions, in the order in which a reader meets them."""
    return inferring_runs(checkout, runs_sessions)


@remembered
def runs_sessions(checkout: Checkout, script: Source) -> bool:
    """Whether a program is started to run sessions of ONNX Runtime, and imports nothing else that computes."""
    if STEP.search(f"/{script.name}") or not is_started(checkout, script):
        return False
    closure = [source for source in import_closure(checkout, script) if source.code is not None]
    imported = frozenset[str]().union(*(source.code.imported() for source in closure if source.code is not None))
    return _RUNTIME in imported and not imported & GPU_MODULES and any(s.mentions(_SESSION) for s in closure)


def session_programs(checkout: Checkout) -> tuple[Run, ...]:
    """Return the programs that run sessions on a card, where a list at the root has ONNX Runtime in its build for cards.

    The last resort of a repository that only weights in this form were published for, and whose document names its programs in prose.
    """
    lists = [source for source in checkout.sources if source.depth == 0 and source.name.startswith("requirements")]
    if not any(source.mentions(_FOR_CARDS) for source in lists):
        return ()
    near = [source for source in programs(checkout) if source.depth <= 1 and source.mentions(_ON_CUDA)]
    found = [source for source in near if not (STEP.search(f"/{source.name}") or is_imported(checkout, source))]
    return tuple(Run(Behavior.INFERS, Evidence(s.path), None, s) for s in found if _opens_a_session(s))


def _opens_a_session(source: Source) -> bool:
    imported = source.code.imported() if source.code is not None else frozenset()
    return _RUNTIME in imported and not imported & GPU_MODULES and source.mentions(_SESSION)


def stays_in_memory(checkout: Checkout, run: Run) -> bool:
    """Whether a run's sessions stay on the CPU: no module of it, nor any list of packages, names a card's provider."""
    if run.script is None or not runs_sessions(checkout, run.script):
        return False
    lists = [source for source in checkout.sources if source.name.startswith("requirements")]
    return not any(_ON_A_CARD.search(s.text) for s in (*import_closure(checkout, run.script), *lists))
