from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpu_lol_action.domain.request import Posted
from gpu_lol_action.errors import Ending, SpecError, TransientError
from gpu_lol_action.handlers.propose import Occasion, handle_propose
from gpu_lol_action.handlers.propose_sticky import PROPOSAL_PREFIX
from tests.unit.handlers.conftest import POLICY, Bench

TRAINING = """\
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
"""


@pytest.fixture
def bench(bench: Bench, tmp_path: Path) -> Bench:
    """A repository whose head loads a model that its base does not have."""
    (bench.forge.folder / "train.py").write_text(TRAINING)
    (bench.forge.folder / "requirements.txt").write_text("torch\ntransformers\n")
    base = tmp_path / "base"
    base.mkdir()
    (base / "train.py").write_text("print('nothing yet')\n")
    bench.forge.trees[bench.forge.pull.base_sha] = base
    return bench


def propose(bench: Bench, *, is_asked: bool = False) -> tuple[str, str]:
    outcome = handle_propose(bench.context, Occasion(bench.forge.repo, bench.forge.pull, lambda: POLICY, is_asked))
    return outcome.decision, outcome.reason_code


def test_one_sticky_comment_is_posted_and_then_edited_only_when_something_changed(bench: Bench) -> None:
    assert propose(bench) == ("done", "proposed")
    first = bench.texts[0]
    assert first.startswith(PROPOSAL_PREFIX)
    assert "Qwen2.5-7B" in first
    assert propose(bench) == ("done", "proposal_unchanged")
    assert bench.forge.edits == 0
    (bench.forge.folder / "train.py").write_text(TRAINING.replace("7B", "14B"))
    bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
    assert propose(bench) == ("done", "proposed")
    assert len(bench.texts) == 1
    assert "Qwen2.5-14B" in bench.texts[0]


def test_somebody_elses_comment_with_our_marker_is_not_ours(bench: Bench) -> None:
    bench.forge.posted.append(Posted(1, f"{PROPOSAL_PREFIX} pr=12 -->\nI am the bot", "mallory"))
    propose(bench)
    assert bench.texts[0].endswith("I am the bot")
    assert len(bench.texts) == 2


@pytest.mark.parametrize(
    ("changes", "why"), [({"is_draft": True}, "draft"), ({"author_is_bot": True}, "author_is_bot")]
)
def test_drafts_and_bots_get_no_proposal_unless_a_person_asks(
    bench: Bench, changes: dict[str, object], why: str
) -> None:
    bench.forge.pull = replace(bench.forge.pull, **changes)  # type: ignore[arg-type]  # keyword bag
    assert propose(bench) == ("ignored", why)
    assert bench.texts == []
    assert propose(bench, is_asked=True) == ("done", "proposed")


def test_an_older_run_never_writes_over_a_newer_one(bench: Bench) -> None:
    old = bench.forge.pull
    bench.forge.pull = replace(old, head_sha="e" * 40)
    outcome = handle_propose(bench.context, Occasion(bench.forge.repo, old, lambda: POLICY))
    assert (outcome.decision, outcome.reason_code) == ("ignored", "head_moved")
    assert bench.texts == []


def test_a_base_that_cannot_be_read_leaves_the_comparison_out(bench: Bench) -> None:
    bench.forge.unreadable.add(bench.forge.pull.base_sha)
    assert propose(bench) == ("done", "proposed")
    assert any("no comparison" in line for line in bench.progress.lines)


def test_a_base_with_an_invalid_spec_is_no_reason_to_fail_the_head(bench: Bench) -> None:
    (bench.forge.trees[bench.forge.pull.base_sha] / ".gpu-lol.yaml").write_text("hardwear: {}\n")
    assert propose(bench) == ("done", "proposed")


def test_a_head_that_cannot_be_read_is_an_error_and_keeps_the_old_proposal(bench: Bench) -> None:
    propose(bench)
    before = bench.texts[0]
    bench.forge.unreadable.add(bench.forge.pull.head_sha)
    with pytest.raises(Exception, match="no such archive"):
        propose(bench)
    assert bench.texts == [before]


def test_an_invalid_spec_takes_the_proposals_place_and_is_told_once(bench: Bench) -> None:
    propose(bench)
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardwear: {}\n")
    bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
    with pytest.raises(SpecError) as raised:
        propose(bench)
    assert raised.value.is_told
    assert raised.value.ending is Ending.SPEC_ERROR
    assert len(bench.texts) == 1
    assert "`.gpu-lol.yaml" in bench.texts[0]
    assert "hardware" in bench.texts[0]


def test_a_comment_that_is_refused_leaves_the_outcome_and_its_text(bench: Bench) -> None:
    """A fork's pull request has a token that may only read: its proposal is in the job summary."""
    bench.forge.is_read_only = True
    outcome = handle_propose(bench.context, Occasion(bench.forge.repo, bench.forge.pull, lambda: POLICY))
    assert outcome.decision == "done"
    assert "Qwen2.5-7B" in outcome.text
    assert "summary" in bench.progress.warnings[0]


def test_an_edit_that_is_refused_leaves_the_outcome_too(bench: Bench) -> None:
    propose(bench)
    bench.forge.is_read_only = True
    bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
    (bench.forge.folder / "train.py").write_text(TRAINING.replace("7B", "14B"))
    assert propose(bench)[0] == "done"
    assert len(bench.progress.warnings) == 1


def test_a_spec_error_that_cannot_be_posted_is_still_a_spec_error(bench: Bench) -> None:
    bench.forge.is_read_only = True
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardwear: {}\n")
    with pytest.raises(SpecError):
        propose(bench)


def test_comments_that_cannot_be_listed_leave_the_outcome(bench: Bench) -> None:
    def refuse(number: int, marker_prefix: str) -> list[Posted]:
        raise TransientError("github_unreachable", "it answered 502")

    bench.forge.find_comments = refuse  # type: ignore[method-assign]  # an outage
    assert propose(bench)[0] == "done"
    assert bench.texts == [], "without knowing what is there, a second proposal would be posted"
