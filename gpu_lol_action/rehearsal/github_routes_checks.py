"""Check runs, deployments and commit statuses of the stand-in."""

from __future__ import annotations

from gpu_lol_action.rehearsal.github_answers import Answer, Call, Route, counted, not_found, paged, refuse
from gpu_lol_action.rehearsal.github_payloads import Json, node_id, repository, repository_url, stamp, user

_R = "/repos/{owner}/{repo}"


def _api(call: Call, tail: str) -> str:
    return f"{repository_url(call.world, call.repository)}/{tail}"


def _commit(call: Call, name: str) -> str:
    sha = call.repository.git.resolve(name)
    if sha is None:
        raise refuse(422, f"No commit found for SHA: {name}", [])
    return sha


def _record(call: Call, kind: str, name: str) -> Json:
    found = call.repository.record(kind).get(call.number(name))
    if found is None:
        raise not_found()
    return found


# --- check runs ------------------------------------------------------------------------------------------
def _apply_check(call: Call, shape: Json) -> None:
    body = call.body
    for key in ("name", "status", "conclusion", "details_url", "external_id", "started_at", "completed_at"):
        if key in body:
            shape[key] = body[key]
    if body.get("conclusion"):
        shape["status"] = "completed"
        shape["completed_at"] = body.get("completed_at") or stamp(call.world.now())
    given = body.get("output", {})
    output = shape["output"]
    output.update({key: given[key] for key in ("title", "summary", "text") if key in given})
    # GitHub appends the annotations of each update to those it has.
    output["annotations_count"] += len(given.get("annotations", []))


def _create_check(call: Call) -> Answer:
    check_id = call.world.next_id()
    url = _api(call, f"check-runs/{check_id}")
    shape: Json = {
        "id": check_id,
        "node_id": node_id("CR", check_id),
        "head_sha": _commit(call, call.body["head_sha"]),
        "external_id": "",
        "url": url,
        "html_url": f"{call.world.web_url}/{call.repository.full_name}/runs/{check_id}",
        "details_url": f"{call.world.web_url}/{call.repository.full_name}/runs/{check_id}",
        "status": "queued",
        "conclusion": None,
        "started_at": stamp(call.world.now()),
        "completed_at": None,
        "output": {
            **dict.fromkeys(("title", "summary", "text")),
            "annotations_count": 0,
            "annotations_url": f"{url}/annotations",
        },
        "name": call.body["name"],
        "check_suite": {"id": call.world.next_id()},
        "app": None,
        "pull_requests": [],
    }
    _apply_check(call, shape)
    call.repository.record("checks")[check_id] = shape
    return Answer(201, shape)


def _get_check(call: Call) -> Answer:
    return Answer(200, _record(call, "checks", "check_run_id"))


def _update_check(call: Call) -> Answer:
    shape = _record(call, "checks", "check_run_id")
    _apply_check(call, shape)
    return Answer(200, shape)


def _list_checks(call: Call) -> Answer:
    sha, name = _commit(call, call.path["ref"]), call.query.get("check_name")
    found = [
        shape
        for shape in call.repository.record("checks").values()
        if shape["head_sha"] == sha and name in (None, shape["name"])
    ]
    return counted(call, "check_runs", found)


# --- commit statuses -------------------------------------------------------------------------------------
def _create_status(call: Call) -> Answer:
    sha, status_id = _commit(call, call.path["sha"]), call.world.next_id()
    shape: Json = {
        "url": _api(call, f"statuses/{sha}"),
        "avatar_url": user(call.world, call.actor)["avatar_url"],
        "id": status_id,
        "node_id": node_id("SC", status_id),
        "state": call.body["state"],
        "description": call.body.get("description"),
        "target_url": call.body.get("target_url"),
        "context": call.body.get("context", "default"),
        "created_at": stamp(call.world.now()),
        "updated_at": stamp(call.world.now()),
        "creator": user(call.world, call.actor),
    }
    call.repository.record("statuses")[status_id] = {**shape, "sha": sha}
    return Answer(201, shape)


