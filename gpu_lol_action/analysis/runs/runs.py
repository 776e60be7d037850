"""Which of the things that can be started is the run to provision for, and which others are worth a profile.

The rules, in this order (docs/entry-points.md tells them with their reasons):

1. steps beside the run (data preparation, evaluation, conversion, tests, benchmarks) come last;
2. what lies nearer to the root comes first: the document that names a command, else the script or program itself;
3. on one level a documented command wins over a launch script, that over a configuration, that over a program;
4. variants for trying out or for other machines (CPU, Mac, TPU, debug, toy, several machines) come behind the others;
5. training wins over inference, unless the README opens with running the model, or nothing tells of the training and what is
   there is made for using the model (``made_for_use``);
6. a section on pre-training or on reproducing results names the main run; else the one that is named first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.commands.placeholder_commands import STEP, leaves_configuration_open
from gpu_lol_action.analysis.documents.linked_pages import FOLDERS
from gpu_lol_action.analysis.documents.shown_programs import is_shown, shown_program
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, form_of
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import is_imported
from gpu_lol_action.analysis.runs.blank_commands import filled_in
from gpu_lol_action.analysis.runs.computing_runs import computing_runs
from gpu_lol_action.analysis.runs.entry_points import (
    Run,
    configured_runs,
    documented_runs,
    looked_up,
    program_runs,
    programs,
)
from gpu_lol_action.analysis.runs.gpu_extras import is_for_an_extra
from gpu_lol_action.analysis.runs.made_for_use import is_of_an_experiment, is_page_on_tuning, made_for_use
from gpu_lol_action.analysis.runs.node_packs import is_tuning_node
from gpu_lol_action.analysis.runs.only_training import as_only_training
from gpu_lol_action.analysis.runs.onnx_sessions import session_programs, session_runs
from gpu_lol_action.analysis.runs.pseudocode import is_pseudocode
from gpu_lol_action.analysis.runs.quick_use import is_told_of_training, opens_with_use, shows_alone, shows_before_tuning
from gpu_lol_action.analysis.runs.run_kinds import fame_of, helpers_of, is_beside, is_later_stage, is_variant, submits
from gpu_lol_action.analysis.runs.run_levels import Levels, is_library, levels_of, levels_of_pages
from gpu_lol_action.analysis.runs.run_names import run_names
from gpu_lol_action.analysis.runs.run_ranks import CONFIGURATION, DOCUMENT, LIBRARY, PROGRAM, README, SCRIPT, Rank
from gpu_lol_action.analysis.runs.run_reasons import place_of, reason_of
from gpu_lol_action.analysis.runs.shown_again import says_again
from gpu_lol_action.analysis.runs.shown_results import trained_here
from gpu_lol_action.analysis.runs.spread_forms import is_spread_form
from gpu_lol_action.analysis.runs.touched_runs import run_called
from gpu_lol_action.analysis.runs.words_around import is_offered_aside, is_tried_out
from gpu_lol_action.domain.patterns import regex

MAX_RUNS = 8
MAX_PER_PROGRAM = 3
LAST = 10**6  # where a README's own code stands among the programs of its level
MAX_DEEPER = 1  # levels below the first run's at which another is worth a profile

_MAIN_SECTION = regex(r"reproduc|replicat|pre-?train(?!ed)|main (?:run|experiment|result)|full training", re.IGNORECASE)
# "VCR 2nd stage pre-training" goes on from what came before, for one of several tasks.
# "Continual pre-training" is often all that a repository is for.
_LATER_STAGE = regex(
    r"\b(?:2nd|3rd|second|third|later)[- ](?:stages?|phase)\b|\b(?:stage|phase)[- ]?(?:2|3|II|III|two|three)\b|\bcontinu(?:e|ing)\b",
    re.IGNORECASE,
)


def primary_run(checkout: Checkout) -> Run | None:
    """Return the run to provision for; None where nothing was found that trains or infers."""
    runs = all_runs(checkout)
    return runs[0] if runs and not is_for_an_extra(checkout, runs[0]) else None


def run_named(checkout: Checkout, name: str) -> Run | None:
    """Return the run of that name, whether it is among those worth an estimate or not; else the one to provision for."""
    if not name:
        return primary_run(checkout)
    known = all_runs(checkout)
    named = next((run for run in known if run.name == name), None)
    return named or run_called(checkout, name, known) or primary_run(checkout)


def further_runs(checkout: Checkout) -> tuple[Run, ...]:
    """Return the runs worth an estimate beside the one to provision for."""
    return all_runs(checkout)[primary_run(checkout) is not None :]


@functools.lru_cache(maxsize=4)
def all_runs(checkout: Checkout) -> tuple[Run, ...]:
    """Return the runs worth an estimate, the one to provision for first, each with its name and reason; at most eight."""
    ranked = _use_first(checkout, sorted(as_only_training(_ranked(checkout)), key=lambda rank: rank.key))
    near = [rank for rank in ranked if not rank.is_beside]
    if ranked[:1] == near[:1] and (trained := trained_here(checkout, [rank.run for rank in near])) is not None:
        ranked = sorted(ranked, key=lambda rank: rank.run is not trained)
    ranked = sorted(ranked, key=lambda rank: is_tuning_node(checkout, rank.run))
    if ranked and all(rank.is_beside for rank in ranked):
        ranked = [
            *_as_ranks(checkout, session_runs(checkout)),
            *sorted(ranked, key=lambda rank: not _is_to_start(rank)),
        ]
    ranked = ranked or _as_ranks(checkout, computing_runs(checkout) or session_programs(checkout))
    chosen = _distinct(checkout, ranked)
    if not chosen:
        return ()
    names = run_names(rank.run for rank in chosen)
    first = chosen[0]
    return tuple(
        replace(rank.run, name=name, reason=reason_of(rank, len(chosen)) if rank is first else place_of(rank))
        for rank, name in zip(chosen, names, strict=True)
    )


def _as_ranks(checkout: Checkout, runs: Iterable[Run]) -> list[Rank]:
    ranks = [_rank(checkout, levels_of(checkout), run, place) for place, run in enumerate(runs)]
    return sorted(ranks, key=lambda rank: rank.key)


def _ranked(checkout: Checkout) -> list[Rank]:
    runs = [*documented_runs(checkout), *configured_runs(checkout)]
    # A program that commands only test, or try out elsewhere, is there to be started by itself as well.
    commanded = {run.script for run in runs if run.script is not None and not (is_beside(run) or is_variant(run))}
    levels = levels_of(checkout)
    made: list[Source] = []
    library: list[Source] = []
    for source in programs(checkout):
        if source not in commanded:
            (library if is_library(checkout, levels, source) else made).append(source)
    runs += program_runs([*made, *([shown] if (shown := shown_program(checkout)) is not None else [])])
    ranks = _near(checkout, levels, runs)
    # Modules of the library matter where nothing is made to be started; to look into each is most of what a large one costs.
    if not any(_is_to_start(rank) and rank.level + MAX_DEEPER < LIBRARY for rank in ranks):
        ranks = _near(checkout, levels, [*runs, *program_runs(library)])
    return ranks


def _is_to_start(rank: Rank) -> bool:
    """Whether somebody starts it: also a measurement that a document tells of or that trains at the root, where nothing else is there to be started."""
    command, script = rank.run.command, rank.run.script
    is_told = command is not None and command.is_documented
    is_guarded = script is not None and script.depth == 0 and script.code is not None and script.code.has_main
    is_at_root = is_guarded and rank.run.behavior is Behavior.TRAINS
    is_step = script is None or STEP.search(f"/{script.name}") is not None
    return not rank.is_beside or ((is_told or is_at_root) and not is_step)


def _near(checkout: Checkout, levels: Levels, runs: Sequence[Run]) -> list[Rank]:
    """Return the ranks of what trains or infers, looked up from the first rank on as far as runs behind could be chosen.

    Whether it is a step beside the run, its level, and whether it is a bare program are known before what it does.
    """
    groups: dict[tuple[bool, int, bool], list[tuple[int, Run]]] = {}
    for order, run in enumerate(runs):
        rank = _rank(checkout, levels, run, order)
        groups.setdefault((rank.is_beside, rank.level, rank.kind == PROGRAM), []).append((order, run))
    # What a README shows is one program at most; whether it opens the README is asked before anything is left out.
    first_look = [(order, run) for order, run in enumerate(runs) if run.command is None and is_shown(run.script)]
    ranks = [_rank(checkout, levels, known, order) for order, run in first_look if (known := looked_up(checkout, run))]
    for is_beside_all, level, is_program in sorted(groups):
        chosen = _distinct(checkout, sorted(_with_depth(checkout, ranks, levels), key=lambda rank: rank.key))
        first = chosen[0] if chosen and not chosen[0].is_beside else None
        if first is not None and (is_beside_all or level > first.level + MAX_DEEPER or len(chosen) >= MAX_RUNS):
            break
        for order, run in (each for each in groups[is_beside_all, level, is_program] if each not in first_look):
            known = looked_up(checkout, run)
            ranks += [_rank(checkout, levels, known, order)] if known is not None else []
    return _with_depth(checkout, sorted(ranks, key=lambda rank: rank.order), levels)


def _rank(checkout: Checkout, levels: Levels, run: Run, order: int) -> Rank:
    kind = DOCUMENT if run.command else CONFIGURATION
    level = levels.of(run.evidence.path)
    if run.command is not None and run.command.is_documented:
        kind = README if run.command.said.path.rsplit("/", 1)[-1].lower().startswith("readme") else DOCUMENT
        level = run.command.said.path.count("/")
        if level and run.script is None:
            level = levels_of_pages(checkout).get(run.command.said.path, level)
        if run.script is not None and (own := levels.of(run.script.path)) < level:
            # A page below that speaks of it takes nothing from the program, nor from the script that starts it.
            level, kind = own, SCRIPT if form_of(run.evidence.path) is Form.SHELL else PROGRAM
            if run.command.said.path.startswith(FOLDERS):
                kind = DOCUMENT  # the root's README sends its reader to that page
    elif run.command is not None:
        kind = SCRIPT
        level = min(level, levels.of(run.script.path)) if run.script else level
        if form_of(run.command.said.path) is not Form.SHELL:
            kind = PROGRAM  # an image or a service says what it serves, not what the repository is for
    elif run.script is not None:
        kind = PROGRAM
        # What is only imported by others is no program, wherever it lies.
        level += LIBRARY if is_library(checkout, levels, run.script) else 0
        order = -1 if submits(run.script) else LAST if is_shown(run.script) else order + fame_of(run.script)
    section = run.command.section if run.command else ""
    is_main = _MAIN_SECTION.search(section) is not None and run.behavior is Behavior.TRAINS
    is_main = is_main and not is_offered_aside(checkout, run)
    is_main = is_main and _LATER_STAGE.search(section) is None
    # A document tells the stages in their order; a folder's files come in that of their names.
    is_later = kind >= SCRIPT and run.behavior is Behavior.TRAINS and is_later_stage(run)
    is_later = is_later or is_spread_form(checkout, run)
    is_aside = is_beside(run) or is_told_of_training(checkout, run) or is_pseudocode(run)
    is_open = run.command is not None and leaves_configuration_open(run.command)
    is_trial = is_variant(run) or is_tried_out(checkout, run)
    return Rank(run, is_aside, level, kind, False, is_trial, is_main, order, False, is_open, is_later)


def _with_depth(checkout: Checkout, ranks: list[Rank], levels: Levels) -> list[Rank]:
    """Mark documented runs that serve another, or whose program lies deeper than that of the first one: asides on sub-projects."""
    helpers = helpers_of([rank.run for rank in ranks])
    ranks = [replace(rank, is_beside=True) if rank.run in helpers else rank for rank in ranks]
    near = [rank for rank in ranks if rank.kind <= DOCUMENT and not rank.is_beside]
    if not near:
        shown = shows_alone([rank.run for rank in ranks])
        return [_as_opening(rank) if rank.run is shown else rank for rank in ranks]
    forms = filled_in([rank.run for rank in near if not rank.is_variant])
    places = {forms[rank.run]: rank.order for rank in reversed(near) if rank.run in forms}
    ranks = [replace(r, order=places.get(r.run, r.order), is_variant=r.is_variant or r.run in forms) for r in ranks]
    least = min(rank.level for rank in near)
    # A tool that only serves a model lies nowhere.
    scripts = (rank.run.script for rank in near if rank.level == least and not _only_serves(rank.run))
    first = next(scripts, None)
    limit = levels.of(first.path) if first is not None else 0
    told = [
        replace(
            r,
            is_deeper=bool(
                r.kind <= DOCUMENT and r.run.script and _depth(levels, r.run) > limit and not _is_large(r.run)
            ),
        )
        for r in ranks
    ]
    readmes = [
        rank.run
        for rank in told
        if rank.kind == README and rank.level == least and not (rank.is_deeper or rank.is_beside)
    ]
    shown = shows_before_tuning([rank.run for rank in told if rank.run in readmes or rank.run.command is None])
    told = [_as_opening(rank) if rank.run is shown else rank for rank in told]
    opening = opens_with_use(checkout, readmes, levels.of)
    said = [rank.run.command.said.path if rank.run.command is not None else "" for rank in told]
    return told if opening is None else [replace(r, is_use_first=p == opening) for r, p in zip(told, said, strict=True)]


def _depth(levels: Levels, run: Run) -> int:
    """Return how deep a run's program lies; what a program hands to a cluster lies where that one does."""
    places = [source.path for source in (run.script,) if source is not None]
    places += [run.evidence.path] if form_of(run.evidence.path) is Form.PYTHON else []
    return min(map(levels.of, places), default=0)


