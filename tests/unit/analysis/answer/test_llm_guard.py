"""Whatever a language model says, what it may change stays within tables and bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.llm_advice import Advice, Refused, read_advice
from gpu_lol_action.analysis.answer.llm_guard import apply_advice, hints_of
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Confidence
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.spec import WorkloadType
from tests.unit.analysis.conftest import Build

FILES = {
    "train.py": """\
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", torch_dtype=torch.bfloat16)
trainer = Trainer(model=model, args=TrainingArguments(output_dir="out", per_device_train_batch_size=1, bf16=True))

if __name__ == "__main__":
    trainer.train()
""",
    "requirements.txt": "torch\ntransformers\n",
}
TABLE = {"score.py": "import pandas as pd\nprint(pd.read_csv('a.csv'))\n", "requirements.txt": "pandas\n"}


def advised(checkout: Checkout, answer: object, spec_text: str | None = None) -> Analysis | Refused:
    """Return what an answer makes of a checkout, the way the handler does it."""
    advice = read_advice(answer if isinstance(answer, str) else json.dumps(answer))
    if isinstance(advice, Refused):
        return advice
    before = analyze(checkout, spec_text)
    after = analyze(checkout, spec_text, hints=hints_of(advice, "some-model"), run_name=advice.run or "")
    return apply_advice(before, after, advice, "some-model", spec_text)


def refusal(answer: Analysis | Refused) -> str:
    assert isinstance(answer, Refused), answer
    return answer.what


def taken(answer: Analysis | Refused) -> Analysis:
    assert isinstance(answer, Analysis), answer
    return answer


GOOD = {
    "workload_type": "training",
    "vram_required_gb": 70,
    "gpu_count": 4,
    "gpu_type": "a100-80gb",
    "reason": "train.py:4",
}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"```json\n{json.dumps(GOOD, indent=2)}\n```",
        f"Here you are:\n```\n{json.dumps(GOOD)}\n```\nHope that helps!",
        f"<think>{{never mind}} hmm</think>\n{json.dumps(GOOD)}",
        f"Sure. {json.dumps(GOOD)} That is it.",
        json.dumps({**GOOD, "vram_required_gb": 70.0, "requirements": ["evil-package"], "extra": None}),
    ],
)
def test_a_good_answer_is_read_however_it_is_wrapped(text: str) -> None:
    assert read_advice(text) == Advice(WorkloadType.TRAINING, 4, 70, "A100-80GB", "train.py:4")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON object"),
        ("I'm sorry, but I can't help with that.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("null", "no JSON object"),
        ('{"gpu_count": 1', "no JSON object"),
        ("{" * 10_000, "no JSON object"),
        ('{"a":' * 3_000 + "1" + "}" * 3_000, "no JSON object"),
        (json.dumps({"reason": "x" * 30_000}), "longer"),
        (json.dumps({"workload_type": "mining"}), "workload_type"),
        (json.dumps({"workload_type": 3}), "workload_type"),
        (json.dumps({"workload_type": ["training"]}), "workload_type"),
        (json.dumps({"vram_required_gb": "24"}), "vram_required_gb"),
        (json.dumps({"vram_required_gb": True}), "vram_required_gb"),
        (json.dumps({"vram_required_gb": -24}), "vram_required_gb"),
        (json.dumps({"vram_required_gb": 24.5}), "vram_required_gb"),
        ('{"vram_required_gb": NaN}', "vram_required_gb"),
        ('{"vram_required_gb": 1e400}', "vram_required_gb"),
        (json.dumps({"gpu_count": [8]}), "gpu_count"),
        (json.dumps({"gpu_count": 10**9}), "gpu_count"),
        (json.dumps({"gpu_type": "H900"}), "gpu_type"),
        (json.dumps({"gpu_type": "A100:8; rm -rf /"}), "gpu_type"),
        (json.dumps({"gpu_type": 80}), "gpu_type"),
        (json.dumps({"reason": {"a": 1}}), "reason"),
    ],
)
def test_a_wrong_answer_is_refused_with_its_fault(text: str, words: str) -> None:
    assert words in refusal(read_advice(text))  # type: ignore[arg-type]  # told by the assertion inside


def test_an_answer_within_bounds_is_applied_and_said(checkout: Build) -> None:
    tree = checkout(FILES)
    before = analyze(tree)
    found = taken(advised(tree, {**GOOD, "vram_required_gb": 75, "gpu_count": 8}))
    hardware = found.proposed.hardware
    assert (hardware.vram_required_gb, hardware.gpu_count, hardware.gpu_type) == (75, 8, "A100-80GB")
    assert found.spec == found.proposed
    assert found.override is not None
    assert found.override.model == "some-model"
    was = {key: (old, new) for key, old, new in found.override.changes}
    assert was["hardware.vram_required_gb"] == (f"{before.proposed.hardware.vram_required_gb} GB", "75 GB")
    claims = [finding for finding in found.findings if "claims" in finding.why]
    assert {finding.field for finding in claims} == set(was)
    assert all(finding.confidence is Confidence.LOW for finding in claims)
    assert all("the code alone says" in finding.why for finding in claims)
    assert found.proposed.dependencies == before.proposed.dependencies
    assert found.proposed.environment == before.proposed.environment


def test_an_answer_that_agrees_changes_nothing(checkout: Build) -> None:
    tree = checkout(FILES)
    before = analyze(tree)
    same = {
        "workload_type": "training",
        "vram_required_gb": before.proposed.hardware.vram_required_gb,
        "gpu_count": None,
    }
    assert advised(tree, same) == before
    assert advised(tree, {}) == before


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"vram_required_gb": 10, "gpu_count": 1}, "weights alone"),
        ({"vram_required_gb": 7}, "8 GB is the least"),
        ({"vram_required_gb": 0}, "8 GB is the least"),
        ({"vram_required_gb": 9999}, "no card has more"),
        ({"gpu_count": 0}, "no GPU is needed"),
        ({"gpu_count": 9}, "one machine has 8"),
        ({"gpu_count": 8, "gpu_type": "T4", "vram_required_gb": 24}, "on a T4"),
        ({"workload_type": "cpu-only"}, "loads a model"),
        ({"workload_type": "cpu-only", "gpu_count": 0, "vram_required_gb": 0}, "loads a model"),
        ({"workload_type": "inference", "vram_required_gb": 12}, "weights alone need 15 GB"),
    ],
)
def test_an_answer_out_of_bounds_is_refused_whole(checkout: Build, answer: dict[str, object], words: str) -> None:
    assert words in refusal(advised(checkout(FILES), answer))


def test_the_lightest_of_the_runs_bounds_the_memory(checkout: Build) -> None:
    # The model may mean the run beside: of Qwen2.5-0.5B the weights take 1 GB, of the 7 billion parameters 15.
    beside = FILES["train.py"].replace("Qwen2.5-7B", "Qwen2.5-0.5B")
    tree = checkout({**FILES, "README.md": "```\npython train.py\n```\n", "small/train.py": beside})
    before = analyze(tree)
    assert [profile.program for profile in before.profiles] == ["small/train.py"]
    assert taken(advised(tree, {"vram_required_gb": 8, "gpu_count": 1})).proposed.hardware.vram_required_gb == 8
    assert "weights alone need" in refusal(
        advised(checkout(FILES | {"small/train.py": ""}), {"vram_required_gb": 8, "gpu_count": 1})
    )


TWO_RUNS = {
    **FILES,
    "demo.py": """\
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B", torch_dtype=torch.bfloat16).cuda()

