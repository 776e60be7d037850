"""The last word on a command: one question to GraphQL, and whatever goes wrong with it, each part done and nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_lol_action.adapters.github import Connection
from gpu_lol_action.adapters.github_first_look import Focus
from gpu_lol_action.adapters.github_forge import GitHubForge, Hands
from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.domain.request import Closing
from gpu_lol_action.rehearsal.github_faults import KINDS
from gpu_lol_action.rehearsal.github_setting import BOT, BOT_PERMISSIONS
from gpu_lol_action.rehearsal.transcript import transcribe
from tests.contract.github_setup import Place, started_place

ANSWER, LAST = "<!-- gpu-lol v1 ready pr=1 -->\nready", "<!-- gpu-lol v1 status pr=1 -->\nover"
GRAPHQL = "POST /graphql"
POST = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
EDIT = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}"
REACT = "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path) as started:
        yield started


class Ending:
    """A command, a status comment of ours, and a connection that has looked at the pull request."""

    def __init__(self, place: Place, *, token: str | None = None, has_looked: bool = True) -> None:
        self.place = place
        command = place.hub.comment(place.number, "ada", "/gpu-lol up").payload["comment"]
        focus = Focus(place.number, POLICY_PATH, "main", nodes={command["id"]: command["node_id"]})
        connection = Connection(token or place.hub.bot_token, place.hub.setting.full_name, place.hub.api_url)
        self.forge = GitHubForge(connection, Hands(place.clock.now, place.clock.sleep, place.notes.append), focus=focus)
        place.until_end.callback(self.forge.close)
        if has_looked:
            self.forge.read_file(POLICY_PATH, "main")
        self.status = self.forge.post_comment(place.number, "<!-- gpu-lol v1 status pr=1 -->\nlaunching")
        self.command = int(command["id"])
        place.hub.forget_requests()

    def close(self) -> int:
        closing = Closing(self.place.number, ANSWER, self.command, "rocket", self.status.comment_id, LAST)
        return self.forge.close_command(closing).comment_id

    def assert_all_stand(self, posted: int, *, has_reacted: bool = True) -> None:
        said = {each.comment_id: each.body for each in self.place.hub.comments(self.place.number, by=BOT)}
        assert said == {self.status.comment_id: LAST, posted: ANSWER}
        reactions = self.place.hub.repository.reactions.values()
        found = [each.content for each in reactions if each.subject == ("comment", self.command)]
        assert found == (["rocket"] if has_reacted else [])
        assert self.place.hub.problems() == []


def test_all_three_are_one_question(place: Place) -> None:
    ending = Ending(place)
    ending.assert_all_stand(ending.close())

    assert place.hub.counts() == {GRAPHQL: 1}


def test_where_nobody_looked_each_is_done_by_itself(place: Place) -> None:
    ending = Ending(place, has_looked=False)
    ending.assert_all_stand(ending.close())

    assert place.hub.counts() == {POST: 1, REACT: 1, EDIT: 1}


@pytest.mark.parametrize("kind", [name for name, shape in KINDS.items() if shape.delivery != "silence"])
@pytest.mark.parametrize("times", [1, 3])
def test_whatever_goes_wrong_nothing_stands_twice_and_nothing_is_left_out(place: Place, kind: str, times: int) -> None:
    ending = Ending(place)
    place.hub.inject(kind, "graphql", times=times)
    posted = ending.close()
    assert len(place.hub.journal.faults) < times, "it was met"
    place.hub.journal.faults.clear()
    ending.assert_all_stand(posted)


def test_what_is_refused_by_itself_is_asked_by_itself(place: Place) -> None:
    """GraphQL goes on with the rest; the answer stands, so it is not looked for."""
    token = place.hub.add_token(BOT, {**BOT_PERMISSIONS, "issues": "read"})
    ending = Ending(place, token=token)
    ending.assert_all_stand(ending.close(), has_reacted=False)

    assert place.hub.counts() == {GRAPHQL: 1, REACT: 1}
    assert any("reaction" in note for note in place.notes)


def test_a_refused_answer_is_posted_without_looking_for_it(place: Place) -> None:
    ending = Ending(place)
    ending.forge.first_look.pull_node = "PR_of_nobody"
    ending.assert_all_stand(ending.close())

    assert place.hub.counts() == {GRAPHQL: 1, POST: 1}


def test_a_status_comment_that_was_deleted_is_no_reason_to_fail(place: Place) -> None:
    ending = Ending(place)
    del place.hub.repository.comments[ending.status.comment_id]
    posted = ending.close()

    assert [each.comment_id for each in place.hub.comments(place.number, by=BOT)] == [posted]


def test_the_page_of_a_story_counts_every_edit_whichever_way_it_came(place: Place) -> None:
    ending = Ending(place)
    ending.forge.edit_comment(ending.status.comment_id, "<!-- gpu-lol v1 status pr=1 -->\nset-up")
    ending.close()
    shown = transcribe(place.hub, place.number, [])
    edits = {entry.body: entry.edits for entry in shown.entries if entry.is_bot}

    assert edits == {LAST: 2, ANSWER: 0}
