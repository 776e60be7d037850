"""How sure a memory is called follows from what stands behind it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.confidence import decision_confidence
from gpu_lol_action.analysis.memory.sureness import sureness
from gpu_lol_action.analysis.stated.reconcile import Agreement
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from tests.unit.analysis.conftest import Build

HIGH, MEDIUM, LOW = Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW
TUNES = (
    "from transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n"
    'model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1")\n'
    'Trainer(model, TrainingArguments("out", per_device_train_batch_size=1)).train()\n'
)
UNKNOWN = (
    "import torch\nfrom data import network, batches\nnet = network().cuda()\nsteps = torch.optim.Adam(net.parameters())\n"
    "for x, y in batches():\n    (net(x) - y).mean().backward()\n    steps.step()\n"
)
TEXT = "# A network\n" + "It finds the edges of things in pictures, and of nothing else. " * 20


def _finding(field: str, confidence: Confidence, value: str = "x") -> Finding:
    return Finding(field, value, "because", confidence, Evidence("a.py", 1))


def _agreed(field: str, confidence: Confidence) -> Agreement:
    return Agreement(24, "because", Evidence("README.md", 1), _finding(field, confidence, "24"))


TRAINING = (_finding("workload", HIGH, "training"),)


@pytest.mark.parametrize(
    ("field", "said", "sure"),
    [
        ("documented.memory_gb", HIGH, HIGH),
        ("documented.training.memory_gb", MEDIUM, HIGH),
        ("documented.inference.card", MEDIUM, HIGH),
        ("documented.card", LOW, MEDIUM),
        ("documented.memory_gb", LOW, MEDIUM),
        ("documented.silence", LOW, LOW),
        ("hardware.common_card", LOW, LOW),
    ],
)
def test_what_is_stated_is_sure_and_what_goes_without_saying_is_not(
    field: str, said: Confidence, sure: Confidence
) -> None:
    assert sureness(TRAINING, _agreed(field, said), _finding("model.id", LOW), ("no batch size was found",)) is sure


@pytest.mark.parametrize(
    ("model", "assumed", "sure"),
    [(HIGH, (), MEDIUM), (MEDIUM, (), MEDIUM), (LOW, (), LOW), (HIGH, ("no batch size was found",), LOW)],
)
def test_a_sum_without_a_statement_is_as_sure_as_what_it_rests_on(
    model: Confidence, assumed: tuple[str, ...], sure: Confidence
) -> None:
    assert sureness(TRAINING, None, _finding("model.id", model), assumed) is sure


def test_no_memory_is_surer_than_what_the_run_is_for() -> None:
    doubtful = (_finding("workload", MEDIUM, "training"),)
    assert sureness(doubtful, _agreed("documented.memory_gb", HIGH)) is MEDIUM
    assert sureness((), _agreed("documented.memory_gb", HIGH)) is LOW


@pytest.mark.parametrize(
    ("program", "readme", "sure"),
    [
        (TUNES, "# Tune\n```\npython train.py\n```\nTraining needs a GPU with 80 GB of memory.\n", HIGH),
        (UNKNOWN, f"{TEXT}\nYou need a GPU with at least 16 GB of memory.\n", MEDIUM),
        (UNKNOWN, TEXT, LOW),
    ],
)
def test_an_answer_says_how_sure_its_memory_is(checkout: Build, program: str, readme: str, sure: Confidence) -> None:
    found = analyze(checkout({"train.py": program, "README.md": readme, "requirements.txt": "torch\ntransformers\n"}))
    assert decision_confidence(found)["vram_required_gb"] is sure


def test_one_card_that_nothing_counts_is_surer_than_several(checkout: Build) -> None:
    one = analyze(checkout({"train.py": TUNES.replace("mistralai/Mistral-7B-v0.1", "openai-community/gpt2")}))
    assert one.spec.hardware.gpu_count == 1
    assert decision_confidence(one)["gpu_count"] is MEDIUM
    several = analyze(checkout({"train.py": TUNES}))
    assert several.spec.hardware.gpu_count > 1
    assert decision_confidence(several)["gpu_count"] is LOW
