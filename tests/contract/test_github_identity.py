"""The same adapter under each identity: a workflow's token, a GitHub App's, a person's; and on GitHub Enterprise Server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gpu_lol_action.adapters.github_first_look import FirstLook, Focus
from gpu_lol_action.adapters.github_look import GitHubLook
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.rehearsal.github_setting import BOT, BOT_PERMISSIONS, Setting
from gpu_lol_action.rehearsal.stage import Stage
from tests.contract.github_setup import Place, started_place
from tests.contract.test_ledger import make_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

APP = "acme-gpus[bot]"
ENTERPRISE = Setting(prefix="/api/v3")
MARKER = "<!-- gpu-lol v1 proposal "


@pytest.fixture(params=["github.com", "enterprise"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    with started_place(tmp_path, ENTERPRISE if request.param == "enterprise" else None) as started:
        yield started
        assert started.hub.problems() == []


def token_of(place: Place, who: str) -> tuple[str, str]:
    """A token and the login under which it writes."""
    if who == "workflow":
        return place.hub.bot_token, BOT
    if who == "app":
        place.hub.world.add_account(APP, "Bot")
        return place.hub.add_token(APP, BOT_PERMISSIONS), APP
    place.hub.add_user("robin", role="admin")
    return place.hub.add_token("robin"), "robin"


@pytest.mark.parametrize("who", ["workflow", "app", "person"])
def test_own_comments_are_found_under_every_identity(place: Place, who: str) -> None:
    """By marker and author: the same words by anybody else, another bot too, are not ours."""
    token, login = token_of(place, who)
    forge = place.forge(token)
    for other in ("mallory", "dependabot[bot]", *({BOT, APP} - {login})):
        place.hub.comment(place.number, other, f"{MARKER}-->\nI am the bot")
    posted = forge.post_comment(place.number, f"{MARKER}-->\nours")
    look = GitHubLook(forge.client, FirstLook(forge.client, None, forge.refs))
    standing = look.standing(place.number, MARKER, is_final=False)

    assert (posted.author, forge.me()) == (login, login)
    assert [each.comment_id for each in forge.find_comments(place.number, MARKER)] == [posted.comment_id]
    assert standing is not None
    assert [each.comment_id for each in standing.comments] == [posted.comment_id]
    assert standing.me == login


@pytest.mark.parametrize("who", ["workflow", "app", "person"])
def test_lost_answer_is_found_under_every_identity(place: Place, who: str) -> None:
    token, login = token_of(place, who)
    place.hub.comment(place.number, "mallory", "ready")
    place.hub.inject("lost_502", "POST comments")
    place.forge(token).post_comment(place.number, "ready")

    assert [each.author.login for each in place.hub.comments(place.number)] == ["mallory", login]


@pytest.mark.parametrize("who", ["workflow", "app", "person"])
def test_ledger_is_kept_under_every_identity(place: Place, who: str) -> None:
    token, _ = token_of(place, who)
    entry = RecordLedger(GitRefStore(place.forge(token).client)).claim(make_record())
    survey = RecordLedger(GitRefStore(place.forge(token).client)).survey()

    assert survey.entries == (entry,)


def test_first_look_says_what_rest_says(place: Place) -> None:
    """One question in GraphQL, or one by one through REST: the same pull request, policy and records."""
    place.hub.commit({POLICY_PATH: "enabled: true\n"})
    RecordLedger(GitRefStore(place.forge().client)).claim(make_record())
    plain, looking = place.forge(), place.forge()
    looking.first_look.focus = Focus(place.number, POLICY_PATH, "main")
    place.hub.forget_requests()
    seen = (
        looking.read_file(POLICY_PATH, "main"),
        looking.pull_request(place.number),
        RecordLedger(GitRefStore(looking.client, refs=looking.refs)).survey(),
    )
    assert place.hub.counts() == {"POST /graphql": 1}
    asked = (
        plain.read_file(POLICY_PATH, "main"),
        plain.pull_request(place.number),
        RecordLedger(GitRefStore(plain.client)).survey(),
    )

    assert seen == asked


@pytest.mark.parametrize("author", ["dependabot[bot]", "robin"])
def test_first_look_tells_bots_as_rest_does(place: Place, author: str) -> None:
    place.hub.world.add_account(author, "Bot" if author.endswith("[bot]") else "User")
    number = int(place.hub.open_pull_request(author, {"x.txt": "1\n"}, branch="other").number or 0)
    looking = place.forge()
    looking.first_look.focus = Focus(number, POLICY_PATH, "main")
    looking.read_file(POLICY_PATH, "main")

    assert looking.pull_request(number) == place.forge().pull_request(number)


def test_second_question_is_asked_anew(place: Place) -> None:
    """What was seen at the beginning is handed out once: the head is compared again right before spending."""
    forge = place.forge()
    forge.first_look.focus = Focus(place.number, POLICY_PATH, "main")
    forge.read_file(POLICY_PATH, "main")
    before = forge.pull_request(place.number).head_sha
    place.hub.push(place.number, "ada", {"more.py": "1\n"})

    assert forge.pull_request(place.number).head_sha != before


@pytest.mark.parametrize("kind", ["permission", "server_error", "primary_exhausted", "not_found"])
def test_without_the_first_look_everything_is_asked_one_by_one(place: Place, kind: str) -> None:
    forge = place.forge()
    forge.first_look.focus = Focus(place.number, POLICY_PATH, "main")
    place.hub.inject(kind, "graphql", times=3 if kind == "server_error" else 1)

    assert forge.read_file(POLICY_PATH, "main") is None
    assert forge.pull_request(place.number).number == place.number
    assert place.hub.counts()["GET /repos/{owner}/{repo}/contents/{path}"] == 1


def test_whole_step_works_against_an_enterprise_server() -> None:
    """The addresses come from the runner's variables alone; nothing asks github.com."""
    with Stage(prefix="/api/v3") as stage:
        stage.hub.commit({"train.py": "import torch\n"})
        number = int(stage.hub.open_pull_request("ada", {"a.md": "x\n"}).number or 0)
        event = stage.hub.comment(number, stage.hub.maintainer, "/gpu-lol help")
        assert stage.hub.api_url.endswith("/api/v3")
        run_id = stage.hub.start_run("issue_comment", stage.hub.maintainer)
        run = stage.run_step(event, run_id, {"GPU_LOL_PHASE": "decide"})

        assert run.exit_code == 0, run.log
        assert run.outputs["reason_code"] == "help_shown"
