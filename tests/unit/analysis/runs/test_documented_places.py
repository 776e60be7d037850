"""Which of several statements is about the run: what points at its command, its row of a table, its section; and which pages are read."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.documents.document_layout import code_blocks, section_around
from gpu_lol_action.analysis.documents.wrapped_lines import paragraphs
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.documented_places import (
    AT_COMMAND,
    FIELD,
    IN_ROW,
    IN_SECTION,
    block_meant,
    of_other_sizes,
    tokens,
)
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.analysis.stated.marked_statements import at_the_command
from gpu_lol_action.analysis.stated.reconcile import headline, reconcile, statements
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nloss = torch.nn.Linear(2, 2)(torch.ones(2)).sum()\nloss.backward()\n"
RUN = "```\npython train.py --model net-7b --method lora\n```\n"


def found(tree: Checkout) -> list[Finding]:
    return documented.detect(tree, primary_run(tree))


def amounts(tree: Checkout) -> list[tuple[str, str, int]]:
    return [(f.field, f.value, f.evidence.line) for f in found(tree) if f.field.endswith("memory_gb")]


def places(tree: Checkout) -> list[tuple[int, str]]:
    return [(f.evidence.line, f.value) for f in found(tree) if f.field == FIELD]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This default configuration requires ~38GB.", "above"),
        ("This needs about 20 GB of VRAM.", None),
        ("The command below requires 14GB.", "below"),
        ("Use the following script on a card with 24 GB.", "below"),
        ("Train it on 8 V100-32GB:", "below"),
        ("Note: 24 GB are enough.", None),
    ],
)
def test_a_sentence_between_two_blocks_points_at_one(text: str, expected: str | None) -> None:
    lines = ["```", "a", "```", "", text, "", "", "```", "b", "```"]
    above, below = code_blocks(lines)
    assert block_meant(text, range(5, 6), [above, below]) == {"above": above, "below": below, None: None}[expected]


def test_a_sentence_right_above_a_block_points_at_it_and_a_distant_one_at_none() -> None:
    near = ["```", "a", "```", "", "For this configuration it takes 20 GB.", "```", "b", "```"]
    assert block_meant(near[4], range(5, 6), code_blocks(near)) == range(7, 8)
    far = ["```", "a", "```", *[""] * 9, "This script takes 20 GB."]
    assert block_meant(far[-1], range(13, 14), code_blocks(far)) is None
    assert block_meant("# this script", range(2, 3), code_blocks(near)) is None


def test_what_points_at_the_run_s_own_command_is_taken_and_the_nearer_amount_is_not(checkout: Build) -> None:
    text = f"# M\n{RUN}\nThis default configuration requires ~38GB VRAM.\n\nA smaller batch reduces training to ~20 GB VRAM.\n"
    tree = checkout({"README.md": text, "train.py": TRAIN})
    assert places(tree) == [(6, AT_COMMAND)]
    agreed = reconcile(23, at_the_command(statements(found(tree), trains=True), None), is_rough=False)
    assert agreed is not None
    assert agreed.required_gib == 38


def test_what_points_at_another_command_has_that_command_s_purpose(checkout: Build) -> None:
    text = f"# M\n## Chat\nThe command below requires around 14GB of GPU memory.\n```\npython -m net.serve.cli\n```\n## More\n{RUN}"
    tree = checkout({"README.md": text, "train.py": TRAIN})
    assert amounts(tree) == [("documented.inference.memory_gb", "14", 3)]


TABLE = """| Model | Method | VRAM |
|---|---|---|
| net-2b | lora | 9 GB |
| net-7b | full | 60 GB |
| net-7b | lora | 18 GB |
"""


def test_the_row_is_meant_that_names_what_a_program_in_the_document_names(checkout: Build) -> None:
    shown = "```python\nfrom net import Speech\nmodel = Speech(model_card='net_7b_lora').to('cuda')\nmodel.transcribe(['a.wav'])\n```\n"
    text = f"# M\n## Run\n{shown}\n## Models\n{TABLE}"
    tree = checkout({"README.md": text, "net/__init__.py": "import torch\nclass Speech(torch.nn.Module):\n    pass\n"})
    assert [line for line, kind in places(tree) if kind == IN_ROW] == [14]


def test_the_row_is_meant_that_names_what_the_command_names(checkout: Build) -> None:
    tree = checkout({"README.md": f"# M\n{TABLE}\n## Run\n{RUN}", "train.py": TRAIN})
    assert places(tree) == [(6, IN_ROW)]
    agreed = reconcile(50, at_the_command(statements(found(tree), trains=True), None), is_rough=False)
    assert agreed is not None
    assert agreed.finding.value == "18"


def test_a_table_of_which_all_rows_fit_the_command_alike_names_none(checkout: Build) -> None:
    rows = TABLE.replace("net-7b | full", "net-9b | dora").replace("net-7b | lora", "net-9b | qlora")
    tree = checkout(
        {"README.md": f"# M\n{rows.replace('net-2b | lora', 'net-3b | full')}\n## Run\n{RUN}", "train.py": TRAIN}
    )
    assert places(tree) == []


def test_the_row_whose_whole_name_the_command_says_comes_before_longer_names(checkout: Build) -> None:
    rows = "| Method | Memory |\n|---|---|\n| fieldnet | ~6GB |\n| fieldnet-huge | ~24GB |\n"
    page = {"docs/methods/fieldnet.md": rows, "docs/methods/other.md": "Needs 70 GB of VRAM.\n"}
    tree = checkout({"README.md": "```\npython train.py fieldnet\n```\n", "train.py": TRAIN, **page})
    assert [value for _, value, _ in amounts(tree)] == ["6", "24"]
    assert places(tree) == [(3, IN_ROW)]


def test_a_number_alone_means_no_row_of_another_document(checkout: Build) -> None:
    rows = "| Model | Side | VRAM |\n|---|---|---|\n| vit-h | 224 | 9 GB |\n| vit-l | 384 | 18 GB |\n"
    run = "```\npython train.py --side 224\n```\n"
    apart = checkout({"README.md": run, "README_other.md": rows, "train.py": TRAIN})
    assert places(apart) == []
    together = checkout({"README.md": f"# M\n{rows}\n## Run\n{run}", "train.py": TRAIN})
    assert places(together) == [(4, IN_ROW)]


def test_tables_of_other_sections_are_not_the_run_s(checkout: Build) -> None:
    own = TABLE.replace("18 GB", "22 GB").replace("net-7b", "small").replace("net-2b", "tiny").replace("lora", "any")
    tree = checkout({"README.md": f"# M\n## One\n{RUN}\n{own}\n## Two\n{TABLE}", "train.py": TRAIN})
    assert set(places(tree)) == {(9, IN_SECTION), (10, IN_SECTION), (11, IN_SECTION)}


def test_an_amount_of_the_run_s_section_comes_before_one_that_lies_a_little_nearer() -> None:
    stated = [
        Finding("documented.memory_gb", "19", "", Confidence.MEDIUM, Evidence("README.md", 90)),
        Finding("documented.memory_gb", "22", "", Confidence.MEDIUM, Evidence("README.md", 9)),
    ]
    mark = Finding(FIELD, IN_SECTION, "", Confidence.LOW, Evidence("README.md", 9))
    plain = reconcile(18, statements(stated, trains=True), is_rough=False)
    marked = reconcile(18, statements([*stated, mark], trains=True), is_rough=False)
    assert plain is not None
    assert marked is not None
    assert (plain.finding.value, marked.finding.value) == ("19", "22")


def test_an_amount_that_is_demanded_at_the_command_is_about_it_however_small_the_sum() -> None:
    stated = [Finding("documented.memory_gb", "24", "", Confidence.HIGH, Evidence("README.md", 4))]
    command = Finding("entry_point", "train.py", "", Confidence.HIGH, Evidence("README.md", 7))
    agreed = reconcile(2, at_the_command(statements(stated, trains=True), command), is_rough=False)
    assert agreed is not None
    assert agreed.required_gib == 23
    elsewhere = at_the_command(statements(stated, trains=True), None)
    assert reconcile(2, elsewhere, is_rough=False) is None


def test_a_section_holds_its_subsections_and_ends_at_its_like() -> None:
    lines = ["# T", "", "## A", "x", "### B", "```", "# remark", "```", "## C", "y"]
    assert section_around(lines, 4) == range(3, 9)
    assert section_around(lines, 7) == range(5, 9)
    assert section_around(["x", "y"], 1) == range(1, 3)


def test_words_of_a_table_and_a_command() -> None:
    assert tokens("CogNet1.5-5B at 576x1024, bf16, in 8 of no") == [
        "cognet1.5",
        "5b",
        "576x1024",
        "bf16",
        "576",
        "1024",
    ]


def test_a_sentence_that_is_broken_over_lines_is_one(checkout: Build) -> None:
    text = (
        "# M\nBelow we show how to fine-tune the model on your own data, on a single A100\n"
        "GPU with 80 GB VRAM. A smaller card does as well, as long as it has at least\n~27 GB of memory.\n"
    )
    tree = checkout({"README.md": text, "train.py": TRAIN})
    assert [(value, line) for _, value, line in amounts(tree)] == [("27", 4)]
    assert ("documented.training.card", "A100-80GB", 2) in [(f.field, f.value, f.evidence.line) for f in found(tree)]


def test_paragraphs_end_at_items_headings_short_lines_and_code() -> None:
    full = "x" * 70
    lines = [full, full, "end", full, f"- {full}", full, "# head", full, "```", full, full, "```"]
    assert [len(each) for each in paragraphs(lines)] == [3, 1, 2, 1, 1, 1, 1, 1, 1]


PAGE = "## Requirements\n\n- GPU Memory: 24GB (Inference)\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docs/en/install.md", ["24"]),
        ("FAQ.md", ["24"]),
        ("docs/zh/install.md", []),
        ("docs/a/b/c/d/install.md", []),
        ("docs/en/training.md", []),
        ("examples/install.md", []),
    ],
)
def test_pages_on_hardware_demand_where_nothing_nearer_tells(checkout: Build, path: str, expected: list[str]) -> None:
    tree = checkout({"README.md": f"# M\n{RUN}", "train.py": TRAIN, path: PAGE})
    assert [value for _, value, _ in amounts(tree)] == expected


def test_pages_on_hardware_are_silent_where_something_nearer_tells_and_never_only_mention(checkout: Build) -> None:
    near = checkout({"README.md": f"# M\nIt takes about 16 GB of VRAM.\n{RUN}", "train.py": TRAIN, "FAQ.md": PAGE})
    assert [value for _, value, _ in amounts(near)] == ["16"]


def test_what_a_page_only_mentions_is_not_taken(checkout: Build) -> None:
    tree = checkout({"README.md": f"# M\n{RUN}", "train.py": TRAIN, "FAQ.md": "With tiling about 9 GB of VRAM.\n"})
    assert amounts(tree) == []


def test_the_answer_of_a_faq_need_not_say_what_its_amount_is_of(checkout: Build) -> None:
    text = "#### How much VRAM do I need to train?\n\n24GB minimum is required.\n\n#### How large is it?\n\n90GB at least.\n"
    tree = checkout({"README.md": f"# M\n{RUN}", "train.py": TRAIN, "FAQ.md": text})
    assert [value for _, value, _ in amounts(tree)] == ["24"]


def test_a_translation_says_nothing_twice_but_speaks_where_its_original_does_not(checkout: Build) -> None:
    said = "# M\nIt needs 28 GB of VRAM.\n"
    tree = checkout({"README.md": said, "README_zh.md": "# M\n需要 28 GB 显存\n", "train.py": TRAIN})
    assert len(amounts(tree)) == 1


def test_a_translation_that_tells_more_is_read(checkout: Build) -> None:
    tree = checkout({"README.md": "# 模型\n", "README_en.md": "# M\nIt needs 28 GB of VRAM.\n", "train.py": TRAIN})
    assert [value for _, value, _ in amounts(tree)] == ["28"]


def test_the_title_of_another_article_and_a_change_of_long_ago_say_nothing_of_the_run(checkout: Build) -> None:
    text = "# M\n- [Tuning a net in only 8GB of VRAM](https://a.example/b)\n## Changelog\n- Memory usage is down from about 18GB to 10GB on the GPU\n"
    tree = checkout({"README.md": text, "train.py": TRAIN})
    assert {f.confidence for f in found(tree) if f.field.endswith("memory_gb")} == {Confidence.LOW}
    card = Finding("documented.training.card", "V100", "", Confidence.MEDIUM, Evidence("README.md", 9))
    first = headline(statements([*found(tree), card], trains=True))
    assert first is not None
    assert first.finding is card


def test_the_folder_of_a_launch_script_speaks_for_what_it_starts_elsewhere(checkout: Build) -> None:
    files = {
        "train.py": TRAIN,
        "README.md": "```\nbash work/robot/run.sh\n```\n",
        "work/robot/run.sh": "python train.py --lr 1e-4\n",
        "work/README.md": "Training requires at least 48GB of VRAM.\n",
        "other/README.md": "Training requires at least 24GB of VRAM.\n",
    }
    assert [value for _, value, _ in amounts(checkout(files))] == ["48"]


@pytest.mark.parametrize(
    ("line", "is_another"),
    [
        ("The 405B model runs on a single node with 8x80GB H100.", True),
        ("It needs 70 GB of GPU memory with 70 billion parameters.", True),
        ("The 7B model was trained on 8 A100 GPUs.", False),  # its own size
        ("Both 8B and 405B were run on H100 GPUs.", False),
        ("We trained on 8 A100 GPUs. Falcon-180B is no match.", False),  # the sentence on cards names no size
        ("We trained on 15B tokens with 8 A100 GPUs.", False),
        ("| 70B | 8 | A100 |", False),  # of tables the rows tell
    ],
)
def test_a_sentence_on_a_model_of_another_size_is_not_about_the_run(
    checkout: Build, line: str, *, is_another: bool
) -> None:
    source = checkout({"README.md": f"# Run\n{line}\n"}).find("README.md")
    assert source is not None
    assert of_other_sizes(source, {2}, {"llama", "3.1", "8b"}) == ({2} if is_another else set())
    assert of_other_sizes(source, {2}, {"llama", "3.1"}) == set()


def test_what_a_model_of_another_size_took_does_not_count(checkout: Build) -> None:
    readme = "# Run\n```\npython chat.py --model_name meta-llama/Llama-3.1-8B\n```\nThe 405B model runs on a node with 8x80GB H100 GPUs.\n"
    program = "import torch\nfrom transformers import AutoModelForCausalLM\nAutoModelForCausalLM.from_pretrained(args.model_name).cuda().generate(x)\n"
    hardware = analyze(checkout({"chat.py": program, "README.md": readme})).proposed.hardware
    assert hardware.vram_required_gb == 20


def test_a_row_is_called_by_the_switches_that_are_on_in_it(checkout: Build) -> None:
    rows = "| Net | 8bit | lora | VRAM |\n|---|---|---|---|\n| 7b | True | True | 9 GB |\n| 7b | False | True | 19 GB |\n| 7b | ❌ | ❌ | 79 GB |\n"
    run = "```\npython train.py --train_in_8bit True --lora True\n```\n"
    tree = checkout({"README.md": f"# M\n{rows}\n## Run\n{run}", "train.py": TRAIN})
    assert places(tree) == [(4, IN_ROW)]


@pytest.mark.parametrize(("encoder", "line"), [("vits", 4), ("vit_l", 9)])
def test_the_row_is_meant_of_the_size_that_a_vision_transformer_s_name_bears(
    checkout: Build, encoder: str, line: int
) -> None:
    """Rows of a table in HTML lie several lines apart."""
    cells = "<tr>\n<td>Net-{}</td>\n<td>x</td>\n<td>{} GB</td>\n</tr>\n"
    rows = f"<table>\n<tr><th>Model</th><th>Kind</th><th>VRAM</th></tr>\n{cells.format('Small', 7)}{cells.format('Large', 27)}</table>\n"
    run = f"```\npython train.py --encoder {encoder}\n```\n"
    tree = checkout({"README.md": f"{rows}\n## Run\n{run}", "train.py": TRAIN})
    assert [number // 5 for number, kind in places(tree) if kind == IN_ROW] == [line // 5]


def test_a_column_says_what_its_figures_are_of(checkout: Build) -> None:
    rows = "| Net | Training VRAM | VRAM | VRAM (int4) |\n|---|---|---|---|\n| 7b | 60 GB | 16 GB | 6 GB |\n"
    tree = checkout({"README.md": f"# M\n{rows}\n{RUN}", "train.py": TRAIN})
    assert amounts(tree) == [
        ("documented.training.memory_gb", "60", 4),
        ("documented.memory_gb", "16", 4),
        ("documented.quantized.memory_gb", "6", 4),
    ]


@pytest.mark.parametrize("head", ["Fine-tuning", "Training supported", "Supports training"])
def test_what_a_model_can_be_put_to_is_not_what_its_figures_are_of(checkout: Build, head: str) -> None:
    rows = f"| Net | {head} | VRAM |\n|---|---|---|\n| 7b | ✓ | 16 GB |\n"
    tree = checkout({"README.md": f"# M\n{rows}\n{RUN}", "train.py": TRAIN})
    assert amounts(tree) == [("documented.memory_gb", "16", 4)]
