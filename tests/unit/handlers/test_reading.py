from __future__ import annotations

from pathlib import Path

from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
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


def write(folder: Path, batch: int) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text(README)
    (folder / "train.py").write_text(TRAIN.replace("SIZE", str(batch)))
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


def test_a_base_that_cannot_be_read_leaves_the_head_as_it_is(bench: Bench) -> None:
    write(bench.forge.folder, batch=8)
    bench.forge.unreadable.add(bench.forge.pull.base_sha)
    change = read_change(bench.context, bench.forge.pull, Policy(), is_fork=False, note=ProposalNote())
    alone = read_commit(bench.context, bench.forge.pull.head_sha, Policy(), is_fork=False)
    assert change.asked == alone.asked
