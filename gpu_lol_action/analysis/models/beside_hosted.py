"""What of a GPU's libraries is only there beside models that companies host: a small one for embeddings, or an offer for the few.

Chat pages and agents answer with hosted models, and can load one of the user's own too: its packages stand in a list of their
own (an extra, ``requirements_advanced.txt``), and its module is imported when somebody chooses it.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.commands.ray_orders import orders_a_card
from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.documents.silent_readme import root_readmes, speaks_of_a_card
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.gpu_libraries import BROUGHT, GPU_MODULES, GPU_PACKAGES
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models.cpu_bound import CLIENT_PACKAGES, EMBEDDERS, HOSTED_PACKAGES, has_client, is_client
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.behavior import Behavior, may_use_gpu, top_level_gpu_import
from gpu_lol_action.analysis.programs.import_graph import loaded_at_start
from gpu_lol_action.analysis.runs.entry_points import Run, documented_runs
from gpu_lol_action.domain.patterns import regex

_TRAINS = regex(r"\b(?:fine-?tun|train|sft\b|distill)", re.IGNORECASE)
_README = regex(r"readme(?:\.\w{2,8})?\.\w{2,4}", re.IGNORECASE)
# What `pip install sentence-transformers` brings; a list that names it as well says nothing more.
_BROUGHT = frozenset({"transformers", "torch"})

# Without one of the frameworks it splits texts into tokens, and no more.
_OF_TOKENS = frozenset({"transformers"})

_SENTENCE_ENCODER = "universal-sentence-encoder"
_OF_SENTENCES = frozenset({"tensorflow", "tensorflow-hub", "tensorflow-text"})
_OF_TENSORFLOW = frozenset({"tensorflow", "tensorflow_hub", "keras"})


def only_embeds(checkout: Checkout) -> bool:
    """Whether the one GPU library is for sentences' embeddings, beside a client of a hosted model."""
    names = {package_name(item.requirement) for item in declared_packages(checkout) if not item.is_optional}
    listed = names & GPU_PACKAGES
    if listed and listed <= _OF_SENTENCES and names & CLIENT_PACKAGES and _only_encodes_sentences(checkout):
        return True
    # What is imported and in no list is one of several ways to go, for those who install it. To look into every program takes
    # longest, and is asked last.
    brought = listed & _BROUGHT if listed & EMBEDDERS else frozenset[str]()
    if listed - EMBEDDERS - brought or not (names & CLIENT_PACKAGES or has_client(checkout)):
        return False
    if brought and any(
        source.code.imported() & brought
        for source in checkout.of(Form.PYTHON, Form.NOTEBOOK)
        if source.code is not None
    ):
        return False
    return bool(listed) or not any(
        _counts_on(source) & GPU_MODULES - EMBEDDERS for source in checkout.of(Form.PYTHON, Form.NOTEBOOK)
    )


def _only_encodes_sentences(checkout: Checkout) -> bool:
    """Whether all that TensorFlow is there for is the Universal Sentence Encoder of TensorFlow Hub."""
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.mentions("tensorflow")]
    used = [source for source in programs if _counts_on(source) & _OF_TENSORFLOW]
    return bool(used) and all(
        source.mentions(_SENTENCE_ENCODER) and not _counts_on(source) & (_OF_TENSORFLOW - {"tensorflow_hub"})
        for source in used
    )


def embeds_on_a_card(checkout: Checkout, run: Run | None) -> bool:
    """Whether a run orders a card for the sentences' embeddings alone: the language models that it names answer elsewhere."""
    if run is None or run.script is None or run.behavior is Behavior.TRAINS:
        return False
    return orders_a_card(checkout, run.script) and only_embeds(checkout)


def _counts_on(source: Source) -> frozenset[str]:
    """Return the packages that a program imports at once or when a function asks: not what it takes along where it is there."""
    imports = source.code.imports if source.code is not None and may_use_gpu(source) else ()
    modules = [item.module for item in imports if item.is_lazy or not item.is_optional]
    return frozenset(BROUGHT.get(module, module.partition(".")[0]) for module in modules)


def only_offers(checkout: Checkout, run: Run) -> bool:
    """Whether a started client of hosted models can load one of its own besides, with packages of another list.

    Its own list names clients and none that computes on a GPU; so do the modules that are loaded when it starts.
    """
    script = run.script if run.command is not None else _told(checkout, run)
    if script is None or run.behavior is Behavior.TRAINS:
        return False
    declared = declared_packages(checkout)
    names = {package_name(item.requirement) for item in declared if not item.is_optional}
    offered = {package_name(item.requirement) for item in declared if item.is_optional}
    if not names & CLIENT_PACKAGES or names & GPU_PACKAGES or not offered & GPU_PACKAGES:
        return False
    loaded = loaded_at_start(checkout, script)
    return any(map(is_client, loaded)) and not any(map(top_level_gpu_import, loaded))


