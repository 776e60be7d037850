from __future__ import annotations

import pytest

from gpu_lol_action.rehearsal.github_faults import Fault, FaultKind
from gpu_lol_action.rehearsal.github_log import Journal, Seen
from gpu_lol_action.rehearsal.github_openapi import Operation, Request, load_description, loosen

CREATE = Operation("POST", "/repos/{owner}/{repo}/issues/{issue_number}/comments", "issues/create-comment")


@pytest.mark.parametrize(
    ("pattern", "hits"),
    [
        ("POST comments", True),
        ("POST issues/{issue_number}/comments", True),
        ("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", True),
        ("issues/create-comment", True),
        ("* comments", True),
        ("GET comments", False),
        ("POST ments", False),
        ("POST issues", False),
    ],
)
def test_fault_means_whole_segments_of_an_operation(pattern: str, hits: bool) -> None:
    assert Fault(pattern, FaultKind(status=500)).hits(CREATE) is hits


def test_faults_are_used_once_each_and_in_order() -> None:
    orders = (("POST comments", 502), ("GET pulls", 500), ("POST comments", 503))
    journal = Journal(faults=[Fault(pattern, FaultKind(status=status)) for pattern, status in orders])
    taken = [journal.take_fault(CREATE) for _ in range(3)]

    assert [fault.kind.status if fault else None for fault in taken] == [502, 503, None]
    assert journal.problems() == ["fault never met: GET pulls"]


def test_counts_are_per_operation_the_busiest_first() -> None:
    seen = [Seen("GET", f"/{number}", key, "ada", 200) for number, key in enumerate(["GET a", "GET b", "GET b"])]

    assert list(Journal(requests=seen).counts().items()) == [("GET b", 2), ("GET a", 1)]


def test_literal_segments_win_over_parameters() -> None:
    description = load_description()
    matches = {
        path: description.match("GET", f"/repos/o/r/{path}")
        for path in ("issues/comments", "issues/5", "git/ref/heads/a/b", "contents/a/b.txt", "commits/a/b/status")
    }

    assert {path: found[0].operation_id for path, found in matches.items() if found} == {
        "issues/comments": "issues/list-comments-for-repo",
        "issues/5": "issues/get",
        "git/ref/heads/a/b": "git/get-ref",
        "contents/a/b.txt": "repos/get-content",
        "commits/a/b/status": "repos/get-combined-status-for-ref",
    }
    assert description.match("GET", "/repos/o/r/hooks") is None


def test_bad_requests_are_found_and_good_ones_pass() -> None:
    description = load_description()
    values = {"owner": "o", "repo": "r", "issue_number": "5"}

    assert description.request_problems(Request(CREATE, values, {}, b'{"body": "x"}')) == []
    assert description.request_problems(Request(CREATE, values, {}, b'{"text": "x"}')) != []
    assert description.request_problems(Request(CREATE, {**values, "issue_number": "x"}, {}, b'{"body": "x"}')) != []


def test_loosening_touches_only_what_github_breaks() -> None:
    schema = {"nullable": True, "enum": ["a"], "oneOf": [{"enum": ["b"]}], "discriminator": {}, "required": ["x"]}

    assert loosen(schema) == {
        "nullable": True,
        "enum": ["a", None],
        "anyOf": [{"enum": ["b"]}],
        "required": ["x"],
    }
