"""From an event to its results: who is heard, what is deferred, and how everything that goes wrong ends."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.checkup import Account
from gpu_lol_action.domain.environment import Requester, State, Tombstone
from gpu_lol_action.domain.machine import NotLaunched
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import (
    Command,
    CommentCreated,
    Outcome,
    PullRequestChanged,
    PullRequestClosed,
    Scheduled,
)
from gpu_lol_action.errors import Door, Ending, OperatorError, TransientError, UserError, exit_code
from gpu_lol_action.handlers import down, status
from gpu_lol_action.handlers.doctor import Instruments
from gpu_lol_action.handlers.teardown import write_tombstone
from gpu_lol_action.intake.parser import parse_comment
from gpu_lol_action.router import Run, Step, ending_of, route
from tests.support.hands import START
from tests.support.machine import GoodMachine
from tests.unit.handlers.conftest import POLICY, Bench

LIGHT = Step(may_use_cloud=False)
SPEC = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}\ndependencies: {requirements: [packaging]}\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return furnished(tmp_path)


def furnished(folder: Path) -> Bench:
    bench = Bench(folder)
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
    bench.shell = GoodMachine()
    return bench


def comment(bench: Bench, body: str, author: str = "ada", **changes: object) -> CommentCreated:
    association = {"ada": "MEMBER", "bob": "COLLABORATOR"}.get(author, "NONE")
    event = CommentCreated(bench.forge.repo, 12, 5, body, Requester(author, 7), False, association)
    return replace(event, **changes)  # type: ignore[arg-type]  # keyword bag


def say(bench: Bench, body: str, author: str = "ada", *, step: Step | None = None, policy: Policy = POLICY) -> Run:
    return route(bench.context, comment(bench, body, author), lambda: policy, step or Step())


def codes(run: Run) -> list[str]:
    return [result.outcome.reason_code for result in run.results]


# --- who is heard -------------------------------------------------------------------------------------------------


def test_a_maintainer_sees_a_reaction_before_anything_else_is_asked(bench: Bench) -> None:
    say(bench, "/gpu-lol status")
    assert bench.forge.asked[0] == "react"
    assert bench.forge.reactions == [(5, "eyes"), (5, "+1")]


def test_a_stranger_gets_one_reaction_and_no_comment_in_two_requests(bench: Bench) -> None:
    """The policy is the third request; nothing else may be spent on whoever comes along."""
    run = say(bench, "/gpu-lol up\n\n/gpu-lol upp", "mallory")
    assert codes(run) == ["permission_denied"]
    assert run.results[0].ending is Ending.DENIED
    assert bench.forge.asked == ["role", "react"]
    assert bench.forge.reactions == [(5, "-1")]
    assert bench.texts == []


def test_a_member_with_too_small_a_role_gets_the_reason(bench: Bench) -> None:
    run = say(bench, "/gpu-lol up", "bob")
    assert codes(run) == ["permission_denied"]
    assert "read" in bench.texts[-1]
    assert "Nothing was launched" in bench.texts[-1]
    assert bench.ledger.entries() == []


@pytest.mark.parametrize("association", ["OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR"])
def test_what_the_event_calls_somebody_lets_nobody_in(bench: Bench, association: str) -> None:
    """An association can be stale, and a member need not have write access: only the role counts."""
    event = comment(bench, "/gpu-lol up", "mallory", author_association=association)
    run = route(bench.context, event, lambda: POLICY, Step())
    assert codes(run) == ["permission_denied"]
    assert bench.ledger.entries() == []


def test_users_and_teams_of_the_policy_may_command_whatever_their_role(bench: Bench) -> None:
    bench.forge.teams = {"ml": {"carol"}}
    policy = replace(POLICY, roles=(), users=("Dave",), teams=("ml",))
    for author, expected in (("dave", "status_shown"), ("carol", "status_shown"), ("ada", "permission_denied")):
        assert codes(say(bench, "/gpu-lol status", author, policy=policy)) == [expected]


def test_a_team_that_cannot_be_asked_lets_nobody_in(bench: Bench) -> None:
    def fail(team: str, login: str) -> bool:
        raise TransientError("github_unreachable", "no answer")

    bench.forge.is_team_member = fail  # type: ignore[method-assign]  # an outage
    run = say(bench, "/gpu-lol up", "carol", policy=replace(POLICY, teams=("ml",)))
    assert codes(run) == ["github_unreachable"]
    assert bench.forge.reactions == [(5, "confused")]
    assert bench.texts == []


def test_a_stranger_who_adds_nonsense_to_help_gets_one_answer(bench: Bench) -> None:
    run = say(bench, "/gpu-lol help\n\n/gpu-lol upp\n\n/gpu-lol @everyone", "mallory")
    assert codes(run) == ["help_shown", "command_not_understood", "command_not_understood"]
    assert len(bench.texts) == 1


def test_a_strangers_help_is_answered_and_the_rest_of_the_comment_is_not(bench: Bench) -> None:
    run = say(bench, "/gpu-lol help\n\n/gpu-lol up", "mallory")
    assert codes(run) == ["help_shown", "permission_denied"]
    assert len(bench.texts) == 1
    assert bench.forge.reactions == [(5, "eyes")]


def test_somebody_with_a_role_but_no_association_is_heard(bench: Bench) -> None:
    """Private members of an organization have no association in the event."""
    bench.forge.roles["carol"] = "write"
    assert codes(say(bench, "/gpu-lol status", "carol")) == ["status_shown"]
    assert bench.forge.reactions == [(5, "eyes"), (5, "+1")]


@pytest.mark.parametrize(
    ("body", "reaction"),
    [
        ("/gpu-lol up", "rocket"),
        ("/gpu-lol help", "+1"),
        ("/gpu-lol upp", "confused"),
        ("/gpu-lol help\n\n/gpu-lol upp", "confused"),
        ("/gpu-lol up --hours 100h", "confused"),
    ],
)
def test_a_reaction_says_at_the_command_how_it_ended(bench: Bench, body: str, reaction: str) -> None:
    say(bench, body)
    assert bench.forge.reactions == [(5, "eyes"), (5, reaction)]


def test_what_is_deferred_has_not_ended(bench: Bench) -> None:
    say(bench, "/gpu-lol up", step=LIGHT)
    assert bench.forge.reactions == [(5, "eyes")]


@pytest.mark.parametrize("body", ["/gpu-lol up", "<!-- gpu-lol v1 reply -->\n/gpu-lol up"])
def test_bots_and_our_own_comments_command_nothing(bench: Bench, body: str) -> None:
    is_bot = not body.startswith("<!--")
    run = route(bench.context, comment(bench, body, author_is_bot=is_bot), lambda: POLICY, Step())
    assert run.ignored is not None
    assert run.ignored.reason_code == "author_is_bot"
    assert bench.forge.asked == []


def test_a_comment_without_a_command_asks_nothing_of_github(bench: Bench) -> None:
    run = say(bench, "I like `/gpu-lol up`\n\n> /gpu-lol up")
    assert run.ignored is not None
    assert run.ignored.reason_code == "no_command"
    assert bench.forge.asked == []


@pytest.mark.parametrize("policy", [replace(POLICY, is_enabled=False), replace(POLICY, problem="line 3 is wrong")])
def test_a_disabled_bot_still_tears_down_and_helps(bench: Bench, policy: Policy) -> None:
    bench.running()
    run = say(bench, "/gpu-lol up\n\n/gpu-lol status\n\n/gpu-lol help\n\n/gpu-lol down", policy=policy)
    assert codes(run)[2:] == ["help_shown", "torn_down"]
    assert {result.outcome.decision for result in run.results[:2]} == {"denied"}
    assert bench.cloud.running == {}


@pytest.mark.parametrize(
    ("changes", "line", "reason_code"),
    [
        ({"state": "closed"}, "/gpu-lol up", "pull_request_closed"),
        ({"state": "closed", "is_merged": True}, "/gpu-lol up", "pull_request_closed"),
        ({"head_repository": "mallory/train"}, "/gpu-lol up", "fork_denied"),
        ({"head_repository": None}, "/gpu-lol up", "fork_denied"),
        ({}, "/gpu-lol up --sha 1234567", "ref_changed"),
    ],
)
def test_identity_gates_say_why_and_read_no_code(
    bench: Bench, changes: dict[str, object], line: str, reason_code: str
) -> None:
    bench.forge.pull = replace(bench.forge.pull, **changes)  # type: ignore[arg-type]  # keyword bag
    bench.forge.unreadable.add(bench.forge.pull.head_sha)
    assert codes(say(bench, line)) == [reason_code]
    assert "Nothing was launched" in bench.texts[-1]


@pytest.mark.parametrize("actor", ["mallory", "grace", ""])
def test_an_old_run_that_somebody_else_starts_again_spends_nothing(bench: Bench, actor: str) -> None:
    """The payload of that run still has the command, and the head may be another one by now."""
    bench.forge.roles["grace"] = "admin"
    bench.settle(run_attempt="2", triggering_actor=actor)
    assert codes(say(bench, "/gpu-lol up")) == ["rerun_by_another"]
    assert bench.ledger.entries() == []
    bench.running()
    assert codes(say(bench, "/gpu-lol down")) == ["torn_down"]


def test_who_gave_the_command_may_start_its_run_again(bench: Bench) -> None:
    bench.settle(run_attempt="2", triggering_actor="Ada")
    assert codes(say(bench, "/gpu-lol up")) == ["launched"]


def test_down_works_on_a_closed_pull_request(bench: Bench) -> None:
    bench.running()
    bench.forge.pull = replace(bench.forge.pull, state="closed")
    assert codes(say(bench, "/gpu-lol down")) == ["torn_down"]


# --- two steps ----------------------------------------------------------------------------------------------------


def test_the_light_step_defers_up_and_pins_the_commit(bench: Bench) -> None:
    run = say(bench, "/gpu-lol up", step=LIGHT)
    assert codes(run) == ["needs_cloud"]
    assert run.deferred == (0,)
    assert run.pinned_sha == bench.forge.pull.head_sha
    assert bench.cloud.log == []
    assert bench.ledger.entries() == []
    assert bench.texts == []


def test_the_second_step_does_what_was_deferred_and_reacts_to_nothing_twice(bench: Bench) -> None:
    body = "/gpu-lol upp\n\n/gpu-lol up\n\n/gpu-lol help"
    first = say(bench, body, step=LIGHT)
    assert first.deferred == (1, 2), "what follows a deferred command waits for it"
    bench.settle(pinned_sha=first.pinned_sha)
    second = say(bench, body, step=Step(only=first.deferred))
    assert [result.index for result in second.results] == [1, 2]
    assert codes(second) == ["launched", "help_shown"]
    assert bench.forge.reactions == [(5, "eyes"), (5, "rocket")]
    assert sum("Did you mean" in text for text in bench.texts) == 1


def test_down_and_up_in_one_comment_is_a_new_start_in_that_order(bench: Bench) -> None:
    bench.running()
    body = "/gpu-lol down\n\n/gpu-lol up"
    first = say(bench, body, step=LIGHT)
    assert first.deferred == (0, 1)
    assert bench.record.tombstone is not None, "the end is written down before anything heavy is loaded"
    assert codes(say(bench, body, step=Step(only=first.deferred))) == ["torn_down", "launched"]
    assert bench.record.state is State.READY
    assert bench.record.run_id == "77"


def test_the_second_step_works_on_the_commit_that_the_first_pinned(bench: Bench) -> None:
    first = say(bench, "/gpu-lol up", step=LIGHT)
    bench.settle(pinned_sha=first.pinned_sha)
    bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
    run = say(bench, "/gpu-lol up", step=Step(only=(0,)))
    assert codes(run) == ["ref_changed"]
    assert not any(line.startswith("launch") for line in bench.cloud.log)


def test_somebody_who_lost_the_role_between_the_steps_launches_nothing(bench: Bench) -> None:
    first = say(bench, "/gpu-lol up", step=LIGHT)
    bench.forge.roles["ada"] = "read"
    assert codes(say(bench, "/gpu-lol up", step=Step(only=first.deferred))) == ["permission_denied"]
    assert bench.ledger.entries() == []


def test_down_with_nothing_to_end_needs_no_second_step(bench: Bench) -> None:
    run = say(bench, "/gpu-lol down", step=LIGHT)
    assert codes(run) == ["nothing_to_tear_down"]
    assert run.deferred == ()


def test_down_in_the_light_step_writes_the_tombstone_and_defers_the_end(bench: Bench) -> None:
    bench.running()
    assert say(bench, "/gpu-lol down", step=LIGHT).deferred == (0,)
    assert bench.record.state is State.ENDING
    assert bench.cloud.log == []


def test_an_up_that_is_denied_needs_no_second_step(bench: Bench) -> None:
    run = say(bench, "/gpu-lol up --hours 99", step=LIGHT)
    assert run.deferred == ()
    assert run.results[0].outcome.decision == "denied"


# --- what goes wrong ----------------------------------------------------------------------------------------------


def test_problems_are_answered_beside_what_works(bench: Bench) -> None:
    run = say(bench, "/gpu-lol statsu\n\n/gpu-lol status\n\n/gpu-lol up --gpu A10O")
    assert codes(run) == ["command_not_understood", "status_shown", "unknown_accelerator"]
    assert "status" in bench.texts[0]
    assert "A100" in bench.texts[2]
    assert [result.ending for result in run.results] == [Ending.DENIED, Ending.ANSWERED, Ending.DENIED]


def test_the_sixth_command_of_a_comment_is_not_run(bench: Bench) -> None:
    run = say(bench, "\n\n".join(["/gpu-lol help"] * 9))
    assert codes(run) == ["help_shown"] * 5 + ["command_not_understood"]


@pytest.mark.parametrize(
    ("error", "ending", "job", "terminal"),
    [
        (UserError("x", "Your mistake"), Ending.USER_ERROR, 0, 1),
        (OperatorError("x", "A maintainer's setting"), Ending.OPERATOR_ERROR, 2, 2),
        (TransientError("x", "An outage"), Ending.TRANSIENT_ERROR, 4, 4),
        (RuntimeError("token ghp_abc and a stack"), Ending.INTERNAL_ERROR, 3, 3),
    ],
)
def test_errors_end_as_the_table_says_and_are_told_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: Exception, ending: Ending, job: int, terminal: int
) -> None:
    def fail(*_arguments: object) -> Outcome:
        raise error

    monkeypatch.setattr(status, "handle_status", fail)
    run = say(bench, "/gpu-lol status\n\n/gpu-lol help")
    assert run.results[0].ending is ending
    assert (exit_code(ending, Door.JOB), exit_code(ending, Door.TERMINAL)) == (job, terminal)
    assert codes(run)[1] == "help_shown", "one command that fails does not take the next with it"
    assert len(bench.texts) == 2
    assert "ghp_abc" not in "".join(bench.texts)
    assert "RuntimeError" not in "".join(bench.texts)
    assert bench.progress.failures == ([error] if isinstance(error, RuntimeError) else [])


def test_an_error_that_was_told_is_not_told_again(bench: Bench) -> None:
    bench.cloud.answers = [NotLaunched("invalid", "no such image", is_certain=True)]
    run = say(bench, "/gpu-lol up")
    assert codes(run) == ["launch_refused"]
    assert sum("The cloud refuses" in text for text in bench.texts) == 1


@pytest.mark.parametrize("error", [TransientError("x", "An outage"), RuntimeError("a bug")])
def test_an_error_says_what_is_running_all_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    bench.running()

    def fail(*_arguments: object) -> Outcome:
        raise error

    monkeypatch.setattr(down, "handle_down", fail)
    say(bench, "/gpu-lol down")
    assert "Nothing was launched" not in bench.texts[-1]
    assert f"`{bench.record.name}` runs at $0.44/h" in bench.texts[-1]


def test_an_error_whose_ledger_is_out_of_reach_is_still_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> list[object]:
        raise TransientError("github_unreachable", "GitHub did not answer")

    bench.ledger.survey = fail  # type: ignore[assignment,method-assign]  # an outage
    run = say(bench, "/gpu-lol status")
    assert run.results[0].ending is Ending.TRANSIENT_ERROR
    assert "GitHub did not answer" in bench.texts[-1]


def test_permissions_that_cannot_be_read_let_nobody_in(bench: Bench) -> None:
    bench.forge.role_error = TransientError("github_unreachable", "GitHub did not answer")
    run = say(bench, "/gpu-lol up")
    assert codes(run) == ["github_unreachable"]
    assert run.results[0].ending is Ending.TRANSIENT_ERROR
    assert bench.ledger.entries() == []


@pytest.mark.parametrize("author", ["ada", "mallory"])
def test_an_outage_earns_a_stranger_no_comment(bench: Bench, author: str) -> None:
    bench.forge.role_error = TransientError("github_unreachable", "GitHub did not answer")
    say(bench, "/gpu-lol up", author)
    assert len(bench.texts) == (1 if author == "ada" else 0)


def test_a_policy_that_cannot_be_fetched_lets_nobody_in(bench: Bench) -> None:
    def fail() -> Policy:
        raise TransientError("github_unreachable", "GitHub did not answer")

    run = route(bench.context, comment(bench, "/gpu-lol up"), fail, Step())
    assert run.results[0].ending is Ending.TRANSIENT_ERROR
    assert bench.ledger.entries() == []


def test_an_unproven_end_is_red(bench: Bench) -> None:
    bench.running()
    bench.cloud.is_silent = True
    run = say(bench, "/gpu-lol down")
    assert codes(run) == ["teardown_unproven"]
    assert exit_code(run.results[0].ending, Door.JOB) == 4


@pytest.mark.parametrize(
    ("decision", "job", "terminal"),
    [("done", 0, 0), ("ignored", 0, 0), ("deferred", 0, 0), ("denied", 0, 1), ("failed", 4, 4)],
)
def test_decisions_exit_as_each_door_expects(decision: str, job: int, terminal: int) -> None:
    ending = ending_of(Outcome(decision, "x"))
    assert (exit_code(ending, Door.JOB), exit_code(ending, Door.TERMINAL)) == (job, terminal)


# --- events without a comment -----------------------------------------------------------------------------------


def test_a_change_gets_its_proposal_and_a_disabled_bot_is_silent(bench: Bench, tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    bench.forge.trees[bench.forge.pull.base_sha] = base
    event = PullRequestChanged(bench.forge.repo, bench.forge.pull, "opened")
    run = route(bench.context, event, lambda: replace(POLICY, is_enabled=False), LIGHT)
    assert codes(run) == ["disabled"]
    assert codes(route(bench.context, event, lambda: POLICY, LIGHT)) == ["proposed"]
    assert len(bench.texts) == 1


@pytest.mark.parametrize("policy", [replace(POLICY, is_enabled=False), replace(POLICY, problem="line 3 is wrong")])
def test_a_disabled_bot_still_ends_what_a_closed_pull_request_has(bench: Bench, policy: Policy) -> None:
    bench.running()
    event = PullRequestClosed(bench.forge.repo, replace(bench.forge.pull, state="closed"), Requester("bob", 8))
    assert codes(route(bench.context, event, lambda: policy, Step())) == ["torn_down"]
    assert bench.cloud.running == {}


@pytest.mark.parametrize("policy", [replace(POLICY, is_enabled=False), replace(POLICY, problem="line 3 is wrong")])
def test_a_disabled_bot_still_sweeps(bench: Bench, policy: Policy) -> None:
    bench.running()
    bench.clock.at = START + timedelta(hours=5)
    event = Scheduled(bench.forge.repo, Requester("schedule"), is_manual=False)
    route(bench.context, event, lambda: policy, Step())
    assert bench.cloud.running == {}
    assert bench.record.bill is not None


def test_an_invalid_spec_in_a_pull_request_is_red_and_told_once(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardwear: {}\n")
    event = PullRequestChanged(bench.forge.repo, bench.forge.pull, "opened")
    (result,) = route(bench.context, event, lambda: POLICY, LIGHT).results
    assert result.ending is Ending.SPEC_ERROR
    assert exit_code(result.ending, Door.JOB) == 1
    assert len(bench.texts) == 1
    assert "hardwear" in result.outcome.text


def test_closing_marks_the_end_in_the_light_step_and_ends_it_in_the_second(bench: Bench) -> None:
    bench.running()
    closed = replace(bench.forge.pull, state="closed")
    event = PullRequestClosed(bench.forge.repo, closed, Requester("bob", 8))
    assert route(bench.context, event, lambda: POLICY, LIGHT).deferred == (0,)
    assert bench.record.tombstone is not None
    assert codes(route(bench.context, event, lambda: POLICY, Step(only=(0,)))) == ["torn_down"]
    assert codes(route(bench.context, event, lambda: POLICY, LIGHT)) == ["nothing_to_tear_down"]


def test_a_schedule_needs_the_cloud_only_where_there_is_one(bench: Bench) -> None:
    event = Scheduled(bench.forge.repo, Requester("schedule"), False)
    assert route(bench.context, event, lambda: POLICY, LIGHT).deferred == (0,)
    assert codes(route(bench.context, event, lambda: POLICY, Step(only=(0,)))) == ["swept"]
    bench.settle(clouds=())
    assert codes(route(bench.context, event, lambda: POLICY, LIGHT)) == ["no_cloud_secret"]


def test_a_dry_run_of_the_schedule_ends_nothing(bench: Bench) -> None:
    bench.running()
    bench.clock.at = START + timedelta(hours=3)
    event = Scheduled(bench.forge.repo, Requester("ada", 7), True, is_dry_run=True)
    assert codes(route(bench.context, event, lambda: POLICY, Step())) == ["swept"]
    assert bench.cloud.running


# --- any comment ------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        "/gpu-lol", "/gpu-lol up", "up", "down", "status", "help", "--gpu", "A100:2", "--hours", "2h", "--spot", "--dry-run",
        "--sha", "abc1234", "--share", "@bob", "—gpu", "`", "```", "> ", "- ", "    ", "<!--", "-->", "\n", "\n\n", "\r\n",
        "\0", "\u202e", "\ud800", "[x](y)", "**", "#", "@everyone", "</details>", "{{7*7}}", "$(id)", "9" * 30, "::error::x",
    ]
)  # fmt: skip
PIECES = st.lists(st.one_of(WORDS, st.text(max_size=8)), max_size=6).map(" ".join)
LINES = st.sampled_from(["up", "up --dry-run", "up --hours 1h", "down", "status", "help up", "up big"]).map(
    "/gpu-lol {}".format
)
COMMENTS = st.lists(st.one_of(PIECES, LINES, PIECES.map("/gpu-lol {}".format)), max_size=5).map("\n\n".join)


def asks_to_launch(body: str) -> bool:
    parsed = parse_comment(body)
    return isinstance(parsed, list) and any(isinstance(c, Command) and c.name == "up" for c in parsed)


@given(COMMENTS, st.sampled_from(["ada", "bob", "mallory"]), st.booleans())
def test_no_comment_breaks_the_router_or_launches_without_a_command(body: str, author: str, is_light: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = furnished(Path(folder))
        run = say(bench, body, author, step=LIGHT if is_light else Step())
        assert all(result.ending is not Ending.INTERNAL_ERROR for result in run.results)
        is_allowed = author == "ada" and not is_light and asks_to_launch(body)
        if not is_allowed:
            assert bench.ledger.entries() == []
            assert not any(line.startswith("launch") for line in bench.cloud.log)
        if author == "mallory":
            assert all("commands, each on a line" in t or "help" in t for t in bench.texts)
        bench.assert_nothing_bills_unnoticed()


@given(COMMENTS, st.sampled_from([None, State.CLAIMED, State.LAUNCHING, State.VALIDATING, State.READY]), st.booleans())
def test_the_light_step_touches_no_cloud_whatever_runs(body: str, state: State | None, is_buried: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = furnished(Path(folder))
        if state is not None:
            entry = bench.running(state)
            if is_buried:
                write_tombstone(bench.context, entry, Tombstone("ada", "down", START))
        run = say(bench, body, step=LIGHT)
        assert bench.cloud.log == []
        assert all(result.ending is not Ending.INTERNAL_ERROR for result in run.results)
        bench.assert_nothing_bills_unnoticed()


@pytest.mark.parametrize("piece", ["[", "*a ", "> ", "- ", "`", "![[](", "<!--", "&#", "_*", "<a "])
def test_deep_markdown_is_no_way_to_break_the_parser(bench: Bench, piece: str) -> None:
    run = say(bench, piece * 10_000)
    assert run.ignored is not None


# --- started by hand ------------------------------------------------------------------------------------------------


def by_hand(bench: Bench, step: Step, *, is_manual: bool = True) -> Run:
    return route(bench.context, Scheduled(bench.forge.repo, Requester("ada", 7), is_manual), lambda: POLICY, step)


def instrumented(bench: Bench, account: Account) -> None:
    made = Instruments(
        now=bench.clock.now,
        is_job=True,
        default_branch="main",
        accounts=lambda: {"runpod": account},
        skypilot=lambda: "0.14.1",
        skypilot_wanted="0.14.1",
    )
    bench.context = replace(bench.context, instruments=lambda: made)


def test_run_that_is_started_by_hand_sweeps_and_checks_the_installation(bench: Bench) -> None:
    instrumented(bench, Account(is_accepted=True))
    assert by_hand(bench, LIGHT).deferred == (0,), "with the keys, all in one place"
    run = by_hand(bench, Step())
    assert codes(run) == ["swept", "checked_up"]
    assert run.results[1].outcome.text.startswith("### ")


def test_fault_that_a_check_up_finds_is_red_and_tells_its_fix(bench: Bench) -> None:
    instrumented(bench, Account(is_accepted=False))
    run = by_hand(bench, Step())
    assert codes(run) == ["swept", "checkup_found_faults"]
    assert run.results[1].ending is Ending.OPERATOR_ERROR
    assert "RUNPOD_API_KEY" in run.results[1].outcome.text


def test_check_up_is_made_where_no_cloud_is_connected_and_on_no_schedule(bench: Bench) -> None:
    instrumented(bench, Account(is_accepted=True))
    assert codes(by_hand(bench, Step(), is_manual=False)) == ["swept"]
    bench.settle(clouds=())
    assert codes(by_hand(bench, LIGHT)) == ["no_cloud_secret", "checked_up"]
