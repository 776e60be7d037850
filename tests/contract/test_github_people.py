"""Who somebody is and what they wrote, asked of the stand-in over HTTP; and whose policy is read."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from gpu_lol_action.adapters.clock import SystemClock
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.errors import Door, TransientError
from gpu_lol_action.handlers.authority import read_authority
from gpu_lol_action.handlers.context import Context, Settings
from gpu_lol_action.rehearsal.github_setting import BOT
from gpu_lol_action.wiring.github import load_policy
from tests.contract.github_setup import Place, started_place
from tests.support.hands import QuietProgress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gpu_lol_action.adapters.github_forge import GitHubForge

MEMBERSHIPS = "GET /orgs/{organization}/teams/{team}/memberships/{login}"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path / "hub") as started:
        yield started
        assert started.hub.problems() == []


def context_of(forge: GitHubForge) -> Context:
    def nothing() -> None:
        raise AssertionError("neither cloud nor machine is needed here")

    settings = Settings(Door.JOB, "1", None, "https://github.com", ())
    return Context(
        forge=forge,
        ledger=None,  # type: ignore[arg-type]  # nothing here is about records
        clock=SystemClock(),
        progress=QuietProgress(),
        cloud=nothing,  # type: ignore[arg-type]  # as above
        shell=nothing,  # type: ignore[arg-type]  # as above
        redact=redact,
        settings=settings,
    )


# --- teams --------------------------------------------------------------------------------------------------------


def test_an_active_member_is_one_and_an_invited_one_is_not(place: Place) -> None:
    place.hub.add_to_team("ml-infra", "ada")
    place.hub.add_to_team("ml-infra", "bob", "pending")
    forge = place.forge(place.hub.add_token("app[bot]", {"members": "read"}))
    assert [forge.is_team_member("ml-infra", login) for login in ("ada", "ADA", "bob", "eve")] == [
        True,
        True,
        False,
        False,
    ]
    assert not forge.is_team_member("other", "ada")


def test_a_workflows_own_token_may_not_read_members_so_nobody_is_one(place: Place) -> None:
    place.hub.add_to_team("ml-infra", "ada")
    assert not place.forge().is_team_member("ml-infra", "ada")


@pytest.mark.parametrize("login", ["../../user", "a/b", "a b", "%2e%2e", "ada?x=1"])
def test_a_hostile_login_leads_nowhere_else(place: Place, login: str) -> None:
    place.hub.add_to_team("ml-infra", "ada")
    forge = place.forge(place.hub.add_token("app[bot]", {"members": "read"}))
    assert not forge.is_team_member("ml-infra", login)
    assert set(forge.client.counts) <= {MEMBERSHIPS}


def test_an_outage_lets_nobody_in_and_tells_nobody_that_they_may_not(place: Place) -> None:
    forge = place.forge(place.hub.add_token("app[bot]", {"members": "read"}))
    place.hub.fail_next("GET /orgs/{org}/teams/{team_slug}/memberships/{username}", 502, times=9)
    with pytest.raises(TransientError):
        forge.is_team_member("ml-infra", "ada")
    place.hub.journal.faults.clear()


def test_teams_are_asked_only_where_nothing_else_lets_somebody_in(place: Place) -> None:
    place.hub.add_to_team("second", "eve")
    forge = place.forge(place.hub.add_token("app[bot]", {"members": "read"}))
    policy = Policy(users=("Carol",), teams=("first", "second"))
    context = context_of(forge)
    for login, role in (("ada", "write"), ("carol", "none")):
        authority = read_authority(context, login, role, policy)
        assert authority.is_named is (login == "carol")
    assert forge.client.counts.total() == 0
    assert read_authority(context, "eve", "none", policy).is_named
    assert forge.client.counts == {MEMBERSHIPS: 2}


# --- comments -----------------------------------------------------------------------------------------------------


def test_a_comment_is_read_as_it_stands_now(place: Place) -> None:
    number = place.hub.comment(place.number, "ada", "/gpu-lol up").payload["comment"]["id"]
    forge = place.forge()
    written = forge.comment(number)
    assert written is not None
    assert (written.author.login, written.body, written.pull_request_number) == ("ada", "/gpu-lol up", place.number)
    assert not written.is_edited
    assert not written.author_is_bot
    place.clock.sleep(timedelta(seconds=5))
    place.hub.edit_comment(number, "/gpu-lol up --hours 12")
    again = forge.comment(number)
    assert again is not None
    assert again.is_edited
    assert again.author.login == "ada", "an edit keeps the author: this is why it must not count"


def test_a_comment_that_github_touched_a_second_late_is_not_edited(place: Place) -> None:
    """It happens without anybody's doing; only `lastEditedAt` tells."""
    number = place.hub.comment(place.number, "ada", "/gpu-lol up").payload["comment"]["id"]
    place.hub.repository.comments[number].updated_at += timedelta(seconds=1)
    forge = place.forge()
    written = forge.comment(number)
    assert written is not None
    assert not written.is_edited
    place.hub.fail_next("POST graphql", 502, times=3)
    in_doubt = place.forge().comment(number)
    assert in_doubt is not None
    assert in_doubt.is_edited, "where it is not told it counts as edited"


def test_a_comment_that_is_gone_or_a_bots_is_told_apart(place: Place) -> None:
    number = place.hub.comment(place.number, BOT, "/gpu-lol up").payload["comment"]["id"]
    forge = place.forge()
    written = forge.comment(number)
    assert written is not None
    assert written.author_is_bot
    assert forge.comment(number + 1_000_000) is None


# --- whose policy -------------------------------------------------------------------------------------------------


def test_the_policy_is_the_default_branchs_not_a_tags_of_its_name(place: Place) -> None:
    """Whoever may push, but not to the protected branch, could push a tag that is called as it is."""
    git = place.hub.repository.git
    place.hub.commit({".github/gpu-lol.yml": "roles: [admin]\n"}, message="Limit")
    branch = git.ref("refs/heads/main")
    lax = place.hub.push(place.number, "ada", {".github/gpu-lol.yml": "limits: {price_usd_per_hour: 99}\n"})
    head = lax.payload["pull_request"]["head"]["sha"]
    git.update_ref("refs/tags/main", head, None)
    forge = place.forge()
    assert forge.read_file(".github/gpu-lol.yml", "main") != "roles: [admin]\n", "git itself takes the tag"
    assert branch == git.ref("refs/heads/main")
    assert load_policy(context_of(forge), forge.repository()).roles == ("admin",)


def test_a_pull_requests_own_policy_is_not_read(place: Place) -> None:
    place.hub.push(place.number, "ada", {".github/gpu-lol.yml": "limits: {price_usd_per_hour: 99}\n"})
    forge = place.forge()
    assert load_policy(context_of(forge), forge.repository()) == Policy()


@pytest.mark.parametrize("content", ["limits: {price: 99}\n", "\x00", "a: &a [*a]\n", "x" * 300_000])
def test_a_policy_that_cannot_be_read_allows_nothing(place: Place, content: str) -> None:
    place.hub.commit({".github/gpu-lol.yml": content}, message="Break it")
    forge = place.forge()
    assert load_policy(context_of(forge), forge.repository()).problem
