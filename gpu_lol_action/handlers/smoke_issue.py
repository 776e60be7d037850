"""Keep the one issue about the default branch's smoke test: opened, brought up to date, closed, opened again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.request import Repository
from gpu_lol_action.domain.smoke import SmokeHistory, SmokeRun
from gpu_lol_action.domain.smoke_issue import Action, IssueDraft, StandingIssue, Trouble, decide, stand
from gpu_lol_action.handlers.answers import fitted
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.ports_smoke import Issues
from gpu_lol_action.handlers.surfaces import attempt
from gpu_lol_action.render import comments
from gpu_lol_action.render.views_smoke_issue import SmokeIssueCase, issue_prefix, issue_title


@dataclass(frozen=True, slots=True)
class Night:
    """What is new about a branch's test: runs, which the history holds already, and the records of their machines."""

    repository: Repository
    branch: str
    history: SmokeHistory
    runs: Sequence[SmokeRun]
    records: Sequence[EnvironmentRecord]


def keep_issue(context: Context, night: Night) -> StandingIssue | None:
    """Do what the issue needs; return it where one stands open. A refusal is noted and fails nothing.

    Only what a schedule (or a person in its place) runs on the default branch has an issue.
    """
    if context.issues is None or night.branch != night.repository.default_branch:
        return None
    what = "the issue about the smoke test"
    return attempt(context, what, "issues: write", partial(_keep, context, context.issues, night))


def _keep(context: Context, issues: Issues, night: Night) -> StandingIssue | None:
    branch, history = night.branch, night.history
    cells = list(dict.fromkeys(run.cell for run in night.runs))
    standing = stand(history, cells)
    if standing.trouble is Trouble.NONE and history.issue_number is None:
        return None
    prefix = issue_prefix(branch)
    issue = issues.read(history.issue_number, prefix) if history.issue_number is not None else None
    if issue is None and standing.trouble in (Trouble.FAILING, Trouble.STUCK):
        # A run that opened one may have died before it could write down which.
        issue = issues.find(prefix)
    before = stand(replace(history, runs=tuple(run for run in history.runs if run not in night.runs)), cells)
    step = decide(standing, before, issue, context.clock.now())
    case = SmokeIssueCase(
        server_url=context.settings.server_url,
        repository=night.repository.full_name,
        branch=branch,
        standing=standing,
        history=history,
        runs=night.runs,
        records=night.records,
        now=context.clock.now(),
        run_url=context.settings.run_url or "",
    )
    draft = IssueDraft(
        context.redact(issue_title(branch, standing.trouble)),
        fitted(context, comments.smoke_issue(case)),
        is_open=step.action is not Action.CLOSE,
    )
    if step.action is Action.OPEN:
        issue = _opened(context, issues, draft, history.issue_number)
        _remember(context, branch, history.issue_number, issue)
    elif issue is not None and step.action is not Action.NOTHING:
        issues.edit(issue.number, draft)
        if history.issue_number != issue.number:
            _remember(context, branch, history.issue_number, issue)
        if step.is_told:
            issues.comment(issue.number, fitted(context, comments.smoke_issue_news(case)))
        issue = replace(issue, is_open=draft.is_open)
    return issue if issue is not None and issue.is_open else None


def _opened(context: Context, issues: Issues, draft: IssueDraft, number: int | None) -> StandingIssue:
    issue = issues.open(draft.title, draft.body)
    context.progress.line(f"opened issue #{issue.number}" + (f" in place of #{number}" if number is not None else ""))
    return issue


def _remember(context: Context, branch: str, known: int | None, issue: StandingIssue) -> None:
    """Write the issue's number beside the runs. The next run would find it by its marker, too, at the price of a look."""
    if context.smoke_book is None:
        return

    def edit(history: SmokeHistory) -> SmokeHistory:
        return replace(history, issue_number=issue.number) if history.issue_number in (known, None) else history

    context.smoke_book().change(branch, edit)
