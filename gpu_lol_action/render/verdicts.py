"""Which heading a proposal has: what would be paid for decides, and the base is what it is held against."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from gpu_lol_action.render.telling import is_set_aside
from gpu_lol_action.render.views_change import ChangeView
from gpu_lol_action.render.views_documented import documented_view
from gpu_lol_action.render.views_need import NeedView, price_of_all
from gpu_lol_action.render.views_projects import projects_view

if TYPE_CHECKING:
    from gpu_lol_action.render.views_proposal import ProposalCase

_UNCHANGED = frozenset({"cpu_only", "same", "environment"})
_REASSURING = frozenset({"cheaper", "fits_now", "same", "environment"})
"""What is not said in green of code that is not believed as it is written, where its base was."""
_QUIET = frozenset({"same_machine", "other_less", "other_new", "not_as_written"})
"""What costs nothing, and is told in the text where another project costs more."""


def verdict(case: ProposalCase, base: NeedView | None, head: NeedView, change: ChangeView) -> str:
    """Return which heading fits: what would be paid for decides, and the base is what it is held against."""
    told = _verdict_of_project(case, base, head, change)
    if base is None:
        return told
    others = verdict_of_others(case)
    is_first = told in _UNCHANGED or (told in _QUIET and others in {"project_wrong", "project_dearer"})
    return others if others and is_first else told


def verdict_of_others(case: ProposalCase) -> str:
    """Return the news of another project; empty where there is none."""
    news = projects_view(case.projects).news
    if news is None:
        return ""
    if news.is_wrong:
        return "project_wrong"
    if news.is_dearer:
        return "project_dearer"
    return "project_cheaper" if news.difference else "project_new"


def _verdict_of_project(case: ProposalCase, base: NeedView | None, head: NeedView, change: ChangeView) -> str:
    if head.is_cpu_only:
        return "cpu_only_now" if base is not None and not base.is_cpu_only else "cpu_only"
    if not head.has_offer:
        return "no_fit"
    asked = case.analysis.spec.hardware.vram_required_gb
    needed = case.analysis.proposed.hardware.vram_required_gb
    # A language model's claim is no reason to doubt the repository's own file.
    is_doubtful = case.analysis.is_from_file and case.analysis.override is None
    if is_doubtful and asked is not None and needed is not None and asked < needed:
        return "file_asks_too_little"
    if base is None:
        return _verdict_alone(case)
    dearer = price_of_all(case.ladder, case.analysis) - price_of_all(case.base_ladder, case.base_analysis)
    told = _verdict_against(base, dearer, change)
    if is_doubtful or not any(map(is_set_aside, case.analysis.not_understood)):
        return told
    was_so = case.base_analysis is not None and any(map(is_set_aside, case.base_analysis.not_understood))
    return "not_as_written" if told == "same_machine" or (told in _REASSURING and not was_so) else told


def _verdict_alone(case: ProposalCase) -> str:
    """Return how sure a first proposal may sound: computed or told, taken from documentation, or a guess."""
    analysis = case.analysis
    is_told = analysis.is_from_file or analysis.override is not None
    if analysis.breakdown is not None or (is_told and analysis.spec.hardware.vram_required_gb is not None):
        return "not_as_written" if not is_told and any(map(is_set_aside, analysis.not_understood)) else "first"
    return "documented" if documented_view(analysis, case.place) is not None else "unrecognized"


def _verdict_against(base: NeedView, price_difference: Decimal, change: ChangeView) -> str:
    if base.is_cpu_only:
        return "gpu_now"
    if not base.has_offer:
        return "fits_now"
    if price_difference:
        return "dearer" if price_difference > 0 else "cheaper"
    if change.first_memory:
        return "same_machine"
    if change.runs:
        first = change.runs[0]
        if first.kind == "changed":
            return "other_more" if first.is_more else "other_less"
        if first.kind == "new":
            return "other_new"
    return "environment" if change.environment else "same"
