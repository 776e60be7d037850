"""Why nothing reaches a GPU though a library that computes on one is there: each reason in the words that the answer gives."""

from __future__ import annotations

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.commands.native_programs import native_need
from gpu_lol_action.analysis.commands.ray_orders import orders_a_card
from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.documents.listed_machines import listed_without_gpu
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.documents.silent_readme import silent_readme
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES, GPU_PACKAGES, OF_KERNELS
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models.beside_hosted import has_no_framework, only_embeds, only_loads_data, starts_clients
from gpu_lol_action.analysis.models.cpu_bound import (
    EMBEDDERS,
    asks_hosted_model,
    is_collection_of_clients,
    is_course_on_cores,
    stays_on_cpu,
)
from gpu_lol_action.analysis.models.model_cards import is_model_card
from gpu_lol_action.analysis.needs.card_numbers import starts_below_zero, switched_off_in
from gpu_lol_action.analysis.needs.card_switch import leaves_card_off
from gpu_lol_action.analysis.needs.container_cards import container_need
from gpu_lol_action.analysis.needs.device_use import touches_a_device
from gpu_lol_action.analysis.needs.hardly_any_card import why_hardly_any_card
from gpu_lol_action.analysis.needs.local_servers import served_here
from gpu_lol_action.analysis.needs.made_for_cards import made_for_cards
from gpu_lol_action.analysis.needs.moved_to_card import code_need, moved_at
from gpu_lol_action.analysis.needs.other_languages import built_in_another_language, cores_of_cmake
from gpu_lol_action.analysis.needs.plain_networks import learns_from_numbers
from gpu_lol_action.analysis.needs.required_without import few_import, required_without
from gpu_lol_action.analysis.needs.switched_off import why_left_off
from gpu_lol_action.analysis.needs.told_cards import told_card
from gpu_lol_action.analysis.needs.untold_programs import is_told_no_device, is_untold_among_many, wants_a_card
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.computing_runs import only_prepares
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.pseudocode import is_pseudocode
from gpu_lol_action.analysis.runs.spacy_training import is_spacy, stays_on_cores
from gpu_lol_action.analysis.stated.documented_counts import ran_on_a_card
from gpu_lol_action.analysis.stated.done_on_cores import all_on_cores, denies_need, done_on_cores, titled_for_cores


def why_no_gpu(checkout: Checkout, run: Run | None) -> str | None:
    """Return why nothing reaches a GPU though a library that computes on one is there; None where something may."""
    if run is not None and run.script is not None and _is_sure_of_a_card(checkout, run.script):
        return None
    reasons = (_of_hosted_models, _of_documents, _of_the_run, _of_lists_and_imports)
    told = next((why for reason in reasons if (why := reason(checkout, run)) is not None), None)
    if told is not None:
        return told
    # Of a program that is not here nobody can say that it stays on the CPU.
    is_away = run is not None and run.script is None and run.behavior is Behavior.TRAINS
    if not is_away and not touches_a_device(checkout) and made_for_cards(checkout) is None:
        return "no program names a device or a GPU's share of the work: everything stays on the CPU"
    return None


def _of_hosted_models(checkout: Checkout, run: Run | None) -> str | None:
    """Return that somebody else computes."""
    if run is not None and starts_clients(checkout, run):
        return "what the README starts asks models that a company hosts, and reaches nothing that computes itself"
    if has_no_framework(checkout, run):
        return "its list names clients of hosted models, and beside `transformers`, which counts tokens for them, no framework"
    if (run is None or run.behavior is not Behavior.TRAINS) and only_loads_data(checkout):
        return "hosted models answer, and PyTorch is there for seeds and the order of the data alone"
    if asks_hosted_model(checkout, run):
        return "commands name models that a company hosts, and a document asks for its key"
    if (run is None or run.command is None) and is_collection_of_clients(checkout):
        return "most of the programs ask models that companies host, and hardly any computes something itself"
    if _is_lesson(run) and is_course_on_cores(checkout):
        return "most of the notebooks fit what cores compute, and the few that build a network name no card"
    if _only_infers(run) and not _is_launched(run) and only_embeds(checkout) and served_here(checkout) is None:
        return "a hosted model answers, and only a small one for embeddings is run beside it"
    return None


def _of_documents(checkout: Checkout, run: Run | None) -> str | None:
    """Return that a document tells of cores alone."""
    if _only_infers(run) and (listed := listed_without_gpu(checkout)) is not None:
        return f"`{listed}` lists the cores and the memory that are needed, and no GPU"
    is_training = not _only_infers(run) and not _is_lesson(run)
    programs = [run.script] if run is not None and run.script is not None else checkout.of(Form.PYTHON)
    is_left = not _is_launched(run) and all(moved_at(source) is None for source in programs)
    if is_left and (said := done_on_cores(checkout, is_training=is_training)) is not None:
        return f"`{said}` tells that it is done on a CPU, and nothing there speaks of a card"
    if not _is_launched(run) and (said := titled_for_cores(checkout)) is not None:
        return f"`{said}` is the title, and says that it is made for a CPU"
    if not _is_launched(run) and (said := all_on_cores(checkout)) is not None:
        return f"`{said}` says that all computations are done on the CPU"
    # What is built for a card, or started in a container with one, is started all the same.
    is_started = native_need(checkout) is not None or container_need(checkout) is not None
    if run is None and not is_started and (denied := denies_need(checkout)) is not None:
        return f"`{denied}` says that no GPU is needed, and nothing is started that would use one"
    if (built := built_in_another_language(checkout)) is not None:
        return f"`{built}` builds the program, in a language of which nothing speaks of a card"
    return None


