"""The check run of a commit: the proposal's heading as its title, its text, and the line that raised the need."""

from __future__ import annotations

import html
import re

from gpu_lol_action.domain.annotation import Annotation, Level
from gpu_lol_action.domain.change import Cause, RunNeed, is_telling
from gpu_lol_action.domain.smoke import SmokeResult, SmokeRun
from gpu_lol_action.domain.surfaces import CheckReport, Conclusion
from gpu_lol_action.errors import SpecError
from gpu_lol_action.render.comments import proposal
from gpu_lol_action.render.formats import gib
from gpu_lol_action.render.limits import fit_comment
from gpu_lol_action.render.markdown import visible
from gpu_lol_action.render.verdicts import verdict_of_others
from gpu_lol_action.render.views_projects import projects_view
from gpu_lol_action.render.views_proposal import ProposalCase, verdict_of
from gpu_lol_action.render.views_smoke import SmokeCase

# What a maintainer need not look at; what somebody has to mend; all else is worth a look and blocks nothing.
_FINE = frozenset({"same", "cheaper", "cpu_only", "cpu_only_now", "first", "fits_now", "same_machine", "other_less", "other_new",
                   "environment", "project_cheaper", "project_new"})  # fmt: skip
_WRONG = frozenset({"file_asks_too_little", "no_fit", "project_wrong"})
MOST_ANNOTATIONS = 4
SMOKE_CHECK = "gpu-lol smoke"
_MARKUP = re.compile(r"\\(?=[^\w\s])|`|</?code>|\u200b")


def proposal_report(case: ProposalCase, details_url: str | None) -> CheckReport:
    """Return the check run of a proposal."""
    verdict, body = verdict_of(case), proposal(case)
    told = {verdict, verdict_of_others(case)} - {""}
    fine = Conclusion.SUCCESS if told <= _FINE else Conclusion.NEUTRAL
    conclusion = Conclusion.ACTION_REQUIRED if told & _WRONG else fine
    return CheckReport(
        sha=case.place.sha,
        conclusion=conclusion,
        title=plain_heading(body) + _beside(case, verdict),
        summary=_summary(body, details_url),
        details_url=details_url,
        annotations=_annotations(case),
    )


def _beside(case: ProposalCase, verdict: str) -> str:
    """Return which other project is wrong, where the heading does not say it."""
    news = projects_view(case.projects).news
    is_told = verdict.startswith("project_") or news is None or not news.is_wrong
    return "" if is_told or news is None else f"; and {visible(news.folder, 80)} is wrong"


def smoke_report(case: SmokeCase, body: str, details_url: str | None) -> CheckReport:
    """Return the check run of a smoke test; one that was not run is no failure of the commit."""
    results = {run.result for run in case.runs}
    conclusion = Conclusion.SUCCESS if results == {SmokeResult.PASSED} else Conclusion.NEUTRAL
    return CheckReport(
        sha=case.runs[0].sha,
        conclusion=Conclusion.FAILURE if SmokeResult.FAILED in results else conclusion,
        title=plain_heading(body),
        summary=_summary(body, details_url),
        details_url=details_url,
        annotations=tuple(each for run in case.runs for each in _failures(run)),
        name=SMOKE_CHECK,
    )


def _failures(run: SmokeRun) -> list[Annotation]:
    """Return the failed tests at their lines, as far as the report tells them."""
    failures = run.tests.failures if run.tests is not None else ()
    return [
        Annotation(
            case.path,
            case.line,
            Level.FAILURE,
            visible(f"{case.name} failed", 200),
            visible(case.message or "It says nothing.", 1000),
        )
        for case in failures
        if case.path
    ]


