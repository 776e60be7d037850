"""What the code is for, by what it does: training, inference, interactive, or nothing that needs a GPU."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.commands.cluster_orders import tells_of_training
from gpu_lol_action.analysis.commands.hosting_files import Wish
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.commands.native_programs import in_libtorch, native_need, native_workload
from gpu_lol_action.analysis.commands.services import refused_gpu
from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages, lists_of
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.documents.silent_readme import root_readmes
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES, GPU_PACKAGES
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.models.model_cards import is_model_card
from gpu_lol_action.analysis.needs.container_cards import container_need, container_workload, served_on_a_card
from gpu_lol_action.analysis.needs.made_for_cards import kernels_workload, made_for_cards
from gpu_lol_action.analysis.needs.moved_to_card import code_need, code_workload
from gpu_lol_action.analysis.needs.told_cards import told_card, told_workload
from gpu_lol_action.analysis.needs.why_no_gpu import why_no_gpu
from gpu_lol_action.analysis.package_lists.locked_extras import is_locked_with_extras
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.behavior import Behavior, top_level_gpu_import
from gpu_lol_action.analysis.programs.card_by_word import card_by_word
from gpu_lol_action.analysis.runs.computing_runs import only_prepares
from gpu_lol_action.analysis.runs.entry_points import Run, documented_runs, import_closure, is_started
from gpu_lol_action.analysis.runs.gpu_extras import why_aside
from gpu_lol_action.analysis.runs.rented_machines import rented_wish, rents_to_train
from gpu_lol_action.analysis.runs.runs import further_runs
from gpu_lol_action.analysis.stated.declared_hardware import hosted_wish
from gpu_lol_action.analysis.stated.demanded_hardware import told_demand
from gpu_lol_action.analysis.stated.documented_counts import told_training
from gpu_lol_action.analysis.stated.published_models import told_models
from gpu_lol_action.analysis.stated.recipe_pages import told_by_pages
from gpu_lol_action.analysis.training.training_libraries import made_to_train
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

# A library of which fewer modules import a GPU library than this part only offers to work with it.
FEW_MODULES = 0.05
FEW_OFFERING_MODULES = 0.2
_ASIDE_IN_LIBRARIES = frozenset(
    {"examples", "example", "notebooks", "notebook", "tutorials", "samples", "demo", "demos", "scripts"}
)


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return the workload, and what it was told from."""
    wish = hosted_wish(checkout, run) if run is not None else rented_wish(checkout, None)
    refused = refused_gpu(checkout, run.script) if run is not None and run.script is not None else None
    if refused is not None:
        why = f"`{refused.path}` asks for a machine without a GPU"
        return [Finding("workload", "cpu-only", why, Confidence.HIGH, refused)]
    need = gpu_need(checkout, run)
    native = native_need(checkout) if run is None and need is not None else None
    # Python brings the weights to the program that is built, or shows what comes out of it.
    if native is not None and (only_prepares(checkout) or native == in_libtorch(checkout)):
        return [native, native_workload(checkout, native)]
    if (
        need is not None
        and wish is None
        and (reason := why_no_gpu(checkout, run)) is not None
        and not (_is_silent_training(run) and told_demand(checkout, run))
    ):
        return [Finding("workload", "cpu-only", reason, Confidence.MEDIUM, need.evidence)]
    told = told_training(checkout) if run is None and wish is None and native is None else []
    if told and (need is not None or not checkout.of(Form.PYTHON, Form.NOTEBOOK, Form.SHELL)):
        return [need or replace(told[0], field="gpu.use", value="yes"), *told]
    pages = (told_by_pages(checkout) or told_models(checkout)) if need is None and run is None else []
    if need is None and (pages := pages or told_demand(checkout, run)):
        return [replace(pages[0], field="gpu.use", value="yes"), *pages]
    if need is None:
        why, where = (
            "no file imports, and no dependency list names, a package that computes on a GPU",
            _any_place(checkout),
        )
        if run is None and (aside := further_runs(checkout)[:1]):
            why = why_aside(aside[0])
            where = aside[0].evidence
        return [Finding("workload", "cpu-only", why, _cpu_confidence(checkout), where)]
    if run is None and wish is not None:
        kind = "training" if rents_to_train(wish, checkout) else "inference"
        kind = "interactive" if wish.evidence.path.endswith(".ipynb") else kind  # somebody sits in front of it
        why = f"{wish.why}, and starts nothing of this checkout"
        return [need, Finding("workload", kind, why, Confidence.LOW, wish.evidence)]
    if native is not None and need == native:
        return [need, native_workload(checkout, need)]
    if run is None and (does := _does(checkout, need)) is not None:
        return [need, does]
    if run is None:
        return _of_nothing_started(checkout, need)
    return [need, made_to_train(checkout, run) or _of_run(checkout, run)]


