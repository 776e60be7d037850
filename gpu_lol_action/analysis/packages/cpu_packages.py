"""The packages of a checkout, without those that compute on a GPU where nothing of it needs one and only an extra names them.

A library that is rented no GPU has modules that may use one for those who have it: an evaluation that can also ask a model of one's
own, an explainer of networks beside one of trees. What only such a module imports, only another run's launcher is, or only
`pip install mine[gpu]` brings, is left to whoever has one. What the program that is started imports itself stays: without it nothing
starts, on cores neither.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages, lists_of
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_PACKAGES
from gpu_lol_action.analysis.formats.import_names import package_of
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.needs.workload import gpu_need
from gpu_lol_action.analysis.package_lists.locked_extras import is_locked_with_extras
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.packages import packages
from gpu_lol_action.analysis.programs.loaded_modules import loaded_of_library
from gpu_lol_action.analysis.python.code import Import
from gpu_lol_action.analysis.runs.entry_points import is_started
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.finding import Confidence, Finding


def detect(checkout: Checkout) -> list[Finding]:
    """Return the findings on packages; without a need for a GPU those of its packages stay that everybody installs."""
    found = packages.detect(checkout)
    if not any(_computes(item) for item in found) or gpu_need(checkout, primary_run(checkout)) is not None:
        return found
    needed = _imported_at_once(checkout)
    declared = declared_packages(checkout)
    extras = {package_name(i.requirement) for i in declared if i.group or is_locked_with_extras(checkout, i)}
    return [
        item
        for item in found
        if not _computes(item)
        or (name := package_name(item.value)) in needed
        or not (_is_guessed(item) or name in extras)
    ]


def _imported_at_once(checkout: Checkout) -> frozenset[str]:
    """Return the packages that the started program imports as it starts, whatever happens; those of a library where nothing is started."""
    run = primary_run(checkout)
    if run is None:
        names = frozenset(project.name for _, project in lists_of(checkout).projects if project.name)
        loaded = (source.code for source in loaded_of_library(checkout, names) if source.code is not None)
        return _packages(item for code in loaded for item in code.imports)
    code = run.script.code if run.script is not None else None
    if run.script is None or code is None or run.script.form is Form.NOTEBOOK:
        return frozenset()  # a notebook shows one use of many
    if run.command is None and not is_started(checkout, run.script) and not is_shown(run.script):
        return frozenset()  # a module of a library, which stands for it where nothing is made to be started
    return _packages(code.imports)


def _packages(imports: Iterable[Import]) -> frozenset[str]:
    taken = (item for item in imports if not (item.is_optional or item.is_lazy))
    return frozenset(package_name(name) for item in taken if (name := package_of(item.module)) is not None)


def _computes(finding: Finding) -> bool:
    return finding.field == "dependencies.requirements" and package_name(finding.value) in GPU_PACKAGES


def _is_guessed(finding: Finding) -> bool:
    """Whether an import or a launcher is all that speaks for a package."""
    return finding.confidence is not Confidence.HIGH
