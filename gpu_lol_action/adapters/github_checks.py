"""Check runs: one of a name per commit, updated in place."""

from __future__ import annotations

from typing import Any

from gpu_lol_action.adapters.github import Ask, GitHubClient
from gpu_lol_action.domain.annotation import Annotation
from gpu_lol_action.domain.surfaces import CheckReport

MAX_ANNOTATIONS = 50
"""GitHub takes so many in one request."""
_MAX_TEXT = 65_000


class GitHubChecks:
    """Our check runs of a commit, by their names. Needs `checks: write`."""

    def __init__(self, client: GitHubClient) -> None:
        """Ask nothing yet."""
        self._client = client

    def report(self, report: CheckReport) -> bool:
        """Write the check run of a commit; return whether anything changed. Raises OperatorError where it may not."""
        body = _body(report)
        standing = None if report.is_first else self._standing(report)
        if standing is None:
            ask = Ask("POST", "check-runs", body={"name": report.name, "head_sha": report.sha, **body})
            self._client.ask(ask)
            return True
        if _is_same(standing, body):
            return False
        if standing["output"].get("annotations_count"):
            # GitHub adds the annotations of an update to those that it has: the same ones would show twice.
            body["output"].pop("annotations", None)
        path, values = "check-runs/{check_run_id}", {"check_run_id": int(standing["id"])}
        self._client.ask(Ask("PATCH", path, values, body=body, is_repeatable=True))
        return True

    def _standing(self, report: CheckReport) -> Any:
        path, values = "commits/{ref}/check-runs", {"ref": report.sha}
        found = self._client.get(path, values, check_name=report.name, filter="latest")
        return next(iter(found["check_runs"]), None)


def _body(report: CheckReport) -> dict[str, Any]:
    output: dict[str, Any] = {"title": report.title[:250], "summary": report.summary[:_MAX_TEXT]}
    if report.annotations:
        output["annotations"] = [_annotation(each) for each in report.annotations[:MAX_ANNOTATIONS]]
    body: dict[str, Any] = {"status": "completed", "conclusion": report.conclusion.value, "output": output}
    if report.details_url:
        body["details_url"] = report.details_url
    return body


def _annotation(each: Annotation) -> dict[str, Any]:
    line = max(each.line, 1)
    return {
        "path": each.path,
        "start_line": line,
        "end_line": line,
        "annotation_level": each.level.value,
        "title": each.title[:250],
        "message": each.message[:4000],
    }


def _is_same(standing: Any, body: dict[str, Any]) -> bool:
    output = standing["output"]
    return bool(
        standing["conclusion"] == body["conclusion"]
        and output["title"] == body["output"]["title"]
        and output["summary"] == body["output"]["summary"]
    )
