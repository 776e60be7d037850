"""What `gpu-lol analyze` prints of each sample repository, whole: one golden each, and one for each kind of screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path

import pytest

from gpu_lol_action.handlers.analyze import Printing, describe_folder
from gpu_lol_action.render.screen import Screen

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDENS = Path(__file__).parent / "terminal"
NOW = datetime(2026, 11, 20, tzinfo=timezone.utc)
CASES: Mapping[str, tuple[str, Printing]] = {
    **{path.name: (path.name, Printing()) for path in EXAMPLES.iterdir() if path.is_dir()},
    "narrow": ("qwen-lora-sft", Printing(screen=Screen(60))),
    "ascii": ("hostile", Printing(screen=Screen(80, has_unicode=False))),
    "color": ("gpt-pretrain-multi-gpu", Printing(screen=Screen(120, has_color=True))),
    "verbose": ("llama-inference-vllm", Printing(is_verbose=True)),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_report_equals_its_golden(name: str, assert_golden: Callable[[str, str], None]) -> None:
    folder, printing = CASES[name]
    assert_golden(f"terminal/{name}.txt", describe_folder(EXAMPLES / folder, printing, NOW))


def test_each_golden_has_a_case() -> None:
    assert {path.stem for path in GOLDENS.glob("*.txt")} == set(CASES)
