"""Checkouts of many programs of which hardly any names a card: libraries, data, metrics, environments, courses.

They list or import what computes on a GPU, for a part of themselves or for an example, and who takes them up needs none for it: what his own
networks take is not written here. A project that is made for cards names them all over its programs.

The bounds are counted. Of 2,135 repositories that readers had judged 73 asked for a GPU by a name alone and lay within them: 67 needed none,
in each of the sets nearly all. Of 159 more, judged afterwards by two readers each, it changed 16 answers: twelve needed none, four did.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from gpu_lol_action.analysis.commands.native_programs import native_need
from gpu_lol_action.analysis.documents.documented_amounts import memory_phrases
from gpu_lol_action.analysis.documents.documented_phrases import card_phrases
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.documents.silent_readme import root_readmes, silent_readme
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.needs.container_cards import container_need
from gpu_lol_action.analysis.needs.made_for_cards import made_for_cards
from gpu_lol_action.analysis.needs.plain_networks import is_listed_for_a_card, names_a_card
from gpu_lol_action.analysis.needs.required_without import extends_a_host
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

LEAST_PROGRAMS = 10
"""Of fewer a use that was not understood may be the whole."""
FEW_NAMING = 0.06
"""Of the programs those that may name a card: a remark about somebody else's machine is found in any tree."""
MORE_NAMING, FEW_USING = 0.15, 0.2
"""Where no more than a fifth of the programs imports what computes on a GPU, more may name one."""
FEW_USING_TO_TRAIN, FEW_USING_TO_INFER = 0.15, 0.3
"""Of the programs those that may import it where a command is told: one that trains speaks louder than one that only runs a model."""
FEW_LARGE = 0.05
"""Of the programs those that may speak of models of a size which nobody runs on cores."""

_LARGE = regex(
    r"\bfrom_pre(?:trained|set)\(|diffusion|stylegan|(?<![a-z])(?:llama|mistral|gemma|qwen|vllm)", re.IGNORECASE
)

# A README that asks for one outright, and does not deny that ("does not require a GPU").
_ASKS = regex(
    r"(?<!not )(?<!n't )(?<!may )\b(?:requires?|needs?|wants?|must have|made for|built for|designed for)\b(?:(?!CPU)[^.\n]){0,30}(?<![A-Za-z-])(?:GPUs?|CUDA)(?![A-Za-z])",
    re.IGNORECASE,
)


def why_hardly_any_card(checkout: Checkout, run: Run | None) -> str | None:
    """Return why such a checkout needs no GPU, or None: too few programs, too many that name one, or it is built for cards."""
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    if len(programs) < LEAST_PROGRAMS or _is_what_it_is_for(run) or is_listed_for_a_card(checkout):
        return None
    if run is None or run.command is None:
        is_few, told = _is_little_told(programs), "nothing is told to be started"
    else:
        is_few, told = _is_little_used(checkout, run, programs), "few import what would use one"
    # Asked last: it may look at all programs, and most are ruled out by a few.
    if not is_few or _is_for_cards(checkout):
        return None
    return f"of {len(programs)} programs hardly any names a card, and {told}"


def _is_what_it_is_for(run: Run | None) -> bool:
    """Whether a run is a program at the root, a launcher's or tool's, or one by a configuration: it is what all is about."""
    if run is None:
        return False
    if run.script is None and run.configs:  # what trains by it lies elsewhere, and says nothing here
        return True
    if run.command is not None:
        return run.command.is_tool or run.command.is_launcher
    return run.script is not None and run.script.depth == 0 and not is_shown(run.script)


def _is_for_cards(checkout: Checkout) -> bool:
    """Whether a README asks for a card, or a checkout is made, compiled or put into containers for one, or extends what has one."""
    if any(_asks_for_one(line) for source in root_readmes(checkout) for line in source.text.split("\n")):
        return True
    if made_for_cards(checkout) is not None or extends_a_host(checkout):
        return True
    return native_need(checkout) is not None or container_need(checkout) is not None


def _asks_for_one(line: str) -> bool:
    """Whether a line of a README names a model of card or an amount of its memory, or asks for a card outright."""
    return (
        _ASKS.search(line) is not None
        or next(card_phrases(line), None) is not None
        or next(memory_phrases(line), None) is not None
    )


def _is_little_told(programs: Sequence[Source]) -> bool:
    """Whether programs of which none is told to be started need no card."""
    if _are_more_than(FEW_NAMING, programs, names_a_card) and (
        _are_more_than(MORE_NAMING, programs, names_a_card) or _are_more_than(FEW_USING, programs, _uses_one)
    ):
        return False
    return not _are_more_than(FEW_LARGE, programs, _speaks_of_large_models)


def _is_little_used(checkout: Checkout, run: Run, programs: Sequence[Source]) -> bool:
    """Whether programs of which a command is told need no card: the more of them would use one, the less."""
    is_training = run.behavior is Behavior.TRAINS
    few_using = FEW_USING_TO_TRAIN if is_training else FEW_USING_TO_INFER
    if not is_training and silent_readme(checkout) is None:
        return False
    return not (
        # First by a look for words alone: of a large tree made for cards it is a tenth of the work.
        _are_more_than(few_using, programs, _seems_to_use_one)
        or (is_training and _are_more_than(FEW_LARGE, programs, _speaks_of_large_models))
        or _are_more_than(FEW_NAMING, programs, names_a_card)
        or _are_more_than(few_using, programs, _uses_one)
    )


def _are_more_than(share: float, programs: Sequence[Source], does: Callable[[Source], bool]) -> bool:
    """Whether more than a share of the programs does something; no more of them are asked than it takes."""
    most = int(share * len(programs))
    return sum(1 for _ in itertools.islice(filter(does, programs), most + 1)) > most


def _seems_to_use_one(source: Source) -> bool:
    code = source.code
    return code is not None and any(map(code.may_import, ("import torch", "import tensorflow", "from torch")))


def _uses_one(source: Source) -> bool:
    return source.code is not None and bool(source.code.imported() & GPU_MODULES)


def _speaks_of_large_models(source: Source) -> bool:
    return _LARGE.search(source.text) is not None
