"""Hundreds of hostile comments, by somebody who may do everything: none crashes, launches, breaks out of its place or pings anybody."""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_lol_action.domain.environment import Requester
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command, CommentCreated, Ignore
from gpu_lol_action.intake.parser import MAX_COMMANDS_PER_COMMENT, parse_comment
from gpu_lol_action.router import Run, Step, route
from tests.support.hands import HEAD
from tests.support.hostile import ACTIVE, FIXTURE, HARMLESS, REFUSED, SILENT, HostileComment, hostile_comments
from tests.support.machine import GoodMachine
from tests.support.rendered import reply_problems
from tests.unit.handlers.conftest import Bench

# Whatever holds a comment back here is the grammar or a gate about it, never a limit of money.
POLICY = Policy(
    max_price_usd_per_hour=Decimal(90),
    confirm_above_usd_per_hour=Decimal(90),
    month_usd=Decimal(9000),
    environments_per_person=99,
    environments_per_repository=99,
    may_forks_launch=True,
    requires_recent_sweep=False,
)
SPEC = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}\n"
LONGEST_SECONDS = 10.0  # on a busy machine; one second where it is alone
FAMILIES = sorted({comment.name.rpartition("-")[0] for comment in hostile_comments()})
COSTLESS = frozenset({"help_shown", "status_shown", "help_shown_before"})


def furnished(folder: Path) -> Bench:
    bench = Bench(folder)
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
    bench.shell = GoodMachine()
    return bench


def say(bench: Bench, body: str, policy: Policy = POLICY) -> Run:
    event = CommentCreated(bench.forge.repo, 12, 6, body, Requester("ada", 7), False, "MEMBER")
    return route(bench.context, event, lambda: policy, Step())


def faults(bench: Bench, comment: HostileComment) -> list[str]:
    """Let one comment be read; return what went wrong with it."""
    bench.forge.posted.clear()
    started = time.perf_counter()
    run = say(bench, comment.body)
    found = [f"took {seconds:.1f} s" for seconds in [time.perf_counter() - started] if seconds > LONGEST_SECONDS]
    codes = {result.outcome.reason_code for result in run.results}
    decisions = {result.outcome.decision for result in run.results}
    if comment.outcome == SILENT and run.ignored is None:
        found.append(f"was heard: {codes}")
    if comment.outcome == REFUSED and decisions != {"denied"}:
        found.append(f"was not refused: {codes or run.ignored}")
    if comment.outcome == HARMLESS and not (codes & COSTLESS):
        found.append(f"was not answered: {codes or run.ignored}")
    if bench.cloud.log or bench.ledger.entries() or "failed" in decisions:
        found.append(f"did something: {codes} {bench.cloud.log}")
    if len(bench.forge.posted) > MAX_COMMANDS_PER_COMMENT + 1:
        found.append(f"{len(bench.forge.posted)} replies")
    found += [problem for posted in bench.forge.posted for problem in reply_problems(posted.body)]
    return [f"{comment.name}: {each}" for each in found]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_hostile_comment_launches_breaks_out_or_pings(tmp_path: Path, family: str) -> None:
    bench = furnished(tmp_path)
    comments = [comment for comment in hostile_comments() if comment.name.rpartition("-")[0] == family]
    assert [fault for comment in comments for fault in faults(bench, comment)] == []
    assert bench.progress.failures == []
    silent = {"set-apart", "look-alike", "forged", "huge"}
    assert (bench.forge.asked == []) is (family in silent), "what is not heard asks nothing of GitHub either"


def test_the_listed_comments_are_those_that_are_made() -> None:
    lines = FIXTURE.read_text(encoding="utf-8").splitlines()
    assert lines == [comment.as_json() for comment in hostile_comments()], "run: python -m tests.support.hostile"
    assert len(lines) >= 300


def test_the_check_sees_what_it_looks_for() -> None:
    """Each of these would be a hole; a check that finds none of them proves nothing."""
    whole = "<!-- gpu-lol v1 reply pr=1 to=2 what=x -->\n### 🔴 Refused\n\nTEXT\n\n**Nothing was launched.**"
    assert reply_problems(whole.replace("TEXT", "fine `@code` and ```x```")) == []
    for hole in ("@ada", "#1", "GH-2", "acme/x#3", "https://evil.example", "www.evil.example", "[x](https://a.b)",
                 "![x](https://a.b)", "<img src=x>", "<a href=x>x</a>", "```", "<details>", "</details>", "# h",
                 "\u202e", "a@b.example", "<!-- x", "<h1>free</h1>"):  # fmt: skip
        assert reply_problems(whole.replace("TEXT", hole)), hole
    assert reply_problems(whole.replace("<!-- gpu-lol", "<!-- x"))
    assert reply_problems(whole.replace("**Nothing", "Nothing"))


# Letters that Markdown, HTML, shells and GitHub act on, next to words of the grammar.
PIECES = st.sampled_from((
    *ACTIVE, "/gpu-lol", "up", "down", "set", "help", "vram=48", "gpu=A100", "--gpu", "A40", "--hours", "2h", "--", "\n",
    "\n\n", " ", "  ", "\t", "\r", "> ", "- ", "    ", "`", "```\n", "<details>", "</details>", "<!--", "-->", "|", "\\",
    "\u202e", "\u200b", "\u00a0", "\0",
))  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=14))
def test_whatever_is_put_together_is_answered_safely_or_not_at_all(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    bench = furnished(tmp_path_factory.mktemp("bench"))
    run = say(bench, "".join(pieces), replace(POLICY, max_price_usd_per_hour=Decimal(0)))
    assert not any(line.startswith("launch") for line in bench.cloud.log)
    assert all(result.outcome.reason_code != "internal_error" for result in run.results)
    for posted in bench.forge.posted:
        if parse_outcome(posted.body) != "proposal":
            assert reply_problems(posted.body) == []


def parse_outcome(body: str) -> str:
    return body.split()[3]


WORDS = st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12), max_size=6)


@given(WORDS)
def test_what_is_parsed_is_typed_and_keeps_nothing_foreign(words: list[str]) -> None:
    """No argument of a command that parses holds a character that a shell or a path would act on."""
    parsed = parse_comment(f"/gpu-lol up {' '.join(words)}")
    for command in () if isinstance(parsed, Ignore) else parsed:
        if isinstance(command, Command):
            texts = [command.profile, command.image, command.region, command.cloud, command.sha, *command.share]
            for text in filter(None, texts):
                assert set(text) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@")
                assert not text.startswith("-")


def test_the_same_comment_without_its_disguise_would_have_launched(tmp_path: Path) -> None:
    """What holds the others back is their form: this one, by the same person under the same policy, launches."""
    bench = furnished(tmp_path)
    assert [result.outcome.reason_code for result in say(bench, f"/gpu-lol up --sha {HEAD}").results] == ["launched"]
