"""What is shown beside the comments of a machine's story, and which texts are new comments and which are edits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from gpu_lol_action.domain.corrections import Corrections
from gpu_lol_action.domain.environment import Requester, State
from gpu_lol_action.domain.machine import NotLaunched
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import PullRequestClosed
from gpu_lol_action.handlers.down import handle_closed, handle_down
from gpu_lol_action.handlers.sweep import handle_sweep
from gpu_lol_action.handlers.up import answer_without_cloud, handle_up
from tests.support.machine import GoodMachine
from tests.support.surfaces import Shown
from tests.unit.handlers.conftest import POLICY, Bench

SPEC = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}\ndependencies: {requirements: [packaging]}\n"
RUN = "https://github.com/acme/train/actions/runs/77"


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.fixture
def bench(bench: Bench, shown: Shown) -> Iterator[Bench]:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC)
    bench.shell = GoodMachine()
    bench.context = replace(bench.context, surfaces=shown.surfaces())
    yield bench
    bench.assert_nothing_bills_unnoticed()


def mentions(bench: Bench) -> list[bool]:
    """Whether each comment that was posted (and not only edited) notifies the requester by name."""
    return ["@ada" in text for text in bench.texts]


def headings(bench: Bench) -> list[str]:
    return [text.split("\n")[1] for text in bench.texts]


# --- new comments and edits ---------------------------------------------------------------------------------------


def test_up_answers_once_and_says_ready_once_and_edits_all_between(bench: Bench) -> None:
    handle_up(bench.context, bench.order())
    assert len(bench.texts) == 2, "the answer to the command, which is edited as it goes on, and ready"
    status, ready = headings(bench)
    assert "Ready for @ada" in ready
    assert "Launching" not in status, "the first comment has moved on"
    assert bench.forge.edits >= 2
    assert mentions(bench) == [False, True]


def test_down_says_torn_down_once_with_the_requester_and_edits_the_status(bench: Bench) -> None:
    handle_up(bench.context, bench.order())
    edits = bench.forge.edits
    handle_down(bench.context, bench.order("/gpu-lol down"))
    assert len(bench.texts) == 3
    assert headings(bench)[2].startswith("### ⚪ @ada, ")
    assert bench.forge.edits == edits + 1
    assert "ready" not in headings(bench)[0].lower()


def test_closing_the_pull_request_tells_the_requester(bench: Bench) -> None:
    handle_up(bench.context, bench.order())
    event = PullRequestClosed(bench.forge.repo, replace(bench.forge.pull, state="closed"), Requester("bob", 8))
    handle_closed(bench.context, event, POLICY)
    assert mentions(bench) == [False, True, True]


def test_a_sweep_that_ends_a_lease_tells_the_requester(bench: Bench) -> None:
    handle_up(bench.context, bench.order())
    bench.clock.sleep(timedelta(hours=3))
    handle_sweep(bench.context, 5, POLICY, is_dry_run=False)
    assert bench.record.state is State.CLOSED
    assert mentions(bench) == [False, True, True]


def test_a_failed_launch_answers_once_and_turns_its_own_comment_into_the_bill(bench: Bench) -> None:
    bench.cloud.answers = [NotLaunched("no_capacity", "no machine now", is_certain=True)] * 9
    handle_up(bench.context, bench.order())
    assert len(bench.texts) == 2, "the launching comment, which became the certificate, and the answer"


# --- deployments ----------------------------------------------------------------------------------------------------


def test_a_machine_is_a_deployment_from_its_claim_to_its_end(bench: Bench, shown: Shown) -> None:
    bench.forge.url_of = "https://github.com/acme/train/pull/12#issuecomment-{}"
    handle_up(bench.context, bench.order())
    assert shown.log == ["begin claimed", "success https://github.com/acme/train/pull/12#issuecomment-2"]
    handle_down(bench.context, bench.order("/gpu-lol down"))
    assert shown.log[2:] == ["inactive"]


def test_a_launch_that_fails_is_a_failed_deployment(bench: Bench, shown: Shown) -> None:
    bench.cloud.answers = [NotLaunched("no_capacity", "no machine now", is_certain=True)] * 9
    handle_up(bench.context, bench.order())
    assert shown.log == ["begin claimed", "failure"]


def test_a_machine_that_is_not_proven_gone_stays_active(bench: Bench, shown: Shown) -> None:
    handle_up(bench.context, bench.order())
    bench.cloud.is_silent = True
    handle_down(bench.context, bench.order("/gpu-lol down"))
    assert "inactive" not in shown.log
    bench.cloud.is_silent = False


def test_without_the_permission_the_machine_comes_all_the_same_and_the_summary_has_one_line(
    bench: Bench, shown: Shown
) -> None:
    shown.missing.add("deployments")
    assert handle_up(bench.context, bench.order()).reason_code == "launched"
    assert handle_down(bench.context, bench.order("/gpu-lol down")).reason_code == "torn_down"
    assert all("`deployments: write`" in note for note in bench.progress.notes)
    assert bench.progress.warnings == []


# --- what was set holds for the machine -------------------------------------------------------------------------------


def test_up_rents_what_was_set_for_the_pull_request(bench: Bench, shown: Shown) -> None:
    shown.notes[12] = ProposalNote(Corrections(gpu="L4"), {"gpu": "grace"})
    plan = answer_without_cloud(bench.context, bench.order())
    best = getattr(plan, "ladder", None)
    assert best is not None
    assert {candidate.offer.accelerator for candidate in best.candidates} == {"L4"}


def test_an_option_of_the_command_wins_over_what_was_set(bench: Bench, shown: Shown) -> None:
    shown.notes[12] = ProposalNote(Corrections(gpu="L4"), {"gpu": "grace"})
    plan = answer_without_cloud(bench.context, bench.order("/gpu-lol up --gpu A40", gpu="A40"))
    best = getattr(plan, "ladder", None)
    assert best is not None
    assert {candidate.offer.accelerator for candidate in best.candidates} == {"A40"}
