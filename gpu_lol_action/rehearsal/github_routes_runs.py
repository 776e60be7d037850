"""Workflow runs of the stand-in: is a run dead, when did one last succeed, start one by hand."""

from __future__ import annotations

from gpu_lol_action.rehearsal import github_changes as changes
from gpu_lol_action.rehearsal.github_answers import Answer, Call, Route, counted, not_found, refuse
from gpu_lol_action.rehearsal.github_payloads import Json, node_id, repository, stamp, user
from gpu_lol_action.rehearsal.github_payloads_git import api_link
from gpu_lol_action.rehearsal.github_state import WorkflowRun

_R = "/repos/{owner}/{repo}"


def _run(call: Call, run: WorkflowRun) -> Json:
    url = api_link(call, f"actions/runs/{run.run_id}")
    git = call.repository.git
    head = git.read_commit(run.head_sha)
    people = {"name": head.author.name, "email": head.author.email}
    workflow_id = sum(map(ord, run.workflow)) + 60_000_000
    return {
        "id": run.run_id,
        "name": run.workflow,
        "node_id": node_id("WFR", run.run_id),
        "head_branch": run.head_branch,
        "head_sha": run.head_sha,
        "path": f".github/workflows/{run.workflow}",
        "display_title": head.message.splitlines()[0],
        "run_number": run.run_number,
        "run_attempt": 1,
        "event": run.event,
        "status": run.status,
        "conclusion": run.conclusion,
        "workflow_id": workflow_id,
        "url": url,
        "html_url": f"{call.world.web_url}/{call.repository.full_name}/actions/runs/{run.run_id}",
        "pull_requests": [],
        "created_at": stamp(run.created_at),
        "updated_at": stamp(call.world.now()),
        "run_started_at": stamp(run.created_at),
        "actor": user(call.world, run.actor),
        "triggering_actor": user(call.world, run.actor),
        **{f"{name}_url": f"{url}/{name}" for name in ("jobs", "logs", "artifacts", "cancel", "rerun")},
        "previous_attempt_url": None,
        "check_suite_url": api_link(call, f"check-suites/{run.run_id}"),
        "workflow_url": api_link(call, f"actions/workflows/{workflow_id}"),
        "head_commit": {
            "id": head.sha,
            "tree_id": head.tree,
            "message": head.message,
            "timestamp": stamp(head.committer.when),
            "author": people,
            "committer": people,
        },
        "repository": repository(call.world, call.repository),
        "head_repository": repository(call.world, call.repository),
    }


def _get_run(call: Call) -> Answer:
    found = call.repository.runs.get(call.number("run_id"))
    if found is None:
        raise not_found()
    return Answer(200, _run(call, found))


def _list_runs(call: Call) -> Answer:
    workflow, wanted = call.path.get("workflow_id"), call.query.get("status")
    found = [
        _run(call, run)
        for _, run in sorted(call.repository.runs.items(), reverse=True)
        if workflow in (None, run.workflow)
        and wanted in (None, run.status, run.conclusion)
        and call.query.get("event") in (None, run.event)
    ]
    return counted(call, "workflow_runs", found)


def _dispatch(call: Call) -> Answer:
    if call.repository.git.ref(f"refs/heads/{call.body['ref']}") is None:
        raise refuse(422, f"No ref found for: {call.body['ref']}", [])
    changes.start_run(call.world, call.repository, call.actor, call.path["workflow_id"], "workflow_dispatch")
    return Answer(204)


RUN_ROUTES = {
    f"GET {_R}/actions/runs": Route(_list_runs, ("actions",)),
    f"GET {_R}/actions/runs/{{run_id}}": Route(_get_run, ("actions",)),
    f"GET {_R}/actions/workflows/{{workflow_id}}/runs": Route(_list_runs, ("actions",)),
    f"POST {_R}/actions/workflows/{{workflow_id}}/dispatches": Route(_dispatch, ("actions",)),
}
