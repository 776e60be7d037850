from __future__ import annotations

import pytest

from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.gpus import UnknownAccelerator
from gpu_lol_action.domain.request import Command, ParseProblem
from gpu_lol_action.intake.parser import parse_comment, parse_words
from gpu_lol_action.intake.requirements import Wanted, read_requirements


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("all", Wanted()),
        ("ALL", Wanted()),
        ("24", Wanted(None, 24, 1, is_as_sold=True)),
        ("24GB", Wanted(None, 24, 1, is_as_sold=True)),
        ("24g", Wanted(None, 24, 1, is_as_sold=True)),
        ("24gb+", Wanted(None, 24, 1, is_as_sold=True)),
        ("22GiB", Wanted(None, 22, 1)),
        ("22.5gib:4", Wanted(None, 22.5, 4)),
        ("24GB:2", Wanted(None, 24, 2, is_as_sold=True)),
        ("2x24GB", Wanted(None, 24, 2, is_as_sold=True)),
        ("4090", Wanted("RTX4090", None, None)),
        ("rtx4090:2", Wanted("RTX4090", None, 2)),
        ("A100-80GB", Wanted("A100-80GB", None, None)),
        ("l4", Wanted("L4", None, None)),
    ],
)
def test_a_word_is_a_card_a_size_or_all(word: str, wanted: Wanted) -> None:
    assert read_requirements(word) == wanted


@pytest.mark.parametrize("word", ["24bg", "0GB", "24GB:0", "24GB:17", "2x24GB:2", "H1000", "RTX4090:99", "-1", "24 GB", "x",
                                  "9999999", "24GB:two", "$24", "../24"])  # fmt: skip
def test_what_is_neither_says_what_is_wrong(word: str) -> None:
    found = read_requirements(word)
    assert isinstance(found, UnknownAccelerator)
    assert found.what.endswith(".") or "write" in found.what


def test_both_doors_take_requirement_and_options() -> None:
    (parsed,) = list(parse_comment("/gpu-lol offers 24GB:2 --availability --hours 4 --cloud runpod --spot"))
    assert isinstance(parsed, Command)
    assert (parsed.memory_gib, parsed.gpu_count, parsed.is_memory_as_sold) == (24, 2, True)
    assert (parsed.asks_availability, parsed.cloud, parsed.use_spot) == (True, "runpod", True)
    terminal = parse_words(["offers", "H100:8", "--format", "json", "--verbose"], DoorKind.TERMINAL)
    assert isinstance(terminal, Command)
    assert (terminal.gpu, terminal.gpu_count, terminal.output_format, terminal.is_verbose) == ("H100", 8, "json", True)


@pytest.mark.parametrize("line", ["offers A40 L4", "offers all 24GB", "offers 24GB all", "offers H1000", "offers --verbose",
                                  "offers 24GB --format yaml", "offers --nothing"])  # fmt: skip
def test_what_cannot_be_understood_is_a_problem_of_this_command(line: str) -> None:
    (parsed,) = list(parse_comment(f"/gpu-lol {line}"))
    assert isinstance(parsed, ParseProblem)
    assert parsed.command == "offers"


def test_templates_is_the_terminals_alone() -> None:
    (parsed,) = list(parse_comment("/gpu-lol templates"))
    assert isinstance(parsed, ParseProblem)
    assert "terminal" in parsed.what
    found = parse_words(["templates", "--filter", "torch"], DoorKind.TERMINAL)
    assert isinstance(found, Command)
    assert found.pattern == "torch"
