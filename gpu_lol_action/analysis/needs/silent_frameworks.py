"""Installable libraries on TensorFlow or JAX of which nothing speaks of a card: not the README, and next to none of their many programs.

These frameworks take a card that is there without being told, so that a part of such a library (operations on texts, trees, pruning,
a simulation of many small learners) seems to want one as soon as one of its lessons trains something. Who takes the library up needs
none for it; what his own networks take is not written here. PyTorch's programs name a device where they have one in mind.
"""

from __future__ import annotations

import itertools
import re

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.commands.native_programs import native_need
from gpu_lol_action.analysis.dependencies.dependency_lists import lists_of
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.documents.silent_readme import silent_readme
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.needs.container_cards import container_need
from gpu_lol_action.analysis.needs.made_for_cards import made_for_cards
from gpu_lol_action.analysis.needs.plain_networks import is_listed_for_a_card, names_a_card, takes_a_card_untold
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

LEAST_PROGRAMS = 20
MOST_NAMING = 0.02
"""Of a library's programs those that may name a card: a remark about somebody else's machine is found in any large one."""
_LESSONS = frozenset({"examples", "example", "notebooks", "notebook", "tutorials", "samples", "demo", "demos", "docs"})

# Several devices are cards, whatever they are called; and who runs or trains what makes texts and pictures needs one.
_SPREADS = regex(r"\bMirroredStrategy\b|\bMultiWorkerMirrored|\bjax\.pmap\b|\bpmap\(")
_LARGE = regex(r"\bfrom_pre(?:trained|set)\(|diffusion|stylegan|(?<![a-z])(?:llama|mistral|gemma)", re.IGNORECASE)


def is_silent_framework(checkout: Checkout, run: Run | None) -> bool:
    """Whether a checkout is such a library, and nothing but a lesson of it was found to be started, of which no document tells."""
    if run is not None and (run.command is not None or run.script is None or not _is_lesson(run.script)):
        return False
    if run is not None and run.script is not None and _wants_a_card(checkout, run.script):
        return False
    if silent_readme(checkout) is None or is_listed_for_a_card(checkout) or made_for_cards(checkout) is not None:
        return False
    if not any(project.is_installable for _, project in lists_of(checkout).projects):
        return False
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    if len(programs) < LEAST_PROGRAMS:
        return False
    most = int(MOST_NAMING * len(programs))
    if len(list(itertools.islice(filter(names_a_card, programs), most + 1))) > most:
        return False
    used = frozenset().union(*(source.code.imported() for source in programs if source.code is not None)) & GPU_MODULES
    if not used or not takes_a_card_untold(used):
        return False
    is_launched = any(command.is_tool or command.is_launcher for command in launch_commands(checkout))
    return not is_launched and container_need(checkout) is None and native_need(checkout) is None


def _wants_a_card(checkout: Checkout, lesson: Source) -> bool:
    """Whether the very lesson that stands for the library has a use for a card: one of many programs may name one, this one not."""
    reached = (lesson, *import_closure(checkout, lesson))
    is_large = _LARGE.search(lesson.path) is not None or _LARGE.search(lesson.text) is not None
    return is_large or names_a_card(lesson) or any(_SPREADS.search(source.text) for source in reached)


def _is_lesson(script: Source) -> bool:
    if is_shown(script):
        return False
    return script.form is Form.NOTEBOOK or bool({part.lower() for part in script.path.split("/")[:-1]} & _LESSONS)
