"""Show something beside the comments: what the token may not do is left out, and the run's summary says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.surfaces import CheckReport, DeploymentState
from gpu_lol_action.errors import GpuLolError, OperatorError
from gpu_lol_action.handlers.context import Context

Shown = TypeVar("Shown")


def attempt(context: Context, what: str, permission: str, show: Callable[[], Shown]) -> Shown | None:
    """Return what ``show`` returns; None where it was refused or failed, which never stops what it is shown beside."""
    try:
        return show()
    except OperatorError as error:
        why = (
            f"it needs `{permission}` in the workflow" if "permission" in error.reason_code else error.explanation.what
        )
        context.progress.note(f"Left out: {what} ({why}).")
    except GpuLolError as error:
        context.progress.note(f"Left out: {what} ({error.explanation.what}).")
    return None


def report_check(context: Context, report: CheckReport) -> bool:
    """Write the check run of a commit; return whether its annotations can be seen there."""
    surfaces = context.surfaces
    if surfaces is None:
        return False
    safe = _redacted(context, report)
    shown = attempt(context, "the check run", "checks: write", lambda: surfaces.checks.report(safe))
    return shown is not None


def _redacted(context: Context, report: CheckReport) -> CheckReport:
    redact = context.redact
    annotations = tuple(
        replace(each, title=redact(each.title), message=redact(each.message)) for each in report.annotations
    )
    return replace(report, title=redact(report.title), summary=redact(report.summary), annotations=annotations)


def take_label_off(context: Context, number: int, label: str) -> None:
    """Take a label off that was somebody's word, so that it can be set again."""
    labels = context.labels
    if labels is not None:
        attempt(context, "taking the label off", "pull-requests: write", lambda: labels.take_off(number, label))


def begin_deployment(context: Context, record: EnvironmentRecord) -> None:
    """Show the environment among the pull request's deployments, pending; the status comment tells how it goes on."""
    surfaces = context.surfaces
    if surfaces is None or record.pull_request is None:
        return
    attempt(context, "the deployment", "deployments: write", lambda: surfaces.deployments.begin(record))


def move_deployment(
    context: Context, record: EnvironmentRecord, state: DeploymentState, url: str | None = None
) -> None:
    """Show that the environment is ready (``url``: where its details are), has failed, or is gone."""
    surfaces = context.surfaces
    if surfaces is None or record.pull_request is None:
        return
    log_url = context.settings.run_url
    attempt(
        context,
        "the deployment's state",
        "deployments: write",
        lambda: surfaces.deployments.move(record, state, log_url, url),
    )
