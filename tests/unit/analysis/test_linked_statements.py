"""What an address, a column of operations and a card of another section say is not this run's hardware."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.documents.card_names import find_card
from gpu_lol_action.analysis.documents.documented_amounts import memory_phrases
from gpu_lol_action.analysis.documents.documented_phrases import card_phrases, gpu_number, is_quantized
from gpu_lol_action.analysis.documents.documented_tables import table_figures
from gpu_lol_action.analysis.runs.documented_places import AT_COMMAND
from gpu_lol_action.analysis.stated.reconcile import Statement, reconcile
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
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
        "# Demo\n```\n#python demo.py --size base # requires 8.5G GPU memory\n"
        "python demo.py --size huge \\\n  --clip  # requires 13G GPU memory\n```\n## Windows\nTested on Windows with a 3070-8G.\n"
    )
    tree = checkout({"demo.py": ANSWERS, "README.md": said})
    assert analyze(tree).spec.hardware.vram_required_gb == 16


def test_a_remark_above_the_command_is_about_the_run_and_one_above_another_is_not(checkout: Build) -> None:
    said = "# Tune\n```\n# plain (1x48GB @ ~24GiB)\n# experts too (1x48GB @ 34GiB)\naxolotl train a.yaml\n```\n```\n# on two (2x48GB @ ~29GiB/GPU)\naxolotl train b.yaml\n```\n"
    recipe = "base_model: Qwen/Qwen3-14B\nadapter: qlora\nload_in_4bit: true\nmicro_batch_size: 1\nsequence_len: 2048\nlearning_rate: 1e-4\n"
    tree = checkout({"README.md": said, "a.yaml": recipe, "b.yaml": recipe})
    found = [f.evidence.line for f in analyze(tree).findings if f.field == "documented.about"]
    assert found == [3, 4]


@pytest.mark.parametrize(("place", "taken"), [(AT_COMMAND, "13"), ("", "RTX3070")])
def test_a_smaller_card_ran_another_run_than_the_one_of_the_remark(place: str, taken: str) -> None:
    said = Finding("documented.memory_gb", "13", "", Confidence.HIGH, Evidence("README.md", 5))
    had = Finding("documented.card", "RTX3070", "", Confidence.MEDIUM, Evidence("README.md", 9))
    stated = (Statement(13.0, False, 0.7, 1, said, place=place), Statement(7.9, True, 0.7, 1, had))
    agreed = reconcile(10.0, stated, is_rough=True)
    assert agreed is not None
    assert agreed.finding.value == taken


@pytest.mark.parametrize(
    ("line", "amounts"),
    [
        ("The CUDA backend is measured on a V100-SXM2-32GB GPU using one thread.", []),
        ("It was profiled on an A100-80GB GPU and used 21 GB of GPU memory.", [21.0]),
        ("It requires a V100-32GB GPU.", [32.0]),  # which is asked for
        ("It uses a 32GB GPU.", [32.0]),
    ],
)
def test_the_amount_in_a_cards_name_says_which_card_it_is(line: str, amounts: list[float]) -> None:
    assert [phrase.size_gb for phrase in memory_phrases(line)] == amounts


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("FP16(无量化)", False),
        ("未量化", False),
        ("不经过量化的模型", False),
        ("INT4 量化", True),
        ("量化等级", True),
    ],
)
def test_what_is_not_quantized_in_chinese(text: str, is_so: bool) -> None:
    assert is_quantized(text) is is_so


def test_a_table_of_quantizations_tells_what_the_whole_weights_need(checkout: Build) -> None:
    table = (
        "| **量化等级** | **最低 GPU 显存** |\n|--|--|\n| FP16(无量化) | 13 GB |\n| INT8 | 10 GB |\n| INT4 | 6 GB |\n"
    )
    said = f"# Net\n```\npython demo.py\n```\n\n{table}"
    assert analyze(checkout({"demo.py": ANSWERS, "README.md": said})).spec.hardware.vram_required_gb == 16


BY_SIZE = "# Chat\n## Memory\n| Model | VRAM |\n|---|---|\n| 7B | 15 GB |\n| 20B | 41 GB |\n\n## Demo\n```\npython demo.py\n```\n"


@pytest.mark.parametrize(
    ("program", "row"),
    [
        # What the program takes where it is not told: an option's default, a setting's, the model that it loads.
        ("parser.add_argument('--model', default='lab/chat-20bv5')\n", "README.md:6"),
        ("size = config.get('model_size', '7B')\n", "README.md:5"),
        ("tokenizer = AutoTokenizer.from_pretrained('lab/chat-20b')\n", "README.md:6"),
        # Two sizes tell none, and neither does a number that is none.
        ("a.add_argument('--m', default='lab/chat-20b')\na.add_argument('--n', default='lab/chat-7b')\n", ""),
        ("parser.add_argument('--model', default='lab/v20beta')\n", ""),
    ],
)
def test_the_row_of_the_size_that_the_program_loads_is_meant(checkout: Build, program: str, row: str) -> None:
    tree = checkout({"demo.py": f"{program}{ANSWERS}", "README.md": BY_SIZE})
    about = [str(f.evidence) for f in analyze(tree).findings if f.field == "documented.about" and f.value == "row"]
    assert about == ([row] if row else [])


def test_a_section_that_names_only_a_card_leaves_the_rows_of_other_sections(checkout: Build) -> None:
    rows = "## Memory\n| Model | VRAM |\n|---|---|\n| Net-7B-lite | 9 GB |\n| Net-7B | 34 GB |\n| Net-13B | 56 GB |\n"
    said = f"# Net\n## Train\nWe tune it on 2x A100:\n```\npython demo.py --size 7B\n```\n{rows}"
    findings = analyze(checkout({"demo.py": ANSWERS, "README.md": said})).findings
    assert [str(f.evidence) for f in findings if f.field == "documented.about" and f.value == "row"] == ["README.md:11"]
    amount = said.replace("2x A100:", "2x A100, it takes 30 GB of VRAM:")
    findings = analyze(checkout({"demo.py": ANSWERS, "README.md": amount})).findings
    assert not [f for f in findings if f.field == "documented.about" and f.value == "row"]
