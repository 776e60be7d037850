"""What a command on a machine used: told beside its estimate, kept where the next proposal looks, never from a stranger."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.adapters.measured_book import StoredMeasuredRuns
from gpu_lol_action.domain.machine import RemoteOutput
from gpu_lol_action.domain.measured import MeasuredRun
from gpu_lol_action.domain.request import Command, Outcome
from gpu_lol_action.handlers.obey import obey
from gpu_lol_action.handlers.propose import Occasion, handle_propose
from gpu_lol_action.handlers.propose_sticky import PROPOSAL_PREFIX
from gpu_lol_action.handlers.smoke import handle_smoke
from tests.support.hands import HEAD, ScriptedShell, pull_request
from tests.support.machine import GoodMachine, nonce_of, smoke_answer
from tests.unit.handlers.conftest import POLICY, Bench

PROGRAM = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B")
args = TrainingArguments(per_device_train_batch_size=4, bf16=True, max_seq_length=2048, gradient_checkpointing=True)
Trainer(model=model, args=args).train()
"""
TRAIN = "python train.py --max_steps 10"


@pytest.fixture
def bench(bench: Bench, tmp_path: Path) -> Bench:
    """A repository whose head trains a model, its machine, and an empty book."""
    (bench.forge.folder / "train.py").write_text(PROGRAM)
    (bench.forge.folder / "requirements.txt").write_text("torch\ntransformers\n")
    base = tmp_path / "base"
    base.mkdir()
    (base / "train.py").write_text("print('nothing yet')\n")
    bench.forge.trees[bench.forge.pull.base_sha] = base
    bench.context = replace(bench.context, measured=lambda: StoredMeasuredRuns(FileStore(tmp_path / "measured")))
    bench.running()
    return bench


def samples(peak_gib: float, total_gib: float = 79.6, count: int = 30) -> str:
    card = {"name": "NVIDIA A100", "total_mib": total_gib * 1024, "peak_mib": peak_gib * 1024, "work_sum": 87.0 * count, "work_samples": count}  # fmt: skip
    facts = {
        "source": "nvml", "samples": count, "seconds": 2.0 * count, "gpus": {"0": card}, "memory_peak_bytes": 12 << 30,
    }  # fmt: skip
    return f"samples {base64.b64encode(json.dumps(facts).encode()).decode()}"


def run(bench: Bench, *said: str, text: str = "", code: int = 0, commit: str = HEAD, script: str = TRAIN) -> Outcome:
    def answer(sent: str) -> RemoteOutput:
        output = base64.b64encode(text.encode()).decode()
        lines = [
            f"exit {code}",
            "seconds 60",
            *said,
            f"commit {commit}",
            f"bytes {len(text)}",
            f"output {output}",
            "done .",
        ]
        return RemoteOutput(0, "".join(f"::gpu-lol-command {nonce_of(sent)} {line}\n" for line in lines), "")

    bench.shell = ScriptedShell([("most=", answer)])
    order = bench.order("/gpu-lol run")
    return obey(bench.context, replace(order, command=Command("run", "run", script=script)), may_use_cloud=True)


def kept(bench: Bench) -> Sequence[MeasuredRun]:
    assert bench.context.measured is not None
    return bench.context.measured().read().runs


def propose(bench: Bench) -> str:
    handle_propose(bench.context, Occasion(bench.forge.repo, bench.forge.pull, lambda: POLICY, is_asked=True))
    return next(text for text in bench.texts if text.startswith(PROPOSAL_PREFIX))


def test_run_that_was_estimated_is_held_against_its_estimate_and_kept(bench: Bench) -> None:
    text = run(bench, samples(30.0)).text
    assert (
        "At most: GPU memory 30.0 GiB of 79.6 GiB (NVIDIA A100), busy 87 % of the time; main memory 12.0 GiB." in text
    )
    (line,) = kept(bench)
    assert line.expected_gib is not None
    assert f"Estimated {line.expected_gib:.1f} GiB, measured 30.0 GiB (" in text
    assert (line.how, line.sha, line.peak_gib, line.card, line.is_at_least) == ("run", HEAD, 30.0, "NVIDIA A100", False)
    assert line.workload is not None
    assert (line.workload.model, line.workload.batch_size) == ("meta-llama/Llama-3.2-1B", 4)


def test_next_proposal_says_what_was_measured_and_asks_for_it(bench: Bench) -> None:
    before = propose(bench)
    assert "very workload" not in before
    run(bench, samples(30.0))
    run(bench, samples(30.2))
    after = propose(bench)
    assert "this very workload was measured 2 times" in after
    assert "vram_required_gb: 40" in after
    # Another batch is another workload: what was measured says nothing of it.
    (bench.forge.folder / "train.py").write_text(PROGRAM.replace("size=4", "size=2"))
    bench.forge.pull = replace(bench.forge.pull, head_sha="e" * 40)
    assert "very workload" not in propose(bench)


