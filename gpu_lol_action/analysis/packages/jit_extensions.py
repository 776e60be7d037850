"""Extensions that a program has PyTorch compile while it runs: they need a compiler, and ninja, which PyTorch does not bring."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

_MODULE = "torch.utils.cpp_extension"
_LOADERS = ("load", "load_inline")


def extension_loads(checkout: Checkout, run: Run | None) -> Iterator[tuple[Source, Call]]:
    """Yield the calls of ``torch.utils.cpp_extension.load`` in what the run reaches, with their programs.

    No tree is built of a program in which the module's name does not stand.
    """
    for source in import_closure(checkout, run.script) if run and run.script else ():
        if source.code is None or not source.mentions("cpp_extension"):
            continue
        bare = {name for item in source.code.imports if item.module == _MODULE for name in item.names}
        for call in source.code.calls_named(*_LOADERS):
            is_bare = call.name in bare and call.keyword("sources", "cpp_sources", "cuda_sources") is not None
            if is_bare or call.name.endswith(("cpp_extension.load", "cpp_extension.load_inline")):
                yield source, call


def ninja_finding(checkout: Checkout, run: Run | None, known: set[str]) -> list[Finding]:
    """Return ninja where the run has an extension compiled and no list names it: PyTorch refuses to compile without it."""
    first = next(iter(extension_loads(checkout, run)), None) if "ninja" not in known else None
    if first is None:
        return []
    source, call = first
    why = "PyTorch compiles an extension with it while the program runs, and no list names it"
    where = Evidence(source.path, call.line)
    return [Finding("dependencies.requirements", "ninja", why, Confidence.MEDIUM, where)]