def spec_error_report(error: SpecError, sha: str, body: str, details_url: str | None) -> CheckReport:
    """Return the check run of a commit whose spec is invalid."""
    explanation = error.explanation
    message = " ".join(filter(None, (explanation.what, explanation.why, explanation.fix)))
    annotation = Annotation(error.path, error.line, Level.FAILURE, f"Invalid {error.path}", visible(message, 1000))
    return CheckReport(
        sha,
        Conclusion.ACTION_REQUIRED,
        plain_heading(body),
        _summary(body, details_url),
        details_url,
        (annotation,),
    )


def plain_heading(body: str) -> str:
    """Return a comment's heading as plain text, for places that read no Markdown."""
    lines = body.split("\n")
    heading = lines[1].removeprefix("### ") if len(lines) > 1 else ""
    text = html.unescape(_MARKUP.sub("", heading)).replace("\u200b", "")
    return visible(text.lstrip("🔴🟡🟢⚪ "), 200)


def _summary(body: str, details_url: str | None) -> str:
    """Return the text below the heading: the title has that."""
    return fit_comment(body, overflow_url=details_url).split("\n", 2)[-1].strip()


def _annotations(case: ProposalCase) -> tuple[Annotation, ...]:
    """Return what stands at the lines that made a need larger or smaller: the first run's, then other runs' where they differ."""
    if case.change is None:
        return ()
    change = case.change.change
    found = [_annotation(cause, _message(case), is_more=_raises(case)) for cause in change.causes[:2]]
    for other in case.change.others:
        run = other.change
        if is_telling(run, float(case.policy.least_change_percent)):
            message = f"run {run.name}: {_sizes(run.before, run.after)}"
            found += [_annotation(cause, message, is_more=run.is_more) for cause in run.causes[:1]]
    here = (each for each in found if each is not None)
    places = {(each.path, each.line): each for each in reversed(list(here))}
    return tuple(reversed(places.values()))[:MOST_ANNOTATIONS]


def _raises(case: ProposalCase) -> bool:
    """Whether what is paid for grows; where the price stays, whether the memory does."""
    old, new = case.base_ladder.best if case.base_ladder is not None else None, case.ladder.best
    if new is None or old is None:
        return case.analysis.spec.needs_gpu
    if old.price_usd_per_hour != new.price_usd_per_hour:
        return new.price_usd_per_hour > old.price_usd_per_hour
    first = case.change.change.first if case.change is not None else None
    return first is not None and first.is_more


def _annotation(cause: Cause, message: str, *, is_more: bool) -> Annotation | None:
    """Return the annotation of a cause; None where its line is in the base alone."""
    if cause.new_value is None or not cause.evidence.path:
        return None
    change = f"{cause.old_value} → {cause.new_value}" if cause.old_value is not None else cause.new_value
    level = Level.WARNING if is_more else Level.NOTICE
    place = cause.evidence
    return Annotation(place.path, place.line, level, visible(f"{cause.name}: {change}", 200), visible(message, 1000))


def _sizes(before: RunNeed, after: RunNeed) -> str:
    return " → ".join(
        "no GPU" if not need.gpu_count else gib(need.expected_gib or need.required_gib or 0) for need in (before, after)
    )


def _message(case: ProposalCase) -> str:
    """Return from what to what memory, card and price go."""
    before = case.base_analysis.breakdown if case.base_analysis else None
    after, old, new = case.analysis.breakdown, case.base_ladder and case.base_ladder.best, case.ladder.best
    parts = []
    if before and after:
        parts.append(f"memory per GPU {gib(before.expected_gib)} → {gib(after.expected_gib)}")
    if new is not None:
        machine = f"{new.offer.accelerator_count} x {new.offer.accelerator}, ${new.price_usd_per_hour:.2f}/h"
        previous = f"{old.offer.accelerator_count} x {old.offer.accelerator} → " if old else ""
        parts.append(f"{previous}{machine}")
    elif case.analysis.spec.needs_gpu:
        parts.append("no offer that the policy allows fits")
    else:
        parts.append("no GPU is needed")
    return visible("; ".join(parts), 1000)
