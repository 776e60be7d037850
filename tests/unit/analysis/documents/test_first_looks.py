"""First looks at a text, which spare most lines the expressions behind them and most programs the parser: they miss nothing."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.commands.launch_programs import started_lines
from gpu_lol_action.analysis.documents.documented_amounts import memory_phrases
from gpu_lol_action.analysis.documents.documented_phrases import card_phrases, may_name
from gpu_lol_action.analysis.models.model_loads import loads_of
from gpu_lol_action.domain.finding import Confidence
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.named_cards import OLDER_CARDS_GB
from gpu_lol_action.estimation.package_pairs import specifier_of
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize("name", [*accelerators(), *OLDER_CARDS_GB])
def test_every_card_has_a_number_or_is_a_titan(name: str) -> None:
    assert may_name(name)


def test_sentences_without_a_number_name_no_amount_and_no_card_but_a_titan() -> None:
    assert not list(memory_phrases("needs several gigabytes of GPU memory"))
    assert [phrase.size_gb for phrase in memory_phrases("needs at least 16 gigabytes of GPU memory")] == [16]
    assert not list(card_phrases("trained on two GPUs of a kind that nobody names"))
    assert [phrase.card for phrase in card_phrases("trained on a Titan Black")] == ["TITAN-Black"]


START = "import subprocess\n{}\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("subprocess.run(['torchrun', 'train.py'])", ["torchrun train.py"]),
        ('COMMAND = """\\\ntorchrun train.py"""', ["torchrun train.py"]),
        ("COMMAND = f'accelerate launch {script}'", []),
        ("script = 'train.py'\nCOMMAND = f'accelerate launch {script}'", ["accelerate launch train.py"]),
        (
            "subprocess.run(['python', '-m', 'vllm.entrypoints.api_server', '--model', 'a/b'])",
            ["python -m vllm.entrypoints.api_server --model a/b"],
        ),
    ],
)
def test_commands_that_a_program_starts(checkout: Build, line: str, expected: list[str]) -> None:
    tree = checkout({"start.py": START.format(line)})
    assert [text for _, text in started_lines(tree, tree.sources[0])] == expected


@pytest.mark.parametrize(
    "line",
    ["# started by torchrun", "log('install it with `accelerate config`')", "NEEDED = ['accelerate>=1.0']", "'python'"],
)
def test_a_program_is_not_parsed_for_commands_of_which_no_literal_begins_as_one(checkout: Build, line: str) -> None:
    tree = checkout({"start.py": START.format(f"{line}  # or torchrun")})
    assert not list(started_lines(tree, tree.sources[0]))
    assert not tree.bytes_parsed


def test_a_program_is_not_parsed_for_the_files_that_it_loads_where_none_lies_in_a_folder_with_a_size(
    checkout: Build,
) -> None:
    tree = checkout({"a.py": "weights = torch.load('last.pth')\n", "b.py": "torch.load('Llama-3-8B/last.pth')\n"})
    named = [[finding.value for finding in loads_of(source, Confidence.LOW)] for source in tree.sources]
    assert named == [[], ["Llama-3-8B"]]
    assert tree.bytes_parsed < 60


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        ("Flash_Attn >= 2.5", ">=2.5"),
        (" flash.attn[extra]==2.5.0; python_version < '3.12'", "==2.5.0"),
        ("flash-attn", ""),
        ("flash-attn-wheels==1.0", None),
        ("flash-attn-==1.0", None),
        ("flash-attn @ not an address", None),
    ],
)
def test_the_version_that_is_asked_for_of_a_package(requirement: str, expected: str | None) -> None:
    assert specifier_of(["torch==2.1", requirement], "flash-attn") == expected
