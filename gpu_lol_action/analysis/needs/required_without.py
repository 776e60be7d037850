"""A project that requires packages of which none computes on a card, and of which a few modules can do so: an offer for who wants it.

Such a library splits words, aligns sounds or draws charts; a network is one of its ways, taken along where it is there, learned in a
folder of its own, or shown in an example. Who installs the project as it is has no use for a card, and its README says nothing of one.
"""

from __future__ import annotations

from gpu_lol_action.analysis.dependencies.dependency_lists import lists_of
from gpu_lol_action.analysis.dependencies.install_commands import read_install_commands
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.documents.silent_readme import root_readmes, silent_readme
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_PACKAGES
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.behavior import top_level_gpu_import
from gpu_lol_action.analysis.programs.import_graph import imported_unguarded
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.gpu_extras import declared_at_root
from gpu_lol_action.analysis.runs.node_packs import pack_of
from gpu_lol_action.domain.finding import Evidence

FEW = 0.3
"""Of a project's programs those that import a library for a card whatever happens: of what is made for one, more do."""
LEAST_PROGRAMS = 5


def required_without(checkout: Checkout, run: Run | None) -> Evidence | None:
    """Return where the project at the root requires its packages, if these do without a card and few modules want one; else None."""
    required = [item for item in declared_at_root(checkout) if not item.is_optional and not item.group]
    if not required or silent_readme(checkout) is None or _is_asked_at_root(checkout):
        return None
    if run is not None and run.script is not None and _is_shown_to_compute(checkout, run, run.script):
        return None
    return required[0].evidence if few_import(checkout) else None


def _is_shown_to_compute(checkout: Checkout, run: Run, script: Source) -> bool:
    """Whether a document starts or shows a program that imports a library for a card, itself or through others, whatever happens."""
    is_told = is_shown(script) or (run.command is not None and run.command.is_documented)
    return is_told and any(map(_imports, imported_unguarded(checkout, script)))


@remembered
def few_import(checkout: Checkout) -> bool:
    """Whether of several programs and lessons few import a library for a card whatever happens; of what extends a host on a card none need."""
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    if len(programs) < LEAST_PROGRAMS or extends_a_host(checkout):
        return False
    found = 0
    for source in programs:
        found += _imports(source)
        if found >= FEW * len(programs):
            return False
    return True


@remembered
def extends_a_host(checkout: Checkout) -> bool:
    """Whether modules are loaded by a page or server for diffusion models (ComfyUI, A1111's), which has the card and the libraries."""
    programs = checkout.of(Form.PYTHON)
    return pack_of(checkout) is not None or any(
        source.mentions("script_callbacks") or source.mentions("modules.scripts") for source in programs
    )


def _imports(source: Source) -> bool:
    return top_level_gpu_import(source) is not None


def _is_asked_at_root(checkout: Checkout) -> bool:
    """Whether a list at the root, or a command that a document there has readers give, brings a package for a card."""
    lists = lists_of(checkout)
    named = [item for item in lists.declared if not item.is_optional and not item.group]
    shown = [
        *lists.commands,
        *(command for source in root_readmes(checkout) for command in read_install_commands(source)),
    ]
    told = [item for command in shown for item in command.declared]
    near = [item for item in (*named, *told) if "/" not in item.evidence.path]
    return any(package_name(item.requirement) in GPU_PACKAGES for item in near)