def has_no_framework(checkout: Checkout, run: Run | None) -> bool:
    """Whether what is installed asks hosted models and only counts their tokens: of Transformers without a framework no more can be had.

    Not where a document starts first what loads one all the same, or a training.
    """
    names = {package_name(item.requirement) for item in declared_packages(checkout) if not item.is_optional}
    if names & GPU_PACKAGES != _OF_TOKENS or not names & HOSTED_PACKAGES:
        return False
    if run is None or run.command is None:
        return not any(speaks_of_a_card(readme.text) for readme in root_readmes(checkout))
    first = next((told.script for told in documented_runs(checkout) if _README.fullmatch(told.evidence.path)), None)
    if first is None or run.behavior is Behavior.TRAINS:
        return False
    return not any(_loads_a_framework(source) for source in loaded_at_start(checkout, first))


def _loads_a_framework(source: Source) -> bool:
    imports = source.code.imports if source.code is not None and may_use_gpu(source) else ()
    modules = {item.module.partition(".")[0] for item in imports if not item.is_optional}
    return bool(modules & GPU_MODULES - _OF_TOKENS)


def starts_clients(checkout: Checkout, run: Run) -> bool:
    """Whether the root's README starts programs of the root, all of which ask hosted models, and the run is only told of further down.

    Such a project carries others in its folders, with which its answers are judged: their READMEs tell how they were trained.
    """
    if run.command is None or "/" not in run.command.said.path:
        return False
    if any(_speaks_of(readme.text, run.command.said.path.partition("/")[0]) for readme in root_readmes(checkout)):
        return False
    told = [command for command in launch_commands(checkout) if _README.fullmatch(command.evidence.path)]
    found = [checkout.find(command.target.removeprefix("./")) for command in told]
    started = {source for source in found if source is not None and source.form is Form.PYTHON and not source.folder}
    loaded = [loaded_at_start(checkout, source) for source in started]
    return bool(loaded) and all(
        any(map(is_client, each)) and not any(map(top_level_gpu_import, each)) for each in loaded
    )


def _speaks_of(text: str, folder: str) -> bool:
    """Whether a README counts a folder among its own work: it links to it, has it trained, or tells of cards.

    A client makes the data for what is tuned in the next folder; what was only copied in is cloned, installed and no more.
    """
    if speaks_of_a_card(text) or f"]({folder}" in text or f"](./{folder}" in text:
        return True
    return any(folder in line and _TRAINS.search(line) for line in text.split("\n"))


def _told(checkout: Checkout, run: Run) -> Source | None:
    """Return what the root's README starts at the root, where what was found to run a model is one of its modules, which nobody is told of."""
    if run.script is None or not run.script.folder or run.script.form is not Form.PYTHON:
        return None
    for other in documented_runs(checkout):
        if other.script is not None and _README.fullmatch(other.evidence.path):
            return other.script if not other.script.folder else None
    return None


# What a prompting study keeps of a training's framework: seeds, and the order of its questions.
_OF_DATA = regex(
    r"torch\.(?:utils\.data\b[\w.]*|(?:cuda\.)?(?:manual_seed(?:_all)?|is_available|seed(?:_all)?)|backends\.cudnn\b[\w.]*|"
    r"initial_seed|Generator|random\b[\w.]*|use_deterministic_algorithms)"
)
_USES = regex(r"\btorch\.[A-Za-z_][\w.]{0,80}")
_LOADS_DATA = frozenset({"torch", "torchtext"})


def only_loads_data(checkout: Checkout) -> bool:
    """Whether programs ask hosted models, and PyTorch is there for seeds and for the order of the data alone."""
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    if not any(map(is_client, programs)):
        return False
    modules: frozenset[str] = frozenset()
    for source in programs:
        modules |= _counts_on(source) & GPU_MODULES
        if not modules <= _LOADS_DATA:  # of a library most often the first: the others' imports need not be read
            return False
    if "torch" not in modules:
        return False
    using = [source for source in programs if source.mentions("torch")]
    used = [use[0] for source in using for use in _USES.finditer(source.text)]
    imports = (item for source in using if source.code is not None for item in source.code.imports)
    taken = ([f"{item.module}.{name}" for name in item.names] or [item.module] for item in imports)
    used += [name for names in taken for name in names if name.startswith("torch.")]
    return bool(used) and all(_OF_DATA.fullmatch(use) for use in used)
