"""What the analyzer says of each sample repository, whole: the spec as a file, and the evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.domain.spec_yaml import parse_spec
from gpu_lol_action.handlers.analyze import Printing, describe_folder
from gpu_lol_action.pricing.proposal import with_cheapest_card

EXAMPLES = Path(__file__).parents[2] / "examples"
NOW = datetime(2026, 11, 20, 15, 0, tzinfo=timezone.utc)
NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())

# What examples/README.md promises: workload, cards, card, and bounds of the memory in GiB.
PROMISED = {
    "cpu-only-sklearn": ("cpu-only", 0, None, (0, 0)),
    "gpt-pretrain-multi-gpu": ("training", 8, "RTXA6000", (40, 48)),
    "hostile": ("training", 1, None, (20, 180)),
    "llama-inference-vllm": ("inference", 1, "RTXA5000", (24, 24)),
    "qwen-lora-sft": ("training", 1, "A40", (30, 45)),
    "vit-training": ("training", 1, "RTX2000-Ada", (4, 12)),
    "with-spec-file": ("training", 1, "RTX4090", (22, 22)),
}


def look_at(name: str) -> Analysis:
    checkout = read_checkout(EXAMPLES / name)
    return with_cheapest_card(analyze(checkout, checkout.spec_text))


@pytest.mark.parametrize("name", NAMES)
def test_example_equals_its_golden(name: str, assert_golden: Callable[[str, str], None]) -> None:
    found = look_at(name)
    assert_golden(f"examples/{name}.yaml", write_spec(found.spec))
    assert_golden(f"examples/{name}.json", describe_folder(EXAMPLES / name, Printing("json"), NOW) + "\n")


@pytest.mark.parametrize("name", sorted(PROMISED))
def test_example_is_what_its_readme_promises(name: str) -> None:
    workload, count, card, (low, high) = PROMISED[name]
    found = analysis_json(look_at(name))
    assert (found["workload_type"], found["gpu_count"] >= count) == (workload, True)
    assert low <= found["vram_required_gb"] <= high
    if card is not None:
        assert found["gpu_type"] == card


def test_each_example_is_promised_something() -> None:
    assert set(NAMES) == set(PROMISED)


@pytest.mark.parametrize("name", NAMES)
def test_proposed_spec_reads_back_as_itself(name: str) -> None:
    found = look_at(name)
    assert parse_spec(write_spec(found.spec)) == found.spec


def test_the_file_wins_and_the_difference_is_said() -> None:
    found = look_at("with-spec-file")
    assert found.is_from_file
    assert found.spec.hardware.vram_required_gb == 22
    assert {item.key for item in found.differences} == {"hardware.vram_required_gb", "hardware.gpu_type"}
    assert "configs/sft.yaml:1" in found.differences[0].why
    assert found.spec.profiles["long-context"].hardware.gpu_type == "H100"
    assert found.spec.profiles["long-context"].dependencies.requirements == found.spec.dependencies.requirements


def test_nothing_of_a_hostile_checkout_is_executed_or_followed() -> None:
    found = look_at("hostile")
    assert not Path("/tmp/gpu-lol-executed-me").exists()
    assert not Path("/tmp/pwned").exists()
    shown = json.dumps(analysis_json(found))
    assert "root:" not in shown
    assert not any(
        "etc" in requirement or "evil" in requirement for requirement in found.spec.dependencies.requirements
    )
