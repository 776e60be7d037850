"""What an address, a column of operations and a card of another section say is not this run's hardware."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.assemble import analyze
from gpu_lol_action.analysis.documented_phrases import card_phrases, find_card, gpu_number
from gpu_lol_action.analysis.documented_tables import table_figures
from tests.unit.analysis.conftest import Build

ANSWERS = "from transformers import AutoModel\nnet = AutoModel.from_pretrained(name).cuda()\nnet.generate()\n"


@pytest.mark.parametrize(
    ("line", "cards"),
    [
        ("set [gpu_ids](https://host.org/a/blob/0/train.json#L4) if you use 4 GPUs", []),
        ("see https://host.org/train.py#L40 before training", []),
        ("see [the list](options/a100.json#L4) for training", []),
        ("trained on [8 A100](https://host.org/p4)", ["A100"]),
        ("trained on an L4 (https://host.org/x)", ["L4"]),
    ],
)
def test_an_address_names_no_card(line: str, cards: list[str]) -> None:
    assert [phrase.card for phrase in card_phrases(line)] == cards


def test_an_address_counts_no_cards() -> None:
    assert gpu_number("see [how](docs/2-gpus.md) it is done") is None
    assert gpu_number("with 4 GPUs, see [how](docs/2-gpus.md)") == 4


@pytest.mark.parametrize(
    ("name", "size", "card"),
    [("A800", None, "A100-80GB"), ("A800", "40", "A100"), ("A100", None, "A100"), ("H800", None, "H100")],
)
def test_an_a800_has_80_gb(name: str, size: str | None, card: str) -> None:
    assert find_card(name, size) == card


def test_a_column_of_operations_is_no_memory() -> None:
    table = [
        "| module | #parameters | #flops | #activations | use |",
        "|--|--|--|--|--|",
        "| all | 23M | 3.25G | 8M | 7G |",
    ]
    assert [figure.memory_gb for figure in table_figures(table, ["Compute Requirements"] * 3)] == [7.0]


def test_a_remark_behind_the_command_is_about_the_run(checkout: Build) -> None:
    said = (
        "# Demo\n```\npython demo.py --size huge \\\n  --clip  # requires 13G GPU memory\n"
        "#python demo.py --size base # requires 8.5G GPU memory\n```\n## Windows\nTested on Windows with a 3070-8G.\n"
    )
    tree = checkout({"demo.py": ANSWERS, "README.md": said})
    assert analyze(tree).spec.hardware.vram_required_gb == 16