def _is_large(run: Run) -> bool:
    """Whether a document tells of a training over several cards: no aside, however deep its program lies."""
    command = run.command
    is_told = command is not None and command.said.path.lower().startswith("readme") and (command.processes or 0) > 1
    return is_told and run.behavior is Behavior.TRAINS


def _only_serves(run: Run) -> bool:
    return run.script is None and run.behavior is Behavior.INFERS


def _use_first(checkout: Checkout, ranks: list[Rank]) -> list[Rank]:
    """Return ranks in their order, with what uses a model before the one that trains, where that is what it is made for."""
    told = [rank for rank in ranks if not rank.is_beside and rank.level < LIBRARY]
    if not told or told[0].run.behavior is not Behavior.TRAINS:
        return ranks
    is_aside = is_page_on_tuning(told[0].run) or is_of_an_experiment(told[0].run)
    if told[0].kind <= DOCUMENT and not is_aside:
        return ranks
    near = [rank.run for rank in told if rank.level <= told[0].level + MAX_DEEPER]
    found = made_for_use(checkout, near)
    if found is None:
        return ranks
    marked = [replace(rank, use=found[1]) if rank.run is found[0] else rank for rank in ranks]
    return sorted(marked, key=lambda rank: rank.key)


def _as_opening(rank: Rank) -> Rank:
    return replace(rank, kind=README, is_use_first=True, is_main_section=True, order=-1)


def _distinct(checkout: Checkout, ranks: Sequence[Rank]) -> list[Rank]:
    """Return the first run of each program and configuration; what prepares, tests or is only imported stays out."""
    found: list[Rank] = []
    seen: set[object] = set()
    counted: dict[object, int] = {}
    for rank in ranks:
        run = rank.run
        is_deep = bool(found) and rank.level > found[0].level + MAX_DEEPER
        if found and (rank.is_beside or rank.is_variant or is_deep or says_again(found[0].run, run)):
            continue
        program = run.script or (run.command.target if run.command else run.evidence.path)
        processes = run.command.processes if run.command else None
        kind = (program, run.configs[:1], (processes or 1) > 1)
        if kind in seen or counted.get(program, 0) >= MAX_PER_PROGRAM:
            continue
        if found and rank.kind == PROGRAM and run.script is not None and is_imported(checkout, run.script):
            continue
        seen.add(kind)
        counted[program] = counted.get(program, 0) + 1
        found.append(rank)
        if len(found) >= MAX_RUNS:
            break
    return found
