"""Base against head through the real analysis: which run differs, why, and at which line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.change import compare
from gpu_lol_action.analysis.answer.touched import Side
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.analysis.files.located import read_in_folder
from gpu_lol_action.domain.change import Change, Kind, RunChange, RunNeed, is_telling, is_worth_saying
from gpu_lol_action.domain.finding import Evidence

TRAIN = """\
import argparse

from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--max_seq_length", type=int, default=1024)
parser.add_argument(
    "--per_device_train_batch_size",
    type=int,
    default=4,
)
options = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B")
arguments = TrainingArguments(
    output_dir="out",
    bf16=True,
    gradient_checkpointing=False,
)
Trainer(model=model, args=arguments).train()
"""
FILES = {"train.py": TRAIN, "requirements.txt": "torch==2.4.1\ntransformers\n", "README.md": "# Fine-tune\n"}
INFER = """\
import sys

from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B").cuda()
if __name__ == "__main__":
    print(model.generate(**model.tokenize(sys.argv[1])))
"""
SPEC = "hardware: {gpu_type: A40, gpu_count: 1, vram_required_gb: 40}\n"


def side(folder: Path, files: Mapping[str, str], like: Side | None = None) -> Side:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    checkout = read_checkout(folder, like.checkout if like else None)
    return Side(checkout, analyze(checkout, checkout.spec_text))


def changed(tmp_path: Path, head: Mapping[str, str], base: Mapping[str, str] = FILES) -> Change:
    new = side(tmp_path / "head", head)
    return compare(side(tmp_path / "base", base, new), new)


def edited(old: str, new: str, name: str = "train.py") -> dict[str, str]:
    text = FILES[name]
    assert old in text
    return {**FILES, name: text.replace(old, new)}


def is_silent(change: Change) -> bool:
    return not is_worth_saying(change, least_percent=5, says_parts=True)


def test_the_same_tree_is_no_change(tmp_path: Path) -> None:
    assert changed(tmp_path, FILES) == Change()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("parser = argparse", "# The run's options.\n\n\nparser = argparse"),
        ("options = parser.parse_args()", "options, _ = parser.parse_known_args()"),
        ('output_dir="out"', 'output_dir="runs/out"'),
        ("default=1024)", "default=2**10)"),
    ],
)
def test_a_refactoring_is_silent(tmp_path: Path, old: str, new: str) -> None:
    assert is_silent(changed(tmp_path, edited(old, new)))


def test_documentation_that_says_nothing_of_hardware_is_silent(tmp_path: Path) -> None:
    assert is_silent(changed(tmp_path, {**FILES, "README.md": "# Fine-tuning\n\nA corrected typo.\n"}))


def test_a_longer_sequence_is_the_cause_at_its_line(tmp_path: Path) -> None:
    change = changed(tmp_path, edited("default=1024", "default=4096"))
    assert change.first is not None
    assert change.first.is_more
    (cause,) = change.first.causes
    assert (cause.name, cause.old_value, cause.new_value, str(cause.evidence)) == (
        "max_seq_length", "1024", "4096", "train.py:6")  # fmt: skip
    before, after = change.first.before.expected_gib, change.first.after.expected_gib
    assert before is not None
    assert after is not None
    assert cause.effect_gib == pytest.approx(after - before, abs=0.02)


def test_the_line_is_the_changed_one_of_a_statement_over_several(tmp_path: Path) -> None:
    change = changed(tmp_path, edited("default=4,", "default=2,"))
    assert change.first is not None
    assert not change.first.is_more
    assert str(change.first.causes[0].evidence) == "train.py:10"


def test_what_pushes_in_the_direction_comes_before_what_pushes_against_it(tmp_path: Path) -> None:
    text = FILES["train.py"].replace("default=1024", "default=2048").replace("default=4,", "default=3,")
    change = changed(tmp_path, {**FILES, "train.py": text})
    assert change.first is not None
    assert [cause.name for cause in change.first.causes] == ["max_seq_length", "per_device_train_batch_size"]
    up, down = (cause.effect_gib or 0 for cause in change.first.causes)
    assert up > 0 > down


def test_a_setting_that_is_gone_is_a_cause_in_the_base(tmp_path: Path) -> None:
    base = edited("gradient_checkpointing=False", "gradient_checkpointing=True")
    change = changed(tmp_path, edited("    gradient_checkpointing=False,\n", ""), base)
    assert change.first is not None
    assert change.first.is_more
    cause = change.first.causes[0]
    assert (cause.name, cause.old_value, cause.new_value) == ("gradient_checkpointing", "on", None)
    assert cause.evidence.path == "train.py"


def test_another_model_is_the_cause_and_not_each_term_it_moves(tmp_path: Path) -> None:
    change = changed(tmp_path, edited("Qwen/Qwen2.5-1.5B", "Qwen/Qwen2.5-3B"))
    assert change.first is not None
    assert [(cause.name, cause.new_value) for cause in change.first.causes] == [("model", "Qwen/Qwen2.5-3B")]


def test_a_row_more_in_a_table_is_the_cause_where_the_other_rows_stay(tmp_path: Path) -> None:
    own = "import torch\n\nmodel = build().cuda()\noptimizer = torch.optim.SGD(model.parameters(), 0.1)\nfor batch in load():\n"
    own += "    model(batch).backward()\n    optimizer.step()\n"
    table = "| Model | GPU | Batch Size | Memory per GPU |\n|---|---|---|---|\n"
    rows = "| large | 1x RTX 4090 | 8 | 19.4 GB |\n| small | 1x RTX 4090 | 8 | 16.6 GB |\n"
    start = {"train.py": own, "train.sh": "torchrun --nproc_per_node=8 train.py\n", "README.md": table + rows}
    change = changed(tmp_path, {**start, "README.md": f"{table}{rows}| large | 8x RTX 4090 | 4 | 2.4 GB |\n"}, start)
    assert change.first is not None
    assert (change.first.before.required_gib, change.first.after.required_gib) == (19, 3)
    assert str(change.first.causes[0].evidence) == "README.md:5"


def test_a_moved_program_is_the_same_run(tmp_path: Path) -> None:
    head = {"src/train.py": TRAIN, "requirements.txt": FILES["requirements.txt"], "README.md": FILES["README.md"]}
    assert is_silent(changed(tmp_path, head))


def test_a_folder_that_is_renamed_before_its_readme_is_changes_nothing(tmp_path: Path) -> None:
    readme = {"README.md": "```\npython mtmt/train.py\n```\n", "requirements.txt": "torch\n"}
    other = {
        "baseline/train.py": TRAIN.replace("1.5B", "7B").replace("import argparse", "import argparse\nimport einops")
    }
    change = changed(tmp_path, {**readme, **other, "mmt/train.py": TRAIN}, {**readme, **other, "mtmt/train.py": TRAIN})
    assert is_silent(change)


def test_a_renamed_program_is_compared_with_what_was_provisioned_for(tmp_path: Path) -> None:
    head = {"finetune.py": TRAIN.replace("default=1024", "default=4096"),
            "requirements.txt": FILES["requirements.txt"]}  # fmt: skip
    change = changed(tmp_path, head)
    assert change.first is not None
    assert change.first.kind is Kind.CHANGED
    assert not change.is_other_run
    assert change.first.causes[0].name == "max_seq_length"


def test_another_run_that_changes_is_said_where_the_first_stays(tmp_path: Path) -> None:
    base = {**FILES, "infer.py": INFER}
    change = changed(tmp_path, {**base, "infer.py": INFER.replace("2.5-1.5B", "2.5-14B")}, base)
    assert change.first is None
    (other,) = change.others
    assert (other.kind, other.name, other.is_more) == (Kind.CHANGED, "infer", True)
    assert str(other.causes[0].evidence) == "infer.py:5"


def test_a_new_run_and_one_that_went_are_told(tmp_path: Path) -> None:
    change = changed(tmp_path, {**FILES, "infer.py": INFER})
    assert [(run.kind, run.name) for run in change.others] == [(Kind.NEW, "infer")]
    back = changed(tmp_path / "back", FILES, {**FILES, "infer.py": INFER})
    assert [(run.kind, run.name) for run in back.others] == [(Kind.GONE, "infer")]


def test_a_run_that_others_push_out_of_the_list_has_not_gone(tmp_path: Path) -> None:
    base = {**FILES, **{f"infer_{letter}.py": INFER for letter in "cdefghijkl"}}
    change = changed(tmp_path, {**base, "infer_a.py": INFER}, base)
    assert [(run.kind, run.name) for run in change.others] == [(Kind.NEW, "infer-a")]
    back = changed(tmp_path / "back", base, {**base, "infer_a.py": INFER})
    assert [(run.kind, run.name) for run in back.others] == [(Kind.GONE, "infer-a")]


SMALL = {"train.py": TRAIN.replace("default=4,", "default=1,").replace("default=1024", "default=128")}
MANY = {**FILES, **SMALL, **{f"infer_{letter}.py": INFER for letter in "cdefghijkl"}}
"""More programs than an answer shows."""
LARGE = INFER.replace("2.5-1.5B", "2.5-32B")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"infer_z.py": LARGE}, [(Kind.NEW, "infer-z")]),
        ({"infer_z.py": INFER}, []),  # what the machine for the training holds
        ({"infer_l.py": LARGE}, [(Kind.CHANGED, "infer-l")]),
        ({"infer_l.py": INFER.replace("1.5B", "3B")}, []),
        (
            {"lib/infer_z.py": LARGE.partition("if __name__")[0].replace("model =", "def load():\n    model =")},
            [],
        ),  # nobody starts it
    ],
)
def test_what_is_touched_counts_where_the_machine_does_not_hold_it(
    tmp_path: Path, files: Mapping[str, str], told: Sequence[tuple[Kind, str]]
) -> None:
    change = changed(tmp_path, {**MANY, **files}, MANY)
    assert change.first is None
    assert [(run.kind, run.name) for run in change.others] == told


@pytest.mark.parametrize(("after", "told"), [(INFER + "# more\n", []), ("LETTERS = 3\n", [(Kind.GONE, "infer-i")])])
def test_a_program_that_is_changed_and_pushed_out_has_not_gone(
    tmp_path: Path, after: str, told: Sequence[tuple[Kind, str]]
) -> None:
    change = changed(tmp_path, {**MANY, "infer_a.py": INFER, "infer_i.py": after}, MANY)
    assert [(run.kind, run.name) for run in change.others if run.kind is Kind.GONE] == told


def test_what_is_touched_and_only_moved_has_not_come(tmp_path: Path) -> None:
    change = changed(tmp_path, {**MANY, "new/infer_z.py": LARGE}, {**MANY, "old/infer_z.py": LARGE})
    assert is_silent(change)


def test_what_goes_of_many_programs_is_no_news(tmp_path: Path) -> None:
    assert is_silent(changed(tmp_path, MANY, {**MANY, "infer_z.py": LARGE}))


def test_the_first_program_that_needs_a_gpu_is_a_new_need(tmp_path: Path) -> None:
    base = {"README.md": "# Data\n", "clean.py": "import csv\nprint(list(csv.reader(open('a.csv'))))\n"}
    change = changed(tmp_path, {**base, **FILES}, base)
    assert change.first is not None
    assert change.first.before.gpu_count == 0
    assert change.first.after.gpu_count == 1
    assert change.first.causes[0].name == "model"


def test_packages_image_and_cuda_are_parts_with_their_line(tmp_path: Path) -> None:
    head = {**FILES, "requirements.txt": "torch==2.6.0\ntransformers\nflash-attn==2.7.3\n"}
    change = changed(tmp_path, head)
    assert change.first is None
    parts = {(part.what, part.name): part for part in change.parts}
    image = parts["image", ""]
    assert image.old != image.new
    assert str(image.evidence) == "requirements.txt:1"
    assert (parts["package", "torch"].old, parts["package", "torch"].new) == ("torch==2.4.1", "torch==2.6.0")
    assert parts["package", "flash-attn"].old is None
    assert not is_silent(change)
    assert not is_worth_saying(change, least_percent=5, says_parts=False)


@pytest.mark.parametrize(("old", "new", "silent"), [
    ("black==22.1.0", "black==22.3.0", True), ("pytest", "", True), ("", "ruff", True), ("peft==0.11.0", "peft==0.12.0", False),
    ("black", "einops", False), ("yapf", "yapf==0.40.1", False)])  # fmt: skip
def test_tools_of_a_desk_are_no_news(tmp_path: Path, old: str, new: str, *, silent: bool) -> None:
    base, head = ({**FILES, "requirements.txt": f"{FILES['requirements.txt']}{line}\n"} for line in (old, new))
    assert is_silent(changed(tmp_path, head, base)) is silent


def test_a_file_edited_by_hand_is_the_cause_at_its_line(tmp_path: Path) -> None:
    base = {**FILES, ".gpu-lol.yaml": SPEC}
    head = {**FILES, ".gpu-lol.yaml": "# ours\n" + SPEC.replace("A40", "A100-80GB")}
    change = changed(tmp_path, head, base)
    (cause,) = change.file_causes
    assert (cause.name, cause.old_value, cause.new_value, str(cause.evidence)) == (
        "gpu_type", "A40", "A100-80GB", ".gpu-lol.yaml:2")  # fmt: skip
    assert change.first is None
    assert not is_silent(change)


def test_a_first_file_is_told_by_what_it_states_otherwise(tmp_path: Path) -> None:
    change = changed(tmp_path, {**FILES, ".gpu-lol.yaml": SPEC})
    assert {cause.name for cause in change.file_causes} == {"gpu_type", "vram_required_gb"}
    assert all(cause.evidence.path == ".gpu-lol.yaml" for cause in change.file_causes)
    assert "followed from the code" in change.file_causes[0].finding.why


def test_thresholds_hold_in_both_directions(tmp_path: Path) -> None:
    up = changed(tmp_path / "up", edited("default=1024", "default=1100"))
    down = changed(tmp_path / "down", FILES, edited("default=1024", "default=1100"))
    for change in (up, down):
        assert change.first is not None
        percent = change.first.percent
        assert 0 < percent < 20
        assert is_worth_saying(change, least_percent=percent - 0.5, says_parts=True)
        assert not is_worth_saying(change, least_percent=percent + 0.5, says_parts=True)


@pytest.mark.parametrize(("before", "after", "is_told"), [
    (RunNeed(1, 9, 7.71), RunNeed(1, 8, 7.55), False), (RunNeed(1, 20, 18.0), RunNeed(1, 22, 18.0), True),
    (RunNeed(8, 15, 12.39), RunNeed(8, 17, 12.99), False),
    (RunNeed(1, 9, None), RunNeed(1, 8, None), True), (RunNeed(1, 9, 7.71), RunNeed(2, 9, 7.71), True),
    (RunNeed(1, 9, 7.71), RunNeed(1, 8, 6.9), True), (RunNeed(8, 79, 40.2), RunNeed(8, 79, None), False),
    (RunNeed(1, 22, None), RunNeed(1, 2, 1.5), True), (RunNeed(0, None, None), RunNeed(1, 9, 7.7), True)])  # fmt: skip
def test_sums_are_compared_with_sums_and_rounding_is_not_told(before: RunNeed, after: RunNeed, is_told: bool) -> None:
    run = RunChange(Kind.CHANGED, "train", "python train.py", Evidence("train.py"), before, after)
    assert is_telling(run, 5) is is_told


def test_what_documents_ask_for_is_not_more_than_a_sum_below_it() -> None:
    needs = RunNeed(8, 79, 40.2), RunNeed(8, 48, None)
    assert not RunChange(Kind.CHANGED, "train", "python train.py", Evidence("train.py"), *needs).is_more
    assert RunChange(Kind.CHANGED, "train", "python train.py", Evidence("train.py"), *reversed(needs)).is_more


def test_what_fits_no_card_is_compared_as_it_is_written(tmp_path: Path) -> None:
    huge = edited("default=4,", "default=256,")
    change = changed(tmp_path, edited("default=4,", "default=128,"), huge)
    assert change.first is not None
    before, after = change.first.before.expected_gib, change.first.after.expected_gib
    assert before is not None
    assert after is not None
    assert before > after > 80


def test_equal_files_are_the_same_sources(tmp_path: Path) -> None:
    new = side(tmp_path / "head", edited("default=1024", "default=4096"))
    old = side(tmp_path / "base", FILES, new)
    assert old.checkout.find("requirements.txt") is new.checkout.find("requirements.txt")
    assert old.checkout.find("train.py") is not new.checkout.find("train.py")


def test_the_base_says_beside_a_head_what_it_says_alone(tmp_path: Path) -> None:
    head = side(tmp_path / "head", {**edited("default=1024", "default=4096"), "infer.py": INFER})
    beside, alone = side(tmp_path / "base", FILES, head), side(tmp_path / "base", FILES)
    assert beside.analysis == alone.analysis


@pytest.mark.parametrize("folder", ["lab", "benchmarks/lab"])
def test_of_a_project_in_a_folder_what_is_touched_there_is_told(tmp_path: Path, folder: str) -> None:
    def both(more: Mapping[str, str]) -> Change:
        trees = {"base": {}, "head": more}
        found = []
        for name, files in trees.items():
            root = tmp_path / f"{name}-{len(more)}-{next(iter(more)).replace('/', '-')}"
            inner = {f"{folder}/{path}": text for path, text in MANY.items()}
            side(root, {"README.md": "# All\n\n```\npython other/chat.py\n```\n", **inner, **files})
            checkout = read_in_folder(root, folder, found[0].checkout if found else None)
            found.append(Side(checkout, analyze(checkout, checkout.spec_text)))
        return compare(*found)

    assert is_silent(both({"other/chat.py": LARGE})), "what lies beside it is another project's"
    (run,) = both({f"{folder}/infer_z.py": LARGE}).others
    assert (run.kind, run.name, str(run.evidence)) == (Kind.NEW, "infer-z", f"{folder}/infer_z.py:7")