def _does(checkout: Checkout, need: Finding) -> Finding | None:
    """Return what a checkout without a run does on its card, told by its containers, its code, or what its scripts start."""
    return container_workload(checkout, need) or code_workload(checkout, need) or told_workload(checkout, need)


def _is_silent_training(run: Run | None) -> bool:
    """Whether a training is started that speaks of no CPU itself: what its README demands is for it."""
    if run is None or run.command is None or run.behavior is not Behavior.TRAINS:
        return False
    return run.script is None or not run.script.mentions("cpu")


def _of_nothing_started(checkout: Checkout, need: Finding) -> list[Finding]:
    """Return what a checkout is for that needs a GPU and starts nothing: what its README tells of, or its kernels; else it is somebody's desk."""
    readme = next((each for each in root_readmes(checkout) if tells_of_training(each.text)), None)
    if readme is not None and checkout.of(Form.PYTHON):
        why = f"{need.why}, and `{readme.name}` tells mostly of training"
        return [need, Finding("workload", "training", why, Confidence.LOW, need.evidence)]
    if (kernels := kernels_workload(checkout)) is not None:
        return [need, kernels]
    why = f"{need.why}, but nothing was found that trains or infers"
    return [Finding("workload", "interactive", why, Confidence.LOW, need.evidence)]


@remembered
def gpu_need(checkout: Checkout, run: Run | None) -> Finding | None:
    """Return the finding that something of the checkout computes on a GPU, before anything speaks against it; None without one."""
    wish = hosted_wish(checkout, run) if run is not None else rented_wish(checkout, None)
    return _gpu_need(checkout, run, wish) or _of_a_document(checkout, run)


def _of_run(checkout: Checkout, run: Run) -> Finding:
    confidence = Confidence.HIGH if run.command is not None else Confidence.MEDIUM
    if run.behavior is Behavior.TRAINS:
        return Finding("workload", "training", f"`{run.shown}` trains", confidence, run.evidence)
    is_notebook = run.script is not None and run.script.form is Form.NOTEBOOK
    programs = checkout.of(Form.PYTHON)
    if is_notebook and not any(source.code and source.code.has_main for source in programs):
        return Finding("workload", "interactive", "the work is done in notebooks", Confidence.MEDIUM, run.evidence)
    return Finding("workload", "inference", f"`{run.shown}` runs a model without training it", confidence, run.evidence)


