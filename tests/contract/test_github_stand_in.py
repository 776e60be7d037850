"""The stand-in answers as GitHub's description says, notices what GitHub would refuse, and loses answers on demand."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from gpu_lol_action.domain.request import CommentCreated, PullRequestChanged, PullRequestClosed, Scheduled
from gpu_lol_action.intake.events import parse_event
from gpu_lol_action.rehearsal.github_openapi import load_description
from gpu_lol_action.rehearsal.github_server import ROUTES
from gpu_lol_action.rehearsal.github_setting import Setting
from tests.contract.github_setup import Place, started_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path) as started:
        yield started


def ask(http: httpx.Client, method: str, path: str, status: int, body: Any = None) -> Any:
    answer = http.request(method, path, json=body)
    assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    return answer.json() if is_json and answer.content else answer


def test_every_kept_operation_has_a_route_and_every_route_is_githubs() -> None:
    assert {operation.key for operation in load_description().operations} == set(ROUTES)


def test_every_operation_answers_as_the_description_says(place: Place) -> None:
    hub = place.hub
    bot = place.http()
    person = place.http(hub.add_token("maintainer"))
    comment_id = hub.comment(place.number, "ada", "/gpu-lol up").payload["comment"]["id"]

    root = httpx.get(str(bot.base_url).rstrip("/"), headers=dict(bot.headers))
    assert root.json()["permissions"]["push"] is False
    ask(bot, "GET", "branches", 200)
    main = ask(bot, "GET", "branches/main", 200)["commit"]["sha"]
    ask(bot, "GET", "collaborators/ada/permission", 200)
    ask(bot, "GET", "collaborators/nobody/permission", 404)
    exercise_contents(bot, main)
    exercise_git_data(bot)
    exercise_conversation(bot, place.number, comment_id)
    exercise_checks(bot, person, main)
    run_id = hub.start_run("issue_comment", "ada")
    assert ask(bot, "GET", f"actions/runs/{run_id}", 200)["status"] == "in_progress"
    ask(bot, "GET", "actions/runs?status=completed", 200)
    ask(person, "POST", "actions/workflows/bot.yml/dispatches", 204, {"ref": "main"})
    assert ask(bot, "GET", "actions/workflows/bot.yml/runs", 200)["total_count"] == 2
    hub.add_to_team("ml", "ada")
    for path in ("/user", "/users/ada", "/users/ada/keys", "/rate_limit", "/orgs/acme/teams/ml/memberships/ada"):
        answer = httpx.get(hub.api_url + path, headers=dict(person.headers))
        assert answer.status_code == 200

    asked = {seen.operation for seen in hub.journal.requests}
    assert asked == set(ROUTES)
    assert hub.problems() == []


def exercise_contents(bot: httpx.Client, main: str) -> None:
    text = ask(bot, "GET", "contents/train.py", 200)
    assert base64.b64decode(text["content"]) == b"print('train')\n"
    assert ask(bot, "GET", "contents/latest", 200)["type"] == "file"
    assert ask(bot, "GET", "contents/outside", 200)["type"] == "symlink"
    assert [entry["name"] for entry in ask(bot, "GET", "contents/src", 200)] == ["deep"]
    ask(bot, "GET", "contents/none", 404)
    body = {"message": "m", "content": base64.b64encode(b"a").decode()}
    made = ask(bot, "PUT", "contents/a/b.txt", 201, body)["content"]["sha"]
    ask(bot, "PUT", "contents/a/b.txt", 422, body)
    ask(bot, "PUT", "contents/a/b.txt", 200, {**body, "content": base64.b64encode(b"b").decode(), "sha": made})
    ask(bot, "PUT", "contents/a/b.txt", 409, {**body, "sha": made})
    assert len(ask(bot, "GET", "commits", 200)) == 3
    ask(bot, "GET", "commits/main", 200)
    span = ask(bot, "GET", f"compare/{main}...main", 200)
    assert (span["status"], span["ahead_by"], span["merge_base_commit"]["sha"]) == ("ahead", 2, main)


def exercise_git_data(bot: httpx.Client) -> None:
    blob = ask(bot, "POST", "git/blobs", 201, {"content": "{}", "encoding": "utf-8"})["sha"]
    assert ask(bot, "GET", f"git/blobs/{blob}", 200)["size"] == 2
    entry = {"path": "record.json", "mode": "100644", "type": "blob", "content": "{}"}
    tree = ask(bot, "POST", "git/trees", 201, {"tree": [entry]})
    assert tree["tree"][0]["sha"] == blob
    ask(bot, "GET", f"git/trees/{tree['sha']}", 200)
    first = ask(bot, "POST", "git/commits", 201, {"message": "1", "tree": tree["sha"], "parents": []})["sha"]
    second = ask(bot, "POST", "git/commits", 201, {"message": "2", "tree": tree["sha"], "parents": [first]})["sha"]
    assert ask(bot, "GET", f"git/commits/{second}", 200)["parents"][0]["sha"] == first
    name = "gpu-lol/environments/gl-a-1"
    ask(bot, "POST", "git/refs", 201, {"ref": f"refs/{name}", "sha": first})
    again = ask(bot, "POST", "git/refs", 422, {"ref": f"refs/{name}", "sha": first})
    assert again["message"] == "Reference already exists"
    ask(bot, "POST", "git/refs", 422, {"ref": "refs/one", "sha": first})
    ask(bot, "PATCH", f"git/refs/{name}", 200, {"sha": second})
    backwards = ask(bot, "PATCH", f"git/refs/{name}", 422, {"sha": first})
    assert backwards["message"] == "Update is not a fast forward"
    ask(bot, "PATCH", f"git/refs/{name}", 200, {"sha": first, "force": True})
    assert ask(bot, "GET", f"git/ref/{name}", 200)["object"]["sha"] == first
    ask(bot, "GET", "git/ref/gpu-lol/environments/none", 404)
    assert [ref["ref"] for ref in ask(bot, "GET", "git/matching-refs/gpu-lol/env", 200)] == [f"refs/{name}"]
    ask(bot, "DELETE", f"git/refs/{name}", 204)
    assert ask(bot, "GET", "git/matching-refs/gpu-lol/", 200) == []


def exercise_conversation(bot: httpx.Client, number: int, comment_id: int) -> None:
    ask(bot, "GET", "pulls?state=all", 200)
    ask(bot, "POST", "pulls", 422, {"title": "again", "head": "feature", "base": "main"})
    ask(bot, "PATCH", f"pulls/{number}", 200, {"state": "closed"})
    ask(bot, "PATCH", f"pulls/{number}", 200, {"state": "open"})
    assert ask(bot, "GET", f"pulls/{number}", 200)["changed_files"] == 2
    ask(bot, "GET", f"pulls/{number}/files", 200)
    ask(bot, "GET", f"pulls/{number}/commits", 200)
    head = ask(bot, "GET", f"pulls/{number}", 200)["head"]["sha"]
    remark = {"body": "why?", "commit_id": head, "path": "train.py", "line": 1, "side": "RIGHT"}
    ask(bot, "POST", f"pulls/{number}/comments", 422, {**remark, "line": 99})
    review_id = ask(bot, "POST", f"pulls/{number}/comments", 201, remark)["id"]
    ask(bot, "PATCH", f"pulls/comments/{review_id}", 200, {"body": "I see"})
    assert [each["body"] for each in ask(bot, "GET", f"pulls/{number}/comments", 200)] == ["I see"]
    issue = ask(bot, "POST", "issues", 201, {"title": "Smoke test fails", "labels": ["gpu-smoke"]})["number"]
    assert [each["number"] for each in ask(bot, "GET", "issues?labels=gpu-smoke", 200)] == [issue]
    ask(bot, "GET", f"issues/{number}", 200)
    assert ask(bot, "PATCH", f"issues/{issue}", 200, {"state": "closed"})["state_reason"] == "completed"
    made = ask(bot, "POST", f"issues/{number}/comments", 201, {"body": "hello"})["id"]
    assert made > 2**31
    ask(bot, "PATCH", f"issues/comments/{made}", 200, {"body": "hello again"})
    assert ask(bot, "GET", f"issues/comments/{made}", 200)["body"] == "hello again"
    assert len(ask(bot, "GET", f"issues/{number}/comments", 200)) == 2
    ask(bot, "GET", "issues/comments", 200)
    ask(bot, "DELETE", f"issues/comments/{made}", 204)
    reaction = ask(bot, "POST", f"issues/comments/{comment_id}/reactions", 201, {"content": "eyes"})["id"]
    assert ask(bot, "POST", f"issues/comments/{comment_id}/reactions", 200, {"content": "eyes"})["id"] == reaction
    assert len(ask(bot, "GET", f"issues/comments/{comment_id}/reactions", 200)) == 1
    ask(bot, "DELETE", f"issues/comments/{comment_id}/reactions/{reaction}", 204)
    ask(bot, "POST", f"issues/{number}/reactions", 201, {"content": "rocket"})
    ask(bot, "GET", f"issues/{number}/reactions", 200)
    ask(bot, "POST", f"issues/{number}/labels", 200, {"labels": ["gpu"]})
    ask(bot, "POST", f"issues/{number}/labels", 200, ["gpu-smoke"])
    assert [label["name"] for label in ask(bot, "GET", f"issues/{number}/labels", 200)] == ["gpu", "gpu-smoke"]
    ask(bot, "DELETE", f"issues/{number}/labels/gpu", 200)


def exercise_checks(bot: httpx.Client, person: httpx.Client, main: str) -> None:
    check = ask(bot, "POST", "check-runs", 201, {"name": "gpu-lol", "head_sha": main, "status": "in_progress"})["id"]
    done = {"conclusion": "success", "output": {"title": "t", "summary": "s"}}
    assert ask(bot, "PATCH", f"check-runs/{check}", 200, done)["status"] == "completed"
    ask(bot, "GET", f"check-runs/{check}", 200)
    assert ask(bot, "GET", f"commits/{main}/check-runs", 200)["total_count"] == 1
    ask(person, "POST", f"statuses/{main}", 201, {"state": "success"})
    assert ask(bot, "GET", f"commits/{main}/status", 200)["state"] == "success"
    wanted = {"ref": "main", "environment": "gpu-lol", "auto_merge": False, "required_contexts": []}
    deployment = ask(bot, "POST", "deployments", 201, wanted)["id"]
    ask(bot, "POST", f"deployments/{deployment}/statuses", 201, {"state": "in_progress"})
    assert len(ask(bot, "GET", "deployments?environment=gpu-lol", 200)) == 1
    ask(bot, "GET", f"deployments/{deployment}", 200)
    assert ask(bot, "GET", f"deployments/{deployment}/statuses", 200)[0]["state"] == "in_progress"
    location = ask(bot, "GET", f"tarball/{main}", 302).headers["location"]
    assert httpx.get(location).headers["content-type"] == "application/x-gzip"
    assert httpx.get(location).status_code == 404, "a ticket is good once"


# --- what GitHub would refuse ---------------------------------------------------------------------------------
def test_request_against_the_description_is_refused_and_recorded(place: Place) -> None:
    ask(place.http(), "POST", f"issues/{place.number}/comments", 422, {"text": "the field is called body"})

    assert place.hub.comments(place.number) == []
    assert len(place.hub.problems()) == 1
    assert "POST /repos/{owner}/{repo}/issues/{issue_number}/comments" in place.hub.problems()[0]


def test_unknown_route_is_refused_and_recorded(place: Place) -> None:
    ask(place.http(), "GET", "traffic/views", 501)

    assert place.hub.problems() == ["unknown route: GET /repos/acme/llm-lab/traffic/views"]


def test_unknown_graphql_question_is_recorded(place: Place) -> None:
    headers = {"Authorization": f"Bearer {place.hub.bot_token}"}
    body = {"query": "query { viewer { email } }"}

    assert "errors" in httpx.post(f"{place.hub.api_url}/graphql", headers=headers, json=body).json()
    assert place.hub.problems() == ["unknown GraphQL question: query { viewer { email } }"]


def test_token_sent_to_the_archive_host_is_recorded(place: Place) -> None:
    location = ask(place.http(), "GET", f"tarball/{place.head}", 302).headers["location"]
    httpx.get(location, headers={"Authorization": f"Bearer {place.hub.bot_token}"})

    assert place.hub.problems() == ["the token was sent to the archive host"]


def test_missing_and_wrong_tokens_are_told_apart(place: Place) -> None:
    url = f"{place.hub.api_url}/rate_limit"

    assert httpx.get(url).json()["message"] == "Requires authentication"
    assert httpx.get(url, headers={"Authorization": "token nope"}).json()["message"] == "Bad credentials"


def test_workflow_token_may_only_what_its_permissions_name(place: Place) -> None:
    token = place.hub.add_token("github-actions[bot]", {"contents": "read"})
    reader = place.http(token)

    answer = ask(reader, "POST", f"issues/{place.number}/comments", 403, {"body": "x"})
    assert answer["message"] == "Resource not accessible by integration"
    ask(reader, "GET", f"issues/{place.number}/comments", 200)
    assert place.hub.comments(place.number) == []


def test_private_repository_does_not_exist_for_strangers(tmp_path: Path) -> None:
    with started_place(tmp_path, Setting(is_private=True)) as place:
        ask(place.http(place.hub.add_token("mallory")), "GET", "pulls", 404)
        ask(place.http(place.hub.add_token("ada")), "GET", "pulls", 200)
        assert place.hub.problems() == []


def test_requests_of_the_hour_run_out(place: Place) -> None:
    place.hub.use_up_requests(place.hub.bot_token, left=1)
    bot = place.http()

    assert bot.get("pulls").headers["x-ratelimit-remaining"] == "0"
    assert "rate limit exceeded" in ask(bot, "GET", "pulls", 403)["message"]


def test_unchanged_answer_costs_nothing_when_asked_by_etag(place: Place) -> None:
    bot = place.http()
    first = bot.get(f"pulls/{place.number}/files")
    left = first.headers["x-ratelimit-remaining"]
    second = bot.get(f"pulls/{place.number}/files", headers={"If-None-Match": first.headers["etag"]})

    assert (second.status_code, second.headers["x-ratelimit-remaining"]) == (304, left)


def test_lists_link_their_next_page_by_repository_id(place: Place) -> None:
    for count in range(5):
        place.hub.comment(place.number, "ada", f"comment {count}")
    answer = place.http().get(f"issues/{place.number}/comments?per_page=2&page=2")

    assert [each["body"] for each in answer.json()] == ["comment 2", "comment 3"]
    following = answer.links["next"]["url"]
    assert f"/repositories/{place.hub.repository.repository_id}/issues/" in following
    assert [each["body"] for each in place.http().get(following).json()] == ["comment 4"]


# --- faults ---------------------------------------------------------------------------------------------------
def test_fault_before_changes_nothing(place: Place) -> None:
    place.hub.fail_next("POST comments", 502)
    ask(place.http(), "POST", f"issues/{place.number}/comments", 502, {"body": "x"})

    assert place.hub.comments(place.number) == []


def test_fault_after_changes_and_loses_the_answer(place: Place) -> None:
    place.hub.fail_next("issues/create-comment", 502, mode="after")
    ask(place.http(), "POST", f"issues/{place.number}/comments", 502, {"body": "x"})

    assert [comment.body for comment in place.hub.comments(place.number)] == ["x"]


def test_fault_without_status_closes_the_connection(place: Place) -> None:
    place.hub.fail_next("GET pulls", 0)
    with pytest.raises(httpx.RemoteProtocolError):
        place.http().get("pulls")


def test_fault_that_nothing_met_is_a_problem(place: Place) -> None:
    place.hub.fail_next("DELETE git/refs/{ref}", 500)

    assert place.hub.problems() == ["fault never met: DELETE git/refs/{ref}"]


# --- webhooks -------------------------------------------------------------------------------------------------
def test_webhooks_are_understood_by_our_own_reader(place: Place) -> None:
    hub = place.hub
    written = parse_event("issue_comment", hub.comment(place.number, "ada", "/gpu-lol up").payload)
    moved = parse_event("pull_request", hub.push(place.number, "ada", {"more.py": "1\n"}).payload)
    closed = parse_event("pull_request_target", hub.close_pull_request(place.number, "ada").payload)
    reopened = parse_event("pull_request", hub.reopen_pull_request(place.number, "ada").payload)
    merged = parse_event("pull_request", hub.merge(place.number, "maintainer").payload)

    assert isinstance(written, CommentCreated)
    assert (written.pull_request_number, written.author.login) == (place.number, "ada")
    assert isinstance(moved, PullRequestChanged)
    assert moved.pull_request.head_sha not in (place.head, "")
    assert isinstance(closed, PullRequestClosed)
    assert not closed.pull_request.is_merged
    assert isinstance(reopened, PullRequestChanged)
    assert isinstance(merged, PullRequestClosed)
    assert merged.pull_request.is_merged
    assert isinstance(parse_event("schedule", hub.schedule().payload), Scheduled)
    assert isinstance(parse_event("workflow_dispatch", hub.workflow_dispatch("ada").payload), Scheduled)


def test_deleted_fork_leaves_the_pull_request_with_its_head(place: Place) -> None:
    fork = place.hub.fork("eve")
    opened = place.hub.open_pull_request("eve", {"evil.py": "1\n"}, fork=fork, branch="evil", is_draft=True)
    before = parse_event("pull_request", opened.payload)
    place.hub.delete_fork(fork)
    answer = ask(place.http(), "GET", f"pulls/{opened.number}", 200)

    assert isinstance(before, PullRequestChanged)
    assert before.pull_request.head_repository == "eve/llm-lab"
    assert before.pull_request.is_draft
    assert answer["head"]["repo"] is None
    assert answer["head"]["sha"] == before.pull_request.head_sha
    ask(place.http(), "GET", f"pulls/{opened.number}/files", 200)
    assert place.hub.problems() == []


def test_project_on_disk_is_taken_in_as_git_would_commit_it(place: Place, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "data").mkdir(parents=True)
    (project / ".gitignore").write_text("*.bin\n")
    (project / "train.py").write_text("1\n")
    (project / "kept.bin").write_text("tracked although ignored\n")
    (project / "dropped.bin").write_text("ignored\n")
    for command in (["init", "-q"], ["add", "-f", "kept.bin", "train.py"]):
        subprocess.run(["git", *command], cwd=project, check=True)

    place.hub.commit_folder(project, branch="imported")
    names = {entry["path"] for entry in ask(place.http(), "GET", "git/trees/imported?recursive=1", 200)["tree"]}

    assert names == {".gitignore", "train.py", "kept.bin"}


def test_child_process_takes_orders_and_ends_with_its_input() -> None:
    orders = [
        {"do": "open_pull_request", "with": {"author": "ada", "files": {"x.py": "1"}}},
        {"do": "comment", "with": {"number": 1, "author": "ada", "body": "hi"}},
        {"do": "__init__"},
        {"do": "problems"},
    ]
    finished = subprocess.run(
        [sys.executable, "-m", "gpu_lol_action.rehearsal.github_child", "--folder", "tests/contract"],
        input="".join(json.dumps(order) + "\n" for order in orders),
        capture_output=True,
        text=True,
        check=True,
    )
    greeting, opened, written, refused, problems = map(json.loads, finished.stdout.splitlines())

    assert greeting["api_url"].startswith("http://127.0.0.1:")
    assert opened["result"]["payload"]["action"] == "opened"
    assert written["result"]["payload"]["comment"]["body"] == "hi"
    assert refused == {"error": "unknown order '__init__'"}
    assert problems == {"result": []}
