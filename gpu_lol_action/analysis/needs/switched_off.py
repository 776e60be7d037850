"""A GPU that what is started leaves off: only an option asks for it, an extra, another list, or a session on a card.

A tool for labelling tracks with OpenCV, and with a network where ``--tracker siam`` says so: ``if TRACKER == "siam": from siam import …``.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_PACKAGES
from gpu_lol_action.analysis.models.beside_hosted import only_offers
from gpu_lol_action.analysis.models.cpu_bound import stays_on_cpu
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.behavior import Behavior, top_level_gpu_import
from gpu_lol_action.analysis.programs.dead_branches import dead_lines, with_other_names
from gpu_lol_action.analysis.programs.import_graph import imported_over
from gpu_lol_action.analysis.python.code import Import
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.gpu_extras import takes_along
from gpu_lol_action.analysis.runs.onnx_sessions import stays_in_memory
from gpu_lol_action.analysis.runs.promised_without import promised_without
from gpu_lol_action.analysis.runs.settings import values_of
from gpu_lol_action.domain.patterns import regex

_CARD = regex(r"cuda|gpu|flash_att|tensor_parallel|load_in_[48]bit", re.IGNORECASE)
# Its device, or one that it hands on by that name; not another beside it, where results are looked at (`cpu_device`, detectron2's demos).
_ITS_DEVICE = regex(r"(?<!\w)device\s{0,4}=\s{0,4}(?:torch\.device\(\s{0,4})?[\"']cpu[\"']")
MAX_MODULES = 3  # that compute on a GPU: more are the work itself


def why_left_off(checkout: Checkout, run: Run) -> str | None:
    """Return why a run that could use a GPU's library does without; None where it uses one."""
    if takes_along(checkout, run):
        return "only an extra computes on one, in modules that are taken along where they can be had"
    if only_offers(checkout, run):
        return "what it starts imports none, and the list that is installed names none: a model of one's own is an offer beside hosted ones"
    if computes_if_told(checkout, run):
        return "only an option asks for it, which the command leaves off, and the list that is installed names no library for it"
    if hands_cpu_on(checkout, run):
        return "what it starts puts all on the CPU in so many words, and what it imports names no card"
    if (readme := promised_without(checkout, run)) is not None:
        return (
            f"`{readme}` opens with the promise that none is needed, and only a folder beside tells of what needs one"
        )
    if stays_in_memory(checkout, run):
        return "what it starts runs in ONNX Runtime on the CPU, and names no card"
    return None


def computes_if_told(checkout: Checkout, run: Run) -> bool:
    """Whether a documented command reaches a GPU's library only over imports in branches that its options switch off."""
    command = run.command
    if command is None or run.script is None or run.behavior is Behavior.TRAINS:
        return False
    if command.is_launcher or command.is_tool:
        return False
    required = {package_name(item.requirement) for item in declared_packages(checkout) if not item.is_optional}
    if not required or required & GPU_PACKAGES:
        return False
    computing = [source for source in import_closure(checkout, run.script) if top_level_gpu_import(source) is not None]
    if not 0 < len(computing) <= MAX_MODULES or run.script in computing:
        return False
    values = with_other_names(run.script, values_of(checkout, run))
    dead: dict[Source, tuple[range, ...]] = {}

    def is_live(source: Source, item: Import) -> bool:
        if source not in dead:
            dead[source] = dead_lines(source, values)
        return not any(item.line in block for block in dead[source])

    reached = imported_over(checkout, run.script, is_live)
    return reached.isdisjoint(computing)


def hands_cpu_on(checkout: Checkout, run: Run) -> bool:
    """Whether a started program makes the CPU its device, and no module that it imports speaks of a card (``Net(device=torch.device("cpu"))``)."""
    if run.command is None or run.script is None or run.behavior is Behavior.TRAINS or not stays_on_cpu(run.script):
        return False
    if _ITS_DEVICE.search(run.script.text) is None:
        return False
    return not any(_CARD.search(source.text) for source in import_closure(checkout, run.script))