def _of_the_run(checkout: Checkout, run: Run | None) -> str | None:
    """Return that what is started leaves a card off, or learns what cores do as well."""
    if run is None:
        return None
    if stays_on_cores(run):
        return "`spacy train` computes on the cores unless it is told a card, and no transformer asks for one"
    if is_pseudocode(run):
        return "the program calls itself pseudocode: it is there to be read"
    if (left_off := why_left_off(checkout, run)) is not None:
        return left_off
    if run.script is not None and run.script.mentions("CPUPlace") and stays_on_cpu(run.script):
        return "the program places its work on the CPU, and speaks of no card"
    if leaves_card_off(checkout, run):
        return "the program starts with its own switch for a card off, and nothing turns it on"
    if not _is_launched(run) and starts_below_zero(checkout, run):
        return "the program's number of the card starts below zero, which means the CPU, and no command gives another"
    if not _is_launched(run) and (written := switched_off_in(checkout, run)) is not None:
        return f"`{written}` leaves the card off"
    if is_told_no_device(checkout, run):
        return "it is bare PyTorch that is told no device, and such a program stays on the CPU"
    if learns_from_numbers(checkout, run):
        return "what it trains is of dense or recurrent layers on numbers, and neither a program nor the README names a card"
    return None


def _of_lists_and_imports(checkout: Checkout, run: Run | None) -> str | None:
    """Return that hardly anything of the checkout has a use for a card."""
    if (run is None or _is_told_nowhere(run)) and only_prepares(checkout):
        return "what imports it only prepares or converts, and names no card"
    if is_untold_among_many(checkout, run):
        return "of many programs hardly one imports it, no document starts that one, and the README tells of no card"
    is_aside = run is None or (_is_told_nowhere(run) and run.script is not None and not wants_a_card(run.script))
    if is_aside and (built := cores_of_cmake(checkout)) is not None:
        return f"`{built}` builds the program with CMake, and most of the Python beside it has no use for a card"
    if (few := why_hardly_any_card(checkout, run)) is not None:
        return few
    if run is None and _imports_none(checkout) and not ran_on_a_card(checkout):
        return "no program imports it, nor starts anything that would"
    if is_aside and _is_needed_by_few(checkout):
        return "few of the programs import it, nothing starts one, and no list nor the README tells of a card"
    if (not _is_launched(run) or _is_of_a_project_file(run)) and (
        listed := required_without(checkout, run)
    ) is not None:
        return f"what `{listed}` requires does without, and the few modules that would compute on one are an offer"
    return None


def _only_infers(run: Run | None) -> bool:
    return run is None or run.behavior is Behavior.INFERS


def _is_lesson(run: Run | None) -> bool:
    """Whether all that would be started is a notebook that nobody is told to start."""
    return run is None or (run.command is None and run.script is not None and run.script.form is Form.NOTEBOOK)


def _is_launched(run: Run | None) -> bool:
    """Whether what is started is a tool of others, or handed to processes of its own: both are made for cards."""
    return run is not None and run.command is not None and (run.command.is_tool or run.command.is_launcher)


def _is_sure_of_a_card(checkout: Checkout, script: Source) -> bool:
    """Whether a program is what a model's card shows, or orders a card itself."""
    return (is_shown(script) and is_model_card(checkout, script)) or orders_a_card(checkout, script)


def _is_told_nowhere(run: Run) -> bool:
    """Whether a run is a program that runs a model, and that no document or script starts or shows."""
    return run.command is None and run.behavior is Behavior.INFERS and not is_shown(run.script)


def _is_of_a_project_file(run: Run | None) -> bool:
    """Whether spaCy trains by a project's own file, and no document tells of it: so the pipelines came about that the project brings."""
    return run is not None and is_spacy(run) and run.command is not None and not run.command.is_documented


def _imports_none(checkout: Checkout) -> bool:
    """Whether there are programs, none of which imports a library that computes on a GPU, and no command of a tool that does."""
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    if not programs or any(source.code.imported() & GPU_MODULES for source in programs if source.code is not None):
        return False
    # A framework computes embeddings with it, and asks for no import; what is compiled here asks for none either.
    listed = {package_name(item.requirement) for item in declared_packages(checkout)} & GPU_PACKAGES
    if listed & (EMBEDDERS | OF_KERNELS) or any(
        tells(checkout) is not None for tells in (native_need, container_need, code_need, made_for_cards, told_card)
    ):
        return False
    return not any(command.is_tool or command.is_launcher for command in launch_commands(checkout))


def _is_needed_by_few(checkout: Checkout) -> bool:
    """Whether few programs import a library for a card, no list asks for one, and the README is silent."""
    listed = {package_name(item.requirement) for item in declared_packages(checkout) if not item.is_optional}
    if any(source.mentions("torch.cuda") for source in checkout.of(Form.PYTHON)):
        return False  # what few import, others ask for the number of its cards
    return not listed & GPU_PACKAGES and silent_readme(checkout) is not None and few_import(checkout)
