"""Which statements of memory and cards speak of a run: those of its purpose, and those that ask for more than a card's name."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.analysis.stated.marked_statements import on_the_same_count
from gpu_lol_action.analysis.stated.reconcile import headline, reconcile, statements
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from tests.unit.analysis.conftest import Build


def stated(field: str, value: str, path: str, line: int = 1) -> Finding:
    return Finding(field, value, "", Confidence.MEDIUM, Evidence(path, line))


def test_a_document_on_training_says_nothing_of_a_run_that_infers() -> None:
    card = stated("documented.card", "H200", "docs/train.md")
    assert [s.rank for s in statements([card], trains=False)] == [2]
    assert [s.rank for s in statements([card], trains=True)] == [1]
    elsewhere = stated("documented.card", "H200", "docs/trained_models.md")
    assert [s.rank for s in statements([elsewhere], trains=False)] == [1]


def test_a_card_s_own_size_is_not_demanded_beside_another_card() -> None:
    findings = [
        stated("documented.training.card", "A100-80GB", "README.md", 3),
        stated("documented.training.memory_gb", "80", "README.md", 3),
        stated("documented.training.card", "V100-32GB", "README.md", 4),
    ]
    first = headline(statements(findings, trains=True))
    assert first is not None
    assert first.finding.value == "V100-32GB"
    apart = [findings[0], stated("documented.training.memory_gb", "80", "README.md", 9), findings[2]]
    asked = headline(statements(apart, trains=True))
    assert asked is not None
    assert asked.finding.value == "80"


def test_a_small_sum_is_a_part_s_where_training_took_large_cards(checkout) -> None:
    """An encoder that was read is not the model that inference loads; a sum of its own size is not so doubted."""
    readme = "# Train\nWe trained on 8x A100 40GB GPUs:\n```\npython train.py\n```\n# Demo\n```\npython demo.py\n```\n"
    demo = "import torch\nimport torch.nn as nn\nnet = nn.Sequential(*[nn.Linear({width}, {width}) for _ in range(24)]).cuda()\nnet.load_state_dict(torch.load('a.pt'))\nnet(x)\n"
    small = analyze(checkout({"demo.py": demo.format(width=1024), "README.md": readme}))
    assert small.breakdown is None
    large = analyze(checkout({"demo.py": demo.format(width=14000), "README.md": readme}))
    assert large.breakdown is not None


LABELED = "# Net\n## System requirements\nInference:\n* 1 GPU with ~16 GB VRAM\n\nTraining:\n\n* GPUs with at least 27 GB of VRAM\n"


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (LABELED, ["documented.inference.memory_gb", "documented.training.memory_gb"]),
        (
            LABELED.replace("Inference:", "**For inference**:"),
            ["documented.inference.memory_gb", "documented.training.memory_gb"],
        ),
        # A label ends with its list, and a sentence that only ends in a colon is none.
        ("# Net\nTraining:\n- fast\n\nIt needs 16 GB of GPU memory.\n", ["documented.memory_gb"]),
        (
            "# Net\nHow training was sped up, in short, and by whom it was done:\n- needs 16 GB of GPU memory\n",
            ["documented.memory_gb"],
        ),
        ("# Net\nHardware:\n- needs 16 GB of GPU memory\n", ["documented.memory_gb"]),
    ],
)
def test_what_introduces_a_list_says_what_its_items_are_for(checkout: Build, text: str, fields: list[str]) -> None:
    found = documented.detect(checkout({"README.md": text}), None)
    assert [f.field for f in found if f.field.endswith("memory_gb")] == fields


@pytest.mark.parametrize(("count", "required"), [(8, 46), (4, None)])
def test_a_card_that_is_named_with_the_run_s_own_count_is_about_it_however_small_the_sum(
    count: int, required: int | None
) -> None:
    findings = [
        stated("documented.training.card", "A100-80GB", "README.md", 9),
        stated("documented.gpu_count", "8", "README.md", 9),
    ]
    said = on_the_same_count(statements(findings, trains=True), findings, count)
    agreed = reconcile(13.0, said, is_rough=False)
    assert (agreed.required_gib if agreed is not None else None) == required


@pytest.mark.parametrize(
    ("sentence", "is_weighed"),
    [("Note that the server requires at least 135GB GPU memory.", False), ("It requires at least 72GB GPU memory.", True)],
)  # fmt: skip
def test_what_a_server_requires_says_nothing_of_a_training(checkout: Build, sentence: str, is_weighed: bool) -> None:
    readme = f"# Data\n```\npython ask.py\n```\n{sentence}\n# Train\n```\ntorchrun --nproc_per_node 4 train.py --model_name meta-llama/Meta-Llama-3-8B\n```\n"
    program = "import torch\nfrom transformers import AutoModelForCausalLM\nmodel = FSDP(AutoModelForCausalLM.from_pretrained(args.model_name))\nloss.backward()\n"
    findings = analyze(checkout({"train.py": program, "README.md": readme})).findings
    trains = [f for f in findings if f.field in {"documented.memory_gb", "documented.training.memory_gb"}]
    assert bool(trains) is is_weighed
