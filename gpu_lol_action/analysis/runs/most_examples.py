"""Packages that most examples of a folder import, where the run is one of them that no document names.

The first example of a library is as good as any other; its own list leaves out what only examples import, and whoever tries them
needs what most of them do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.import_names import package_of
from gpu_lol_action.analysis.formats.package_families import comes_with
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.local_names import is_local
from gpu_lol_action.analysis.python.code import Import
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

_EXAMPLES = frozenset({"example", "examples", "samples", "demos", "tutorials"})
# Another framework beside the one that is needed, and what is compiled where it is installed: only what the run itself imports is worth it.
_FRAMEWORKS = frozenset({"torch", "tensorflow", "jax", "paddlepaddle", "mxnet"})
_COMPILED = frozenset({
    "flash-attn", "deepspeed", "apex", "mamba-ssm", "causal-conv1d", "pytorch3d", "detectron2", "transformer-engine", "tensorrt",
    "horovod", "mpi4py", "pycuda", "dlib",
})  # fmt: skip
LEAST_EXAMPLES, MOST_EXAMPLES = 3, 40


def needed_by_most(
    checkout: Checkout, run: Run | None, required: AbstractSet[str], optional: Mapping[str, str]
) -> list[Finding]:
    """Return what more than half of the examples beside a run import as they start and ``required`` lacks; ``optional`` tells versions."""
    script = run.script if run is not None and run.command is None else None
    if script is None or script.form is not Form.PYTHON or script.folder.rpartition("/")[2].lower() not in _EXAMPLES:
        return []
    beside = [source for source in checkout.of(Form.PYTHON) if source.folder == script.folder and source.name[0] != "_"]
    if not LEAST_EXAMPLES <= len(beside) <= MOST_EXAMPLES:
        return []
    taken = [(source, _taken(checkout, source)) for source in beside]
    apart = _COMPILED | (_FRAMEWORKS if _FRAMEWORKS & required else frozenset())
    counted = Counter(name for _, packages in taken for name in packages)
    found: dict[str, Finding] = {}
    for source, packages in taken:
        for name, item in packages.items():
            if 2 * counted[name] <= len(beside) or name in apart:
                continue
            if name not in required and not comes_with(name, required):
                why = f"`{item.module.split('.')[0]}` is imported by most examples beside the run, and no list names it"
                where, value = Evidence(source.path, item.line), optional.get(name, name)
                found.setdefault(name, Finding("dependencies.requirements", value, why, Confidence.MEDIUM, where))
    return [found[name] for name in sorted(found)]


def _taken(checkout: Checkout, source: Source) -> dict[str, Import]:
    """Return the packages that a program imports whatever happens, by name."""
    imports = source.code.imports if source.code is not None else ()
    known = ((package_of(i.module), i) for i in imports if not (i.is_optional or i.is_lazy or i.module[:1] == "."))
    return {
        package_name(package): item
        for package, item in known
        if package is not None and "://" not in package and not is_local(checkout, source, item.module)
    }