def _gpu_need(checkout: Checkout, run: Run | None, wish: Wish | None) -> Finding | None:
    """Return the finding that a GPU is used at all, or None."""
    # What is shown may be one use of many; in a folder of documents alone it is all there is.
    is_one_of_many = (
        run is not None and run.script is not None and is_shown(run.script) and _has_more(checkout, run.script)
    )
    run = None if is_one_of_many else run
    if (named := _named(checkout, run)) is not None:
        return named
    is_library, is_started = _is_library(checkout), _is_started(checkout, run)
    for source in checkout.of(Form.PYTHON, Form.NOTEBOOK):
        # A library's own module only hands on what its user asks for.
        if is_library and (_is_beside(source) or not is_started):
            continue
        told = card_by_word(source.code) if source.code is not None else None
        if told is not None:
            return Finding("gpu.use", "yes", told[0], Confidence.HIGH, Evidence(source.path, told[1]))
    if wish is not None:
        return Finding("gpu.use", "yes", wish.why, Confidence.HIGH, wish.evidence)
    by_command = _need_by_command(checkout, run, is_library=is_library)
    return (
        by_command
        or served_on_a_card(checkout, run)
        or native_need(checkout)
        or container_need(checkout)
        or (made_for_cards(checkout) if is_library else code_need(checkout))
        or told_card(checkout)
    )


def _named(checkout: Checkout, run: Run | None) -> Finding | None:
    """Return that a list or an import names what computes on a GPU, or None; whether it is ever used is another question."""
    declared = declared_packages(checkout)
    hard = [item for item in declared if not item.is_optional and package_name(item.requirement) in GPU_PACKAGES]
    # `pip install "mine[all]"` of a library that neither trains nor infers brings what it can work with, not what it needs; no
    # more does a module of it that nobody is told to start.
    is_started = _is_started(checkout, run)
    locked = frozenset(item for item in hard if is_locked_with_extras(checkout, item))
    hard = [item for item in hard if is_started or not (item.group or item in locked)]
    if hard:
        name = package_name(hard[0].requirement)
        return Finding("gpu.use", "yes", f"`{name}` is a dependency", Confidence.MEDIUM, hard[0].evidence)
    offered = (item for item in declared if item.group or item.is_optional or item in locked)
    extras = frozenset(package_name(item.requirement) for item in offered)
    imported = _gpu_import(checkout, extras, is_library=_is_library(checkout), may_be_extra=run is not None)
    if imported is None:
        return None
    source, module, line = imported
    return Finding("gpu.use", "yes", f"`{module}` is imported", Confidence.HIGH, Evidence(source.path, line))


def _is_started(checkout: Checkout, run: Run | None) -> bool:
    is_library = any(item.is_library for item in declared_packages(checkout))
    return run is not None and (run.command is not None or not is_library)


def _is_library(checkout: Checkout) -> bool:
    declared = declared_packages(checkout)
    return any(item.is_library and not item.is_optional for item in declared) or _reads_its_list(checkout)


def _launched(checkout: Checkout) -> Finding | None:
    """Return that documentation launches a program of a library on several GPUs, where its list of packages names none for them."""
    for run in documented_runs(checkout):
        is_launched = run.command is not None and run.command.is_launcher and run.script is not None
        if is_launched and run.script is not None and not _is_beside(run.script) and top_level_gpu_import(run.script):
            return Finding("gpu.use", "yes", f"`{run.shown}` is launched on GPUs", Confidence.MEDIUM, run.evidence)
    return None


def _trains_beside(run: Run) -> bool:
    """Whether a documented command trains with a program of a library's ``scripts``, which imports what its list leaves to the reader."""
    if run.script is None or run.command is None or run.behavior is not Behavior.TRAINS:
        return False
    aside = {part.lower() for part in run.script.path.split("/")[:-1]} & _ASIDE_IN_LIBRARIES
    return aside == {"scripts"} and run.command.is_documented and top_level_gpu_import(run.script) is not None


_HELPERS = frozenset({"utils", "util", "helpers"})


def _has_more(checkout: Checkout, program: Source) -> bool:
    """Whether a checkout has something to start or to install besides what a document shows: then that is one use of many."""
    if is_model_card(checkout, program):
        return False
    programs = checkout.of(Form.PYTHON, Form.NOTEBOOK)
    if all(set(source.path.split("/")[:-1]) & _HELPERS for source in programs):
        return any(is_started(checkout, s) for s in programs) or bool(programs and lists_of(checkout).projects)
    return True


