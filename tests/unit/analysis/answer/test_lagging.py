from __future__ import annotations

from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.lagging import carried, may_be_carried
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.analysis.stated.ordinary_cards import stands_for_silence
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
    found = carried(head, base, spec)
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


STATEMENTS = (
    "",
    "It was trained on one RTX A6000.",
    "The GPU was an A100 (40 GB).",
    "Training needs 25 GB of GPU memory.",
    "Training needs 45 GB of GPU memory.",
    "A small model fits 25 GB of GPU memory.",
    "word " * 120,
)
AT_WORK = {"activations", "logits"}


@pytest.mark.parametrize("more", ["", ", gradient_checkpointing=True"])
@pytest.mark.parametrize("said", STATEMENTS)
def test_what_is_carried_over_holds_the_states_and_grows_with_the_batch(tmp_path: Path, said: str, more: str) -> None:
    readme = f"# Training\n\n{said}\n\n```\npython train.py\n```\n"
    saving = SAVING.replace("max_seq_length=2048", f"max_seq_length=2048{more}")
    batches = (1, 4, 12, 16, 24, 32, 48)
    alone = {batch: read(tmp_path, f"b{batch}", saving.format(batch=batch), readme) for batch in batches}
    for old in batches:
        for new in batches:
            base, head = alone[old], carried(alone[new], alone[old])
            assert head.breakdown is not None
            hardware = head.proposed.hardware
            assert head.spec == head.proposed
            states = sum(term.gib for term in head.breakdown.terms if term.name not in AT_WORK)
            assert required(head) >= min(states, required(alone[new])) - 1
            assert hardware.needed_gib is not None
            assert hardware.needed_gib >= required(head) - 1
            if hardware.gpu_count == base.proposed.hardware.gpu_count and new > old:
                assert required(head) >= required(base), (old, new)
            assert [each.required_gib > 0 for each in head.alternatives].count(False) == 0


def test_to_write_down_what_was_assumed_does_not_halve_the_machine(tmp_path: Path) -> None:
    readme = "# Training\n\nIt was trained on one RTX A6000.\n\n```\npython train.py\n```\n"
    written = SAVING.replace("max_seq_length=2048", "max_seq_length=2048, gradient_checkpointing=True")
    base = read(tmp_path, "base", SAVING.format(batch=16), readme)
    head = read(tmp_path, "head", written.format(batch=16), readme)
    assert carried(head, base) == head


def test_a_card_that_goes_without_saying_is_no_statement(tmp_path: Path) -> None:
    readme = "# Training\n\n```\ntorchrun --nproc_per_node 2 train.py\n```\n"
    written = SAVING.replace("max_seq_length=2048", "max_seq_length=2048, gradient_checkpointing=True")
    trees = {batch: read(tmp_path, f"b{batch}", written.format(batch=batch), readme) for batch in (24, 44, 52, 64, 72)}
    assert any(stands_for_silence(each.breakdown) for each in trees.values() if each.breakdown is not None)
    for base in trees.values():
        for head in trees.values():
            assert carried(head, base) == head


def test_a_file_that_says_as_much_as_the_code_keeps_its_word(tmp_path: Path) -> None:
    base = analyzed(tmp_path, "base", batch=4)
    asked = base.proposed.hardware.vram_required_gb
    spec = f"hardware:\n  vram_required_gb: {asked}\n"
    head = analyzed(tmp_path, "head", batch=16, spec=spec)
    found = carried(head, base, spec)
    assert found.spec.hardware.vram_required_gb == asked
    assert any(each.key == "hardware.vram_required_gb" for each in found.differences)


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


def test_runs_over_other_numbers_of_cards_are_not_compared(tmp_path: Path) -> None:
    readme = "# Training\n\nIt was trained on RTX A6000 GPUs.\n\n```\nbash run.sh\n```\n"
    trees = []
    for count in (4, 1):
        tree = tmp_path / str(count)
        tree.mkdir()
        (tree / "train.py").write_text(PROGRAM.format(batch=16 // count))
        (tree / "run.sh").write_text(f"torchrun --nproc_per_node {count} train.py\n")
        (tree / "README.md").write_text(readme)
        trees.append(analyze(read_checkout(tree)))
    base, head = trees
    assert (base.proposed.hardware.gpu_count, head.proposed.hardware.gpu_count) == (4, 1)
    assert carried(head, base) == head


def test_what_is_far_from_what_was_agreed_is_another_run(tmp_path: Path) -> None:
    said = "Training needs 25 GB of GPU memory. On long texts training needs 26 GB of GPU memory."
    readme = f"# Training\n\n```\npython train.py\n```\n\n## Memory\n\n{said}\n"
    written = SAVING.replace("max_seq_length=2048", "max_seq_length=2048, gradient_checkpointing=True")
    base, head = (read(tmp_path, f"b{batch}", written.format(batch=batch), readme) for batch in (1, 40))
    assert base.breakdown is not None
    assert base.breakdown.weighed is not None
    assert head.breakdown is not None
    assert head.breakdown.weighed is None
    assert carried(head, base) == head


SMALL = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("HuggingFaceTB/SmolLM2-360M")
args = TrainingArguments(per_device_train_batch_size={batch}, bf16=True, max_seq_length=512)
Trainer(model=model, args=args).train()
"""


def test_the_smallest_size_that_is_asked_for_stays(tmp_path: Path) -> None:
    readme = "# Training\n\nIt was trained on a RTX 3060 (12GB).\n\n```\npython train.py\n```\n"
    trees = {batch: read(tmp_path, f"b{batch}", SMALL.format(batch=batch), readme) for batch in (1, 2, 4, 8)}
    sizes = [carried(trees[batch], trees[8]).proposed.hardware.vram_required_gb for batch in (1, 2, 4)]
    assert sizes == [12, 12, 12]


def test_what_stays_asked_for_is_told_without_figures_of_before(tmp_path: Path) -> None:
    readme = "# Training\n\nIt was trained on one RTX A6000.\n\n```\nbash run.sh\n```\n"
    trees = []
    for batch in (6, 16):
        tree = tmp_path / str(batch)
        tree.mkdir()
        (tree / "train.py").write_text(SAVING.format(batch=batch))
        (tree / "run.sh").write_text("torchrun --nproc_per_node 4 train.py\n")
        (tree / "README.md").write_text(readme)
        trees.append(analyze(read_checkout(tree)))
    base, head = trees
    found = carried(head, base)
    assert found.breakdown is not None
    assert required(found) == required(base) > required(head)
    assert not any("are asked for, not" in note for note in found.breakdown.notes)
    assert f"{required(base):g} GiB stay asked for" in found.breakdown.notes[-1]
    assert found.alternatives == head.alternatives


@pytest.mark.parametrize(
    ("said", "program", "may"),
    [
        ("", PROGRAM, False),
        ("word " * 120, PROGRAM, False),
        ("Training needs 30 GB of GPU memory.", PROGRAM, True),
        ("", SAVING.replace("{batch}", "16"), True),
    ],
)
def test_a_base_is_asked_for_only_where_it_can_make_a_difference(
    tmp_path: Path, said: str, program: str, may: bool
) -> None:
    readme = f"# Training\n\n{said}\n\n```\npython train.py\n```\n"
    assert may_be_carried(read(tmp_path, "head", program.format(batch=4), readme)) is may
