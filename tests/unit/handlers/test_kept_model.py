"""What a language model answered for a proposal is what `up` rests on: over real HTTP, with an endpoint that never says the same twice."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gpu_lol_action.adapters.llm import ChatEndpoint, LlmSettings
from gpu_lol_action.analysis.answer.llm_advice import Advice, read_advice, write_advice
from gpu_lol_action.domain.kept_answers import KeptAnswers
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import note_from_json, note_to_json
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.handlers.askable import Lookups
from gpu_lol_action.handlers.plan import plan_up
from gpu_lol_action.handlers.planned import UpPlan
from gpu_lol_action.handlers.propose import Occasion, handle_propose
from gpu_lol_action.handlers.reading import read_change
from tests.support.surfaces import Shown
from tests.support.web import Said, Seen, Web, said_json, web_server
from tests.unit.handlers.conftest import Bench

KEY = "sk-test-0123456789abcdefghij"
TRAIN = """\
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

if __name__ == "__main__":
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B", torch_dtype=torch.bfloat16)
    Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=1, bf16=True)).train()
"""


@pytest.fixture
def endpoint() -> Iterator[Web]:
    """It says 40 GB when it is first asked, then 41, 42, ..."""
    sizes = itertools.count(40)

    def answer(_seen: Seen) -> Said:
        content = f"<think>{KEY}</think>" + json.dumps({"vram_required_gb": next(sizes), "reason": "packed"})
        return said_json({"choices": [{"message": {"content": content}}]})

    with web_server() as server:
        server.script = answer
        yield server


@pytest.fixture
def shown(bench: Bench, endpoint: Web, tmp_path: Path) -> Shown:
    shown = Shown()
    bench.context = replace(bench.context, surfaces=shown.surfaces())
    (bench.forge.folder / "train.py").write_text(TRAIN)
    (bench.forge.folder / "requirements.txt").write_text("torch\ntransformers\n")
    base = tmp_path / "base"
    base.mkdir()
    (base / "readme.txt").write_text("nothing yet")
    bench.forge.trees[bench.forge.pull.base_sha] = base
    ask_afresh(bench, endpoint)
    return shown


def ask_afresh(bench: Bench, endpoint: Web, model: str = "some-model") -> None:
    """Be another job, with nothing in memory."""
    settings = LlmSettings(f"{endpoint.address}/v1", model, KEY, timedelta(seconds=20))
    llm = ChatEndpoint(settings, lambda: datetime.now(timezone.utc))
    bench.context = replace(bench.context, lookups=Lookups(llm=llm))


def propose(bench: Bench, **changes: object) -> str:
    occasion = Occasion(bench.forge.repo, bench.forge.pull, Policy)
    assert handle_propose(bench.context, replace(occasion, **changes)).decision == "done"  # type: ignore[arg-type]  # keyword bag
    return bench.texts[0]


def planned_gib(bench: Bench) -> int | None:
    plan = plan_up(bench.context, bench.order())
    assert isinstance(plan, UpPlan), plan
    return plan.spec.hardware.vram_required_gb


def sizes(note_text: str) -> list[int]:
    given = json.loads(note_text)["answers"]["given"].values()
    return [json.loads(text)["vram_required_gb"] for text in given]


def test_up_after_a_proposal_asks_nothing_and_gets_the_same_figure(bench: Bench, shown: Shown, endpoint: Web) -> None:
    proposed = propose(bench)
    asked = len(endpoint.seen)
    assert asked == 2  # head and base
    ask_afresh(bench, endpoint)
    planned = planned_gib(bench)
    assert len(endpoint.seen) == asked
    assert f"{planned} GB" in proposed
    assert planned in sizes(note_to_json(shown.notes[12]))


def ask_nobody(bench: Bench) -> None:
    """Be a job for which no language model is set up, as those of the reusable workflows."""
    bench.context = replace(bench.context, lookups=Lookups())


def test_up_in_a_job_without_a_language_model_launches_what_was_proposed(
    bench: Bench, shown: Shown, endpoint: Web
) -> None:
    ask_nobody(bench)
    code_alone = planned_gib(bench)
    ask_afresh(bench, endpoint)
    proposed = propose(bench)
    ask_nobody(bench)
    planned = planned_gib(bench)
    assert planned != code_alone
    assert planned in sizes(note_to_json(shown.notes[12]))
    assert propose(bench, is_asked=True) == proposed, "nor does a proposal that is asked for there take it back"
    ask_afresh(bench, endpoint)
    asked = len(endpoint.seen)
    assert planned_gib(bench) == planned
    assert len(endpoint.seen) == asked


@pytest.mark.parametrize("change", ["code", "head", "fork", "no name"])
def test_without_a_language_model_only_the_answer_to_this_very_question_counts(
    bench: Bench, shown: Shown, endpoint: Web, change: str
) -> None:
    ask_nobody(bench)
    code_alone = planned_gib(bench)
    ask_afresh(bench, endpoint)
    propose(bench)
    ask_nobody(bench)
    if change == "code":
        (bench.forge.folder / "train.py").write_text(TRAIN + "# another\n")
    if change == "head":
        bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
    if change == "no name":
        kept = replace(shown.notes[12].answers, model="")
        shown.notes[12] = note_from_json(note_to_json(replace(shown.notes[12], answers=kept)))
    note = shown.notes[12]
    kept_before = note.answers
    reading = read_change(bench.context, bench.forge.pull, Policy(), is_fork=change == "fork", note=note)
    assert reading.analysis.proposed.hardware.vram_required_gb == code_alone
    assert shown.notes[12].answers == kept_before


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"train.py": TRAIN + "# why\n"}, 1),
        ({"train.py": TRAIN.replace("size=1", "size=64")}, 2),
        ({"README.md": "Needs 24 GB."}, 2),
    ],
)
def test_chance_makes_no_change_between_head_and_base(
    bench: Bench, shown: Shown, endpoint: Web, change: dict[str, str], asked: int
) -> None:
    base = bench.forge.trees[bench.forge.pull.base_sha]
    (bench.forge.folder / "readme.txt").write_text((base / "readme.txt").read_text())
    for name, text in {"train.py": TRAIN, "requirements.txt": "torch\ntransformers\n", **change}.items():
        (base / name).write_text(text)
    text = propose(bench, is_asked=True)
    assert len(endpoint.seen) == asked, "what the analyzer and the documents say alike is asked about once"
    assert len(set(sizes(note_to_json(shown.notes[12])))) == asked
    assert "40 GB" in text


def test_a_further_proposal_of_the_same_commit_rests_on_the_same_answers(
    bench: Bench, shown: Shown, endpoint: Web
) -> None:
    proposed = propose(bench)
    asked = len(endpoint.seen)
    ask_afresh(bench, endpoint)
    assert propose(bench, is_asked=True) == proposed
    assert len(endpoint.seen) == asked


@pytest.mark.parametrize("change", ["code", "model", "head"])
def test_another_question_is_asked(bench: Bench, shown: Shown, endpoint: Web, change: str) -> None:
    propose(bench)
    asked = len(endpoint.seen)
    ask_afresh(bench, endpoint, "other-model" if change == "model" else "some-model")
    if change == "code":
        (bench.forge.folder / "train.py").write_text(TRAIN.replace("size=1", "size=2"))
    if change == "head":
        bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
    assert planned_gib(bench) == 40 + asked
    assert len(endpoint.seen) == asked + 1


def test_the_note_holds_the_values_that_were_understood_and_nothing_else(bench: Bench, shown: Shown) -> None:
    propose(bench)
    text = note_to_json(shown.notes[12])
    assert KEY not in text
    assert "think" not in text
    assert "requirements" not in text
    for answer in json.loads(text)["answers"]["given"].values():
        assert set(json.loads(answer)) == {
            "workload_type",
            "vram_required_gb",
            "gpu_count",
            "gpu_type",
            "reason",
            "run",
            "num_nodes",
            "add_packages",
            "drop_packages",
        }


def test_what_is_read_back_passes_the_same_guard(bench: Bench, shown: Shown, endpoint: Web) -> None:
    propose(bench)
    asked = len(endpoint.seen)
    kept = shown.notes[12].answers
    for forged in (
        '{"vram_required_gb": 1}',
        '{"gpu_type": "H900"}',
        '{"vram_required_gb": "lots"}',
        "no JSON",
        '{"gpu_count": 0}',
    ):
        shown.notes[12] = replace(shown.notes[12], answers=KeptAnswers(kept.head, dict.fromkeys(kept.given, forged)))
        shown.notes[12] = note_from_json(note_to_json(shown.notes[12]))
        ask_afresh(bench, endpoint)
        refused = planned_gib(bench)
        bench.context = replace(bench.context, lookups=Lookups())
        assert refused == planned_gib(bench), forged
    assert len(endpoint.seen) == asked


def test_a_proposal_without_an_answer_is_what_up_launches_and_the_next_proposal_asks_again(
    bench: Bench, shown: Shown, endpoint: Web
) -> None:
    answer, endpoint.script = endpoint.script, lambda _seen: Said(status=500)
    propose(bench)
    asked = len(endpoint.seen)
    endpoint.script = answer
    ask_afresh(bench, endpoint)
    planned = planned_gib(bench)
    assert len(endpoint.seen) == asked
    bench.context = replace(bench.context, lookups=Lookups())
    assert planned == planned_gib(bench)
    ask_afresh(bench, endpoint)
    propose(bench, is_asked=True)
    assert len(endpoint.seen) == asked + 2
    assert planned_gib(bench) in {40, 41}


def test_a_token_that_may_write_no_note_still_proposes(
    bench: Bench, shown: Shown, endpoint: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpu_lol_action.errors import OperatorError
    from tests.support.surfaces import ScriptedNotes

    def refuse(*_words: object) -> None:
        raise OperatorError("github_permission_missing", "the workflow's token may not do this")

    monkeypatch.setattr(ScriptedNotes, "change", refuse)
    assert "changed this proposal" in propose(bench)
    asked = len(endpoint.seen)
    ask_afresh(bench, endpoint)
    assert planned_gib(bench) == 40 + asked


@pytest.mark.parametrize(
    "advice",
    [
        Advice(None, None, None, None, ""),
        Advice(WorkloadType.TRAINING, 8, 75, "A100-80GB", "“packed” `x` " + "é\U0001f600" * 100),
        Advice(WorkloadType.CPU_ONLY, 0, None, None, "a\nb"),
        Advice(None, None, 24, None, "beside", "demo", 1),
    ],
)
def test_an_answer_that_is_written_down_says_the_same(advice: Advice) -> None:
    first = read_advice(write_advice(advice))
    assert isinstance(first, Advice)
    assert read_advice(write_advice(first)) == first
    assert replace(first, reason=advice.reason) == advice
    assert len(write_advice(first)) < 2000