def _of_a_document(checkout: Checkout, run: Run | None) -> Finding | None:
    """Return that the program which a document shows needs a GPU, where the checkout has no other: it is a model's card."""
    if run is None or run.script is None or not is_shown(run.script) or _has_more(checkout, run.script):
        return None
    used = run.script.code.imported() & GPU_MODULES if run.script.code is not None else set()
    why = f"the program that the documentation shows imports `{min(used)}`" if used else ""
    return Finding("gpu.use", "yes", why, Confidence.MEDIUM, run.evidence) if used else None


def _reads_its_list(checkout: Checkout) -> bool:
    """Whether an installable project takes its own dependencies from a file or computes them: that list is complete as well."""
    return any(
        project.is_installable
        and all(item.is_optional for item in project.declared)
        and (project.files or "install_requires" in source.text)
        for source, project in lists_of(checkout).projects
    )


def _gpu_import(
    checkout: Checkout, extras: frozenset[str], *, is_library: bool, may_be_extra: bool
) -> tuple[Source, str, int] | None:
    """Return the first GPU library that a program imports whatever happens; one that an extra brings only where that may be.

    The dependency list of an installable library is complete: what its examples import besides, or a few of its modules for
    those who have it, is not its workload. Where a good part of its modules does so, its list leaves out what users install;
    where an extra of its list brings the package, that part has to be larger.
    """
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    if is_library:
        programs = [source for source in programs if not _is_beside(source)]
    first: tuple[Source, str, int] | None = None
    count, few = 0, FEW_OFFERING_MODULES
    for source in programs:
        hit = top_level_gpu_import(source)
        if hit is None:
            continue
        count += 1
        is_extra = package_name(hit[0].split(".")[0]) in extras
        few = few if is_extra else FEW_MODULES
        if first is None and (may_be_extra or not is_extra):
            first = (source, *hit)
        if first is not None and (not is_library or count >= few * len(programs)):
            return first  # a good part of all is one of those that import something: the rest need not be read
    importing = sum(bool(source.code and source.code.imports) for source in programs)
    return first if count >= few * importing else None


def _need_by_command(checkout: Checkout, run: Run | None, *, is_library: bool) -> Finding | None:
    if is_library and run is not None and _trains_beside(run):
        return Finding("gpu.use", "yes", f"`{run.shown}` trains on one", Confidence.MEDIUM, run.evidence)
    if is_library and (run is None or run.script is None or _is_beside(run.script) or run.command is None):
        return _launched(checkout)
    reached = import_closure(checkout, run.script) if is_library and run is not None and run.script is not None else ()
    if reached and not any(top_level_gpu_import(source) for source in reached):
        return None  # a library's command needs what it imports, whatever other modules can do
    if run is not None:
        return Finding("gpu.use", "yes", f"`{run.shown}` needs one", Confidence.MEDIUM, run.evidence)
    tool = next((command for command in launch_commands(checkout) if command.is_tool), None)
    if tool is not None:
        return Finding("gpu.use", "yes", f"`{tool.tool}` needs one", Confidence.MEDIUM, tool.evidence)
    return None


def _is_beside(source: Source) -> bool:
    return (
        bool({part.lower() for part in source.path.split("/")[:-1]} & _ASIDE_IN_LIBRARIES)
        or source.form is Form.NOTEBOOK
    )


def _cpu_confidence(checkout: Checkout) -> Confidence:
    """How sure: a dependency list without a GPU package says more than silence."""
    if declared_packages(checkout):
        return Confidence.HIGH
    return Confidence.MEDIUM if checkout.of(Form.PYTHON) else Confidence.LOW


def _any_place(checkout: Checkout) -> Evidence:
    declared = declared_packages(checkout)
    if declared:
        return declared[0].evidence
    first = next(iter(checkout.of(Form.PYTHON, Form.MARKDOWN, roles=(Role.WORKLOAD, Role.DOCUMENTATION))), None)
    return Evidence(first.path if first else ".")