def test_file_that_asks_far_more_is_told_the_value_and_left_alone(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardware:\n  vram_required_gb: 200\n")
    assert "asks for 200 GB, far more than the 30.0 GiB that were measured; `hardware.vram_required_gb: 40` would do." in run(bench, samples(30.0)).text  # fmt: skip
    assert "asks for" not in run(bench, samples(150.0, 192.0)).text
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardware:\n  vram_required_gb: 20\n")
    assert (
        "asks for 20 GB, less than the 150.0 GiB that were measured; `hardware.vram_required_gb: 180` is what it needs"
        in run(bench, samples(150.0, 192.0)).text
    )
    assert "vram_required_gb: 20\n" in (bench.forge.folder / ".gpu-lol.yaml").read_text()


def test_proposal_doubts_a_file_that_asks_less_than_was_measured(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardware:\n  vram_required_gb: 40\n")
    run(bench, samples(60.0))
    text = propose(bench)
    assert "measured 60.0 GiB" in text
    assert "80 GB" in text


def test_anything_else_is_measured_and_not_compared(bench: Bench) -> None:
    text = run(bench, samples(3.0), script="python -m pytest -m gpu").text
    assert "GPU memory 3.0 GiB" in text
    assert "Not compared: the estimate of" in text
    assert "is of `python train.py`, which this was not" in text
    assert kept(bench)[0].workload is None
    assert "very workload" not in propose(bench)


@pytest.mark.parametrize("commit", ["", "f" * 40, "not a commit"])
def test_code_that_was_changed_on_the_machine_is_compared_with_no_commit(bench: Bench, commit: str) -> None:
    text = run(bench, samples(30.0), commit=commit).text
    assert "GPU memory 30.0 GiB" in text
    assert "stimated" not in text
    assert kept(bench) == ()


def test_strangers_code_says_nothing_for_the_repository(bench: Bench) -> None:
    bench.forge.pull = replace(bench.forge.pull, head_repository="mallory/train")
    text = run(bench, samples(30.0)).text
    assert "Estimated" in text
    assert kept(bench) == ()


def test_command_without_a_gpu_costs_no_look_at_the_code(bench: Bench) -> None:
    bench.forge.folder = Path("/nowhere")
    assert "At most: GPU memory 0.2 GiB of 79.6 GiB" in run(bench, samples(0.2)).text
    assert "main memory" not in run(bench).text


def test_why_it_died_is_told_with_its_remedy_and_peak(bench: Bench) -> None:
    log = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.25 GiB\n"
    text = run(bench, samples(79.0), text=log, code=1).text
    assert "The GPU ran out of memory" in text
    assert "Halve the batch" in text
    assert "GPU memory 79.0 GiB" in text
    assert "at least so much, for the card was full." in text
    assert "ran out of memory" not in run(bench, text=log, code=0).text.split("<details>")[0]


def test_book_that_cannot_be_read_is_noted_and_stops_nothing(bench: Bench, tmp_path: Path) -> None:
    store = FileStore(tmp_path / "measured")
    store.create("runs", '{"format": 9}', "broken")
    assert "Estimated" in run(bench, samples(30.0)).text
    assert "Llama" in propose(bench)
    assert any("measured" in note for note in bench.progress.notes)


# --- smoke tests ----------------------------------------------------------------------------------------------------
SPEC = """\
hardware: {{gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 23}}
dependencies: {{requirements: [packaging]}}
meta: {{name: story, workload_type: training}}
smoke: {{command: "{command}", timeout_minutes: 5}}
"""


def smoke(bench: Bench, command: str, said: str) -> str:
    (bench.forge.folder / ".gpu-lol.yaml").write_text(SPEC.format(command=command))

    def answer(nonce: str) -> str:
        return smoke_answer(nonce).replace(f"::gpu-lol-smoke {nonce} done .", f"::gpu-lol-smoke {nonce} {said}\n::gpu-lol-smoke {nonce} done .")  # fmt: skip

    bench.shell = GoodMachine(instead={"smoke": answer})
    order = replace(bench.order(), command=Command("smoke", "schedule"), comment_id=None)
    return handle_smoke(bench.context, order).text


@pytest.fixture
def branch(bench: Bench) -> Bench:
    """The default branch as a schedule tests it."""
    bench.forge.pull = pull_request(number=0, head_ref="main", base_sha=HEAD)
    return bench


def test_smoke_test_of_the_run_itself_is_held_against_its_estimate(branch: Bench) -> None:
    text = smoke(branch, TRAIN, samples(12.0, 24.0))
    assert "GPU memory 12.0 GiB of 24.0 GiB (NVIDIA A100)" in text
    assert "measured 12.0 GiB (" in text
    assert "asks for 23 GB, far more than the 12.0 GiB that were measured; `hardware.vram_required_gb: 16` would do." in text  # fmt: skip
    (line,) = kept(branch)
    assert (line.how, line.peak_gib, line.command) == ("smoke", 12.0, TRAIN)
    assert line.workload is not None


def test_smoke_test_of_something_else_is_measured_and_not_compared(branch: Bench) -> None:
    text = smoke(branch, "python -m pytest -m gpu", samples(2.0, 24.0))
    assert "GPU memory 2.0 GiB" in text
    assert "which this was not" in text
    assert "asks for" not in text


def test_smoke_test_without_samples_says_nothing_of_memory(branch: Bench) -> None:
    assert "GPU memory" not in smoke(branch, TRAIN, "note")
