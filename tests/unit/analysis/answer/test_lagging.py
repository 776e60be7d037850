from __future__ import annotations

from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.lagging import carried
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.card_sizes import sold_gb

PROGRAM = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
args = TrainingArguments(per_device_train_batch_size={batch}, bf16=True, max_seq_length=2048, gradient_checkpointing=True)
Trainer(model=model, args=args).train()
"""
README = "# Training\n\nTraining needs {gb} GB of GPU memory.\n\n```\npython train.py\n```\n"


def analyzed(folder: Path, name: str, *, batch: int, gb: int | None = 30, spec: str | None = None) -> Analysis:
    tree = folder / name
    tree.mkdir()
    (tree / "train.py").write_text(PROGRAM.format(batch=batch))
    if gb is not None:
        (tree / "README.md").write_text(README.format(gb=gb))
    if spec is not None:
        (tree / ".gpu-lol.yaml").write_text(spec)
    checkout = read_checkout(tree)
    return analyze(checkout, checkout.spec_text)


def required(analysis: Analysis) -> float:
    assert analysis.breakdown is not None
    return analysis.breakdown.required_gib


def computed(analysis: Analysis) -> float:
    assert analysis.breakdown is not None
    assert analysis.breakdown.computed_gib is not None
    return analysis.breakdown.computed_gib


@pytest.mark.parametrize(("old", "new"), [(4, 8), (8, 4)])
def test_a_change_that_the_documentation_does_not_know_shows_whole(tmp_path: Path, old: int, new: int) -> None:
    base, head = analyzed(tmp_path, "base", batch=old), analyzed(tmp_path, "head", batch=new)
    found = carried(head, base)
    assert required(found) / required(base) == pytest.approx(computed(head) / computed(base), rel=0.05)
    assert abs(required(found) - required(base)) > abs(required(head) - required(base))
    assert found.spec.hardware.vram_required_gb == found.proposed.hardware.vram_required_gb == sold_gb(required(found))
    need = next(item for item in found.findings if item.field == "hardware.vram_required_gb")
    assert need.value == str(int(required(found)))
    assert "before this change" in need.why
    assert found.breakdown is not None
    assert found.breakdown.low_gib <= required(found) <= found.breakdown.high_gib


def test_documentation_that_was_changed_with_the_code_is_taken_at_its_word(tmp_path: Path) -> None:
    base, head = analyzed(tmp_path, "base", batch=4), analyzed(tmp_path, "head", batch=8, gb=36)
    assert carried(head, base) == head


def test_the_same_configuration_stays_as_it_was(tmp_path: Path) -> None:
    base, head = analyzed(tmp_path, "base", batch=4), analyzed(tmp_path, "head", batch=4)
    assert carried(head, base) == head


def test_without_documentation_nothing_is_carried(tmp_path: Path) -> None:
    base, head = analyzed(tmp_path, "base", batch=4, gb=None), analyzed(tmp_path, "head", batch=8, gb=None)
    assert carried(head, base) == head


def test_a_file_that_asks_for_less_than_is_carried_over_stays_and_is_told(tmp_path: Path) -> None:
    spec = "hardware:\n  vram_required_gb: 30\n"
    base, head = analyzed(tmp_path, "base", batch=4, spec=spec), analyzed(tmp_path, "head", batch=16, spec=spec)
    found = carried(head, base)
    assert found.spec.hardware.vram_required_gb == 30
    assert required(found) > 40
    told = [(each.in_file, each.in_code) for each in found.differences if each.key == "hardware.vram_required_gb"]
    assert told == [("30 GB", f"{sold_gb(required(found))} GB")]


SAVING = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("TinyLlama/TinyLlama-1.1B-Chat-v1.0")
args = TrainingArguments(per_device_train_batch_size={batch}, bf16=True, max_seq_length=2048)
Trainer(model=model, args=args).train()
"""


def read(folder: Path, name: str, program: str, readme: str) -> Analysis:
    tree = folder / name
    tree.mkdir()
    (tree / "train.py").write_text(program)
    (tree / "README.md").write_text(readme)
    return analyze(read_checkout(tree))


@pytest.mark.parametrize(
    "said",
    ["", "It was trained on one RTX A6000.", "It was trained on one A100.", "Training needs 45 GB of GPU memory."],
)
def test_more_samples_ask_for_no_less_though_something_is_assumed_for_them(tmp_path: Path, said: str) -> None:
    readme = f"# Training\n\n{said}\n\n```\npython train.py\n```\n"
    base = read(tmp_path, "base", SAVING.format(batch=8), readme)
    for batch in (16, 32, 64):
        head = carried(read(tmp_path, f"head{batch}", SAVING.format(batch=batch), readme), base)
        assert required(head) >= required(base)


def test_the_statement_of_before_stays_where_another_lies_nearer_now(tmp_path: Path) -> None:
    readme = "# Training\n\nTraining needs 24 GB of GPU memory. On long texts training needs 40 GB of GPU memory.\n\n```\npython train.py\n```\n"
    base, head = (read(tmp_path, f"b{batch}", PROGRAM.format(batch=batch), readme) for batch in (6, 9))
    assert base.breakdown is not None
    assert head.breakdown is not None
    assert (base.breakdown.weighed, head.breakdown.weighed) != (None, None)
    found = carried(head, base)
    assert found.breakdown is not None
    assert found.breakdown.weighed is not None
    assert base.breakdown.weighed is not None
    assert found.breakdown.weighed.value == base.breakdown.weighed.value
    assert required(found) / required(base) == pytest.approx(computed(found) / computed(base), rel=0.06)


def test_a_statement_of_another_run_does_not_become_this_ones_by_a_change_of_code(tmp_path: Path) -> None:
    readme = "# Training\n\nAnother model fits 10 GB of GPU memory.\n\n```\npython train.py\n```\n"
    base = read(tmp_path, "base", PROGRAM.format(batch=16), readme)
    head = read(tmp_path, "head", PROGRAM.format(batch=2), readme)
    assert base.breakdown is not None
    assert head.breakdown is not None
    assert base.breakdown.weighed is None
    assert head.breakdown.weighed is not None
    found = carried(head, base)
    assert found.breakdown is not None
    assert found.breakdown.weighed is None
    assert required(found) == computed(head)


def test_what_was_agreed_over_the_large_card_is_not_put_under_it(tmp_path: Path) -> None:
    base = analyzed(tmp_path, "base", batch=8, gb=98)
    head = analyzed(tmp_path, "head", batch=10, gb=98)
    assert head.breakdown is not None
    assert head.breakdown.expected_gib < 75
    assert required(base) > 80
    assert required(carried(head, base)) > required(base)
