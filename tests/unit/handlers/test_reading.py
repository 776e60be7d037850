from __future__ import annotations

from pathlib import Path

import pytest

from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.corrections import Corrections
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.handlers.concluding import Fetched, conclude_change
from gpu_lol_action.handlers.propose import Occasion, handle_propose
from gpu_lol_action.handlers.reading import read_change, read_commit
from tests.unit.handlers.conftest import Bench

README = "# Training\n\nTraining needs 30 GB of GPU memory.\n\n```\npython train.py\n```\n"
TRAIN = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
args = TrainingArguments(per_device_train_batch_size=SIZE, bf16=True, max_seq_length=2048, gradient_checkpointing=True)
Trainer(model=model, args=args).train()
"""


def write(folder: Path, batch: int, readme: str = README, more: str = ", gradient_checkpointing=True") -> None:
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text(readme)
    program = TRAIN.replace(", gradient_checkpointing=True", more)
    (folder / "train.py").write_text(program.replace("SIZE", str(batch)))
    (folder / "requirements.txt").write_text("torch\ntransformers\n")


def test_a_launch_asks_for_the_figure_of_its_proposal_where_documentation_lags(bench: Bench, tmp_path: Path) -> None:
    write(bench.forge.folder, batch=8)
    write(tmp_path / "base", batch=4)
    bench.forge.trees[bench.forge.pull.base_sha] = tmp_path / "base"
    change = read_change(bench.context, bench.forge.pull, Policy(), is_fork=False, note=ProposalNote())
    alone = read_commit(bench.context, bench.forge.pull.head_sha, Policy(), is_fork=False)
    asked, lagging = change.asked.hardware.vram_required_gb, alone.asked.hardware.vram_required_gb
    assert asked is not None
    assert lagging is not None
    assert asked > lagging
    handle_propose(bench.context, Occasion(bench.forge.repo, bench.forge.pull, Policy))
    assert f"vram_required_gb: {asked}" in bench.texts[0]


@pytest.mark.parametrize(
    ("said", "more"),
    [
        ("Another model fits 10 GB of GPU memory.", ", gradient_checkpointing=True"),
        ("", ""),
        ("It was trained on one RTX A6000.", ""),
    ],
)
@pytest.mark.parametrize(("old", "new"), [(16, 2), (8, 32), (32, 8)])
def test_a_launch_asks_for_what_the_proposal_says(
    bench: Bench, tmp_path: Path, old: int, new: int, said: str, more: str
) -> None:
    readme = f"# Training\n\n{said}\n\n```\npython train.py\n```\n"
    write(bench.forge.folder, new, readme, more)
    write(tmp_path / "base", old, readme, more)
    bench.forge.trees[bench.forge.pull.base_sha] = tmp_path / "base"
    launched = read_change(bench.context, bench.forge.pull, Policy(), is_fork=False, note=ProposalNote())
    head, base = read_checkout(bench.forge.folder), read_checkout(tmp_path / "base")
    told = conclude_change(Fetched("h", head), Fetched("b", base), Policy()).head
    assert launched.asked.hardware == told.asked.hardware
    assert launched.analysis.breakdown == told.analysis.breakdown


def test_a_base_that_cannot_be_read_leaves_the_head_as_it_is(bench: Bench) -> None:
    write(bench.forge.folder, batch=8)
    bench.forge.unreadable.add(bench.forge.pull.base_sha)
    change = read_change(bench.context, bench.forge.pull, Policy(), is_fork=False, note=ProposalNote())
    alone = read_commit(bench.context, bench.forge.pull.head_sha, Policy(), is_fork=False)
    assert change.asked == alone.asked


def test_a_base_with_an_invalid_spec_leaves_the_comparison_out_and_says_so(bench: Bench, tmp_path: Path) -> None:
    write(bench.forge.folder, batch=8)
    write(tmp_path / "base", batch=4)
    (tmp_path / "base" / ".gpu-lol.yaml").write_text("hardwear: {gpu_type: A40}\n")
    bench.forge.trees[bench.forge.pull.base_sha] = tmp_path / "base"
    handle_propose(bench.context, Occasion(bench.forge.repo, bench.forge.pull, Policy))
    (text,) = bench.texts
    assert "No comparison with the base:" in text
    assert "| base `" not in text
    assert "This code needs" in text


def test_a_first_spec_file_is_compared_with_what_the_code_asked_for(bench: Bench, tmp_path: Path) -> None:
    write(bench.forge.folder, batch=4)
    write(tmp_path / "base", batch=4)
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardware:\n  gpu_type: H100\n  vram_required_gb: 70\n")
    bench.forge.trees[bench.forge.pull.base_sha] = tmp_path / "base"
    handle_propose(bench.context, Occasion(bench.forge.repo, bench.forge.pull, Policy))
    (text,) = bench.texts
    assert ".gpu-lol.yaml:2" in text
    assert "`gpu_type` " in text


def test_a_refactoring_gets_no_comment_and_a_mended_batch_does(bench: Bench, tmp_path: Path) -> None:
    write(bench.forge.folder, batch=4)
    write(tmp_path / "base", batch=4)
    train = bench.forge.folder / "train.py"
    train.write_text("# Trains the model.\n" + train.read_text())
    bench.forge.trees[bench.forge.pull.base_sha] = tmp_path / "base"
    outcome = handle_propose(bench.context, Occasion(bench.forge.repo, bench.forge.pull, Policy))
    assert (outcome.decision, outcome.reason_code) == ("ignored", "environment_untouched")
    assert bench.texts == []
    write(tmp_path / "base", batch=16)
    handle_propose(bench.context, Occasion(bench.forge.repo, bench.forge.pull, Policy))
    (text,) = bench.texts
    assert "`per_device_train_batch_size` `16` → `4`" in text


def test_a_policy_that_overlooks_packages_is_silent_about_them(bench: Bench, tmp_path: Path) -> None:
    write(bench.forge.folder, batch=4)
    write(tmp_path / "base", batch=4)
    (bench.forge.folder / "requirements.txt").write_text("torch\ntransformers\nwandb\n")
    bench.forge.trees[bench.forge.pull.base_sha] = tmp_path / "base"
    quiet = Occasion(bench.forge.repo, bench.forge.pull, lambda: Policy(says_environment=False))
    assert handle_propose(bench.context, quiet).reason_code == "environment_untouched"
    handle_propose(bench.context, Occasion(bench.forge.repo, bench.forge.pull, Policy))
    (text,) = bench.texts
    assert "other environment: package wandb" in text


def test_nothing_is_computed_as_cheaper_where_a_person_gave_the_memory(tmp_path: Path) -> None:
    write(tmp_path / "tree", batch=8)
    head = Fetched("", read_checkout(tmp_path / "tree"))
    assert conclude_change(head, None, Policy()).head.what_ifs
    corrected = conclude_change(head, None, Policy(), corrections=Corrections(vram_gib=70))
    assert corrected.head.what_ifs == ()