if __name__ == "__main__":
    print(model.generate())
""",
    "README.md": "# Lab\n```\ntorchrun --nnodes 6 --nproc_per_node 8 train.py\n```\n\n## Demo\n```\npython demo.py\n```\n",
}


def test_the_run_that_is_named_takes_its_machine_and_memory_with_it(checkout: Build) -> None:
    tree = checkout(TWO_RUNS)
    before = analyze(tree)
    assert (before.proposed.hardware.num_nodes, before.proposed.hardware.gpu_count) == (6, 8)
    found = taken(advised(tree, {"run": "demo", "reason": "it is a released model"}))
    assert found.first is not None
    assert found.first.command == "python demo.py"
    assert found.proposed.meta.workload_type is WorkloadType.INFERENCE
    beside = next(profile for profile in before.profiles if profile.name == "demo")
    assert found.proposed.hardware.vram_required_gb == beside.vram_required_gb
    assert (found.proposed.hardware.num_nodes, found.proposed.hardware.gpu_count) == (1, 1)
    others = {profile.command for profile in before.profiles if profile.name != "demo"}
    assert [profile.command for profile in found.profiles] == [
        "torchrun --nnodes 6 --nproc_per_node 8 train.py",
        *others,
    ]
    assert found.override is not None
    assert found.override.changes[0] == ("run", "torchrun --nnodes 6 --nproc_per_node 8 train.py", "python demo.py")
    assert ("hardware.num_nodes", "6", "1") in found.override.changes


def test_runs_whose_commands_begin_alike_are_told_apart_by_their_names(checkout: Build) -> None:
    command = "torchrun --nproc_per_node 8 --master_addr 127.0.0.1 --master_port 29500"
    readme = f"# Lab\n```\n{command} train.py\n```\n## Small\n```\n{command} small.py\n```\n"
    small = FILES["train.py"].replace("Qwen2.5-7B", "Qwen2.5-0.5B")
    tree = checkout({**FILES, "README.md": readme, "small.py": small})
    before = analyze(tree)
    assert before.first is not None
    beside = next(profile for profile in before.profiles if profile.program == "small.py")
    found = taken(advised(tree, {"run": beside.name}))
    assert found.override is not None
    assert found.override.changes[0] == ("run", before.first.name, beside.name)
    assert before.first.name != beside.name


def test_a_run_that_the_code_does_not_know_is_one_machine(checkout: Build) -> None:
    found = taken(advised(checkout(TWO_RUNS), {"workload_type": "inference", "gpu_count": 2, "vram_required_gb": 80}))
    assert (found.proposed.hardware.num_nodes, found.proposed.hardware.gpu_count) == (1, 2)
    assert found.first is None
    assert not [finding for finding in found.findings if finding.field == "entry_point"]


def test_of_machines_it_may_ask_for_fewer_than_the_code_and_never_for_more(checkout: Build) -> None:
    tree = checkout(TWO_RUNS)
    assert taken(advised(tree, {"num_nodes": 2})).proposed.hardware.num_nodes == 2
    assert "the code for 6" in refusal(advised(tree, {"num_nodes": 7}))
    assert "the code for 1" in refusal(advised(tree, {"num_nodes": 2, "run": "demo"}))
    assert "the code for 6" in refusal(advised(tree, {"num_nodes": 0}))


@pytest.mark.parametrize("run", ["other", "python demo.py", 3, "x" * 101])
def test_a_run_that_was_not_found_is_refused(checkout: Build, run: object) -> None:
    assert "its `run` is no" in refusal(advised(checkout(TWO_RUNS), {"run": run}))


def test_a_named_run_is_bounded_by_its_own_weights(checkout: Build) -> None:
    tree = checkout({**FILES, "small/train.py": FILES["train.py"].replace("Qwen2.5-7B", "Qwen2.5-0.5B")})
    before = analyze(tree)
    (beside,) = before.profiles
    lighter = {"vram_required_gb": 8, "gpu_count": 1}
    assert before.first is not None
    assert taken(advised(tree, {**lighter, "run": beside.name}))
    assert "weights alone need" in refusal(advised(tree, {**lighter, "run": before.first.name}))


def test_a_model_that_a_processor_runs_is_no_reason_for_a_card(checkout: Build) -> None:
    small = FILES["train.py"].replace("Qwen/Qwen2.5-7B", "google-t5/t5-small")
    tree = checkout({**FILES, "train.py": small})
    assert analyze(tree).proposed.needs_gpu
    assert not taken(advised(tree, {"workload_type": "cpu-only"})).proposed.needs_gpu


def test_another_workload_takes_its_image_and_memory_with_it(checkout: Build) -> None:
    tree = checkout(TABLE)
    before = analyze(tree)
    assert before.proposed.meta.workload_type is WorkloadType.CPU_ONLY
    found = taken(advised(tree, {"workload_type": "inference", "vram_required_gb": 24, "reason": "it calls a server"}))
    assert found.proposed.needs_gpu
    assert found.proposed.hardware.vram_required_gb == 24
    assert found.proposed.environment.base_image != before.proposed.environment.base_image


def test_the_repositorys_file_stands_over_the_model(checkout: Build) -> None:
    spec = "hardware:\n  vram_required_gb: 40\n"
    tree = checkout({**FILES, ".gpu-lol.yaml": spec})
    before = analyze(tree, spec)
    found = taken(advised(tree, {"vram_required_gb": 75, "gpu_count": 8}, spec))
    assert found.spec.hardware.vram_required_gb == 40
    assert found.spec.hardware.gpu_count == 8
    assert found.proposed.hardware.vram_required_gb == 75
    assert found.differences == before.differences


def test_a_reason_is_shown_as_a_claim_on_one_line_without_marks(checkout: Build) -> None:
    reason = "run `rm -rf`\n\u202egnp.exe ” it said “ \x1b[31m @everyone " + "x" * 1000
    found = taken(advised(checkout(FILES), {"vram_required_gb": 75, "gpu_count": 8, "reason": reason}))
    assert found.override is not None
    assert len(found.override.reason) <= 300
    for mark in "`\n\u202e\x1b“”":
        assert mark not in found.override.reason
    claim = found.findings[0].why
    assert claim.startswith("the language model `some-model` claims so: “run 'rm -rf'")


WILD = st.fixed_dictionaries(
    {},
    optional={
        "workload_type": st.none() | st.sampled_from([*(kind.value for kind in WorkloadType), "x"]),
        "vram_required_gb": st.none() | st.integers(-5, 400) | st.floats() | st.text(max_size=3),
        "gpu_count": st.none() | st.integers(-2, 20) | st.booleans(),
        "gpu_type": st.none() | st.sampled_from([*accelerators(), "H900"]),
        "run": st.none() | st.sampled_from(["train", "other", ""]),
        "num_nodes": st.none() | st.integers(-1, 9),
        "reason": st.none() | st.text(max_size=50),
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=WILD)
def test_no_answer_leaves_the_bounds(tmp_path: Path, answer: dict[str, object]) -> None:
    from gpu_lol_action.analysis.files.checkout import read_checkout

    for path, text in FILES.items():
        (tmp_path / path).write_text(text)
    tree = read_checkout(tmp_path)
    before = analyze(tree)
    found = advised(tree, json.dumps(answer))
    if isinstance(found, Refused):
        return
    hardware = found.proposed.hardware
    assert found.proposed.needs_gpu, "the code loads seven billion parameters"
    assert 1 <= hardware.gpu_count <= 16
    assert hardware.num_nodes == 1
    assert hardware.vram_required_gb is not None
    assert hardware.vram_required_gb >= 8
    assert found.breakdown is not None
    weights = sum(term.gib for term in found.breakdown.terms if term.name == "weights")
    assert hardware.vram_required_gb >= weights
    if hardware.gpu_type is not None:
        assert accelerators()[hardware.gpu_type].marketed_gb >= hardware.vram_required_gb  # as cards are sold
    assert found.proposed.dependencies == before.proposed.dependencies
