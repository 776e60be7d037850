"""What was read and is not believed stands open, and the answer is then told as one for other code than was written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.domain.surfaces import Conclusion
from gpu_lol_action.render import comments
from gpu_lol_action.render.analysis_text import render_analysis
from gpu_lol_action.render.check_report import proposal_report
from gpu_lol_action.render.screen import PLAIN
from gpu_lol_action.render.views_proposal import ProposalCase, proposal_view
from tests.golden.cases import LADDER, NOW, POLICY
from tests.golden.change_cases import change_of

TRAIN = """from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model
tokenizer = AutoTokenizer.from_pretrained("mistralai/Mistral-7B-v0.1", model_max_length=2048)
model = get_peft_model(AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1"), LoraConfig(r=16))
args = TrainingArguments("out", bf16=True, per_device_train_batch_size={batch})
Trainer(model=model, args=args).train()
"""
SENTENCE = "`per_device_train_batch_size` is 256 (`train.py:5`), and a batch of "


def found(folder: Path, batch: int) -> Analysis:
    (folder / "train.py").write_text(TRAIN.format(batch=batch))
    return analyze(read_checkout(folder))


def case_of(analysis: Analysis) -> ProposalCase:
    return comments.analysis_case(
        analysis=analysis, ladder=LADDER, policy=POLICY, spec_yaml=write_spec(analysis.spec), sha="", now=NOW
    )


def test_a_batch_that_is_not_believed_stands_open_with_its_line(tmp_path: Path) -> None:
    case = case_of(found(tmp_path, 256))
    body = comments.proposal(case)
    heading = body.split("\n")[1]
    assert heading.startswith("### 🟡")
    assert "not as it is written" in heading
    opened = body.partition("<details>")[0]
    assert SENTENCE in opened
    assert body.count("against what was read") == 1
    assert proposal_report(case, None).conclusion is Conclusion.NEUTRAL


def test_a_terminal_says_it_once_and_above_the_memory(tmp_path: Path) -> None:
    text = render_analysis(case_of(found(tmp_path, 256)), PLAIN)
    told = SENTENCE.replace("`", "")
    assert told in text
    assert text.index(told) < text.index("Memory per GPU")
    assert text.count("against what was") == 1


@pytest.mark.parametrize("batch", [1, 8])
def test_what_is_believed_is_told_in_green(tmp_path: Path, batch: int) -> None:
    view = proposal_view(case_of(found(tmp_path, batch)))
    assert (view.verdict, view.set_aside) == ("first", ())


def test_beside_a_base_no_green_heading_hides_it(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "head").mkdir()
    base, head = found(tmp_path / "base", 8), found(tmp_path / "head", 2000)
    beside = {"base_ladder": LADDER, "base_sha": "b" * 40}
    case = replace(case_of(head), base_analysis=base, change=change_of(base, head), **beside)
    assert proposal_view(case).verdict == "not_as_written"
    same = replace(case_of(head), base_analysis=head, change=change_of(head, head), **beside)
    assert proposal_view(same).verdict == "same"


def test_what_a_person_wrote_down_is_no_guess(tmp_path: Path) -> None:
    told = replace(found(tmp_path, 256), spec_path=".gpu-lol.yaml")
    assert proposal_view(case_of(told)).verdict == "first"


def test_what_would_be_cheaper_names_the_batch_that_is_written(tmp_path: Path) -> None:
    alternatives = found(tmp_path, 256).alternatives
    assert alternatives
    for each in alternatives:
        assert "batch 256 → " in each.words or " at batch " in each.words, each.words
    halved = next(each.words for each in alternatives if each.words.startswith("batch"))
    assert halved.startswith("batch 256 → ")
    assert halved.endswith(" times")