def _combined_status(call: Call) -> Answer:
    sha = _commit(call, call.path["ref"])
    newest = {
        shape["context"]: {key: shape[key] for key in shape if key not in ("sha", "creator")}
        for shape in call.repository.record("statuses").values()
        if shape["sha"] == sha
    }
    states = {shape["state"] for shape in newest.values()}
    bad = states & {"error", "failure"}
    state = "failure" if bad else "success" if states == {"success"} else "pending"
    body = {
        "state": state,
        "statuses": list(newest.values()),
        "sha": sha,
        "total_count": len(newest),
        "repository": repository(call.world, call.repository),
        "commit_url": _api(call, f"commits/{sha}"),
        "url": _api(call, f"commits/{sha}/status"),
    }
    return Answer(200, body)


# --- deployments -----------------------------------------------------------------------------------------
def _create_deployment(call: Call) -> Answer:
    body, deployment_id = call.body, call.world.next_id()
    environment = body.get("environment", "production")
    shape: Json = {
        "url": _api(call, f"deployments/{deployment_id}"),
        "id": deployment_id,
        "node_id": node_id("DE", deployment_id),
        "sha": _commit(call, body["ref"]),
        "ref": body["ref"],
        "task": body.get("task", "deploy"),
        "payload": body.get("payload") or {},
        "original_environment": environment,
        "environment": environment,
        "description": body.get("description") or None,
        "creator": user(call.world, call.actor),
        "created_at": stamp(call.world.now()),
        "updated_at": stamp(call.world.now()),
        "statuses_url": _api(call, f"deployments/{deployment_id}/statuses"),
        "repository_url": _api(call, "").rstrip("/"),
        "transient_environment": body.get("transient_environment", False),
        "production_environment": body.get("production_environment", environment == "production"),
    }
    call.repository.record("deployments")[deployment_id] = shape
    return Answer(201, shape)


def _list_deployments(call: Call) -> Answer:
    wanted = {key: call.query[key] for key in ("sha", "ref", "task", "environment") if call.query.get(key)}
    found = [
        shape
        for _, shape in sorted(call.repository.record("deployments").items(), reverse=True)
        if all(shape[key] == value for key, value in wanted.items())
    ]
    return paged(call, found)


def _get_deployment(call: Call) -> Answer:
    return Answer(200, _record(call, "deployments", "deployment_id"))


def _create_deployment_status(call: Call) -> Answer:
    deployment, body, status_id = _record(call, "deployments", "deployment_id"), call.body, call.world.next_id()
    shape: Json = {
        "url": f"{deployment['statuses_url']}/{status_id}",
        "id": status_id,
        "node_id": node_id("DES", status_id),
        "state": body["state"],
        "creator": user(call.world, call.actor),
        "description": body.get("description", ""),
        "environment": body.get("environment", deployment["environment"]),
        "target_url": body.get("target_url") or body.get("log_url", ""),
        "created_at": stamp(call.world.now()),
        "updated_at": stamp(call.world.now()),
        "deployment_url": deployment["url"],
        "repository_url": deployment["repository_url"],
        "environment_url": body.get("environment_url", ""),
        "log_url": body.get("log_url", ""),
    }
    call.repository.record("deployment_statuses")[status_id] = shape
    return Answer(201, shape)


def _list_deployment_statuses(call: Call) -> Answer:
    url = _record(call, "deployments", "deployment_id")["url"]
    kept = sorted(call.repository.record("deployment_statuses").items(), reverse=True)
    return paged(call, [shape for _, shape in kept if shape["deployment_url"] == url])


CHECK_ROUTES = {
    f"POST {_R}/check-runs": Route(_create_check, ("checks",)),
    f"GET {_R}/check-runs/{{check_run_id}}": Route(_get_check, ("checks",)),
    f"PATCH {_R}/check-runs/{{check_run_id}}": Route(_update_check, ("checks",)),
    f"GET {_R}/commits/{{ref}}/check-runs": Route(_list_checks, ("checks",)),
    f"POST {_R}/statuses/{{sha}}": Route(_create_status, ("statuses",)),
    f"GET {_R}/commits/{{ref}}/status": Route(_combined_status, ("statuses",)),
    f"GET {_R}/deployments": Route(_list_deployments, ("deployments",)),
    f"POST {_R}/deployments": Route(_create_deployment, ("deployments",)),
    f"GET {_R}/deployments/{{deployment_id}}": Route(_get_deployment, ("deployments",)),
    f"GET {_R}/deployments/{{deployment_id}}/statuses": Route(_list_deployment_statuses, ("deployments",)),
    f"POST {_R}/deployments/{{deployment_id}}/statuses": Route(_create_deployment_status, ("deployments",)),
}
