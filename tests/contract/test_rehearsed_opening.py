"""The first words of a rehearsal on somebody's own repository: its pull request changes nothing that the code needs, and is told all the same."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.console import Console

from gpu_lol_action.rehearsal.display import Display
from gpu_lol_action.rehearsal.stage import Stage
from gpu_lol_action.rehearsal.story import Story

SPEC = "hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}\n"
ONE = {"train.py": "import torch\ntorch.ones(1).cuda()\n", ".gpu-lol.yaml": SPEC}
SEVERAL = {
    ".github/gpu-lol.yml": "analysis: {folders: [llm, vision]}\n",
    **{f"{folder}/{name}": text for folder in ("llm", "vision") for name, text in ONE.items()},
}


@pytest.mark.parametrize(
    ("files", "told"),
    [(ONE, "RTX4090"), (SEVERAL, "Project `llm`, of 2 that the policy names")],
    ids=["one", "several"],
)
def test_any_repository_gets_its_proposal(tmp_path: Path, files: Mapping[str, str], told: str) -> None:
    for path, text in files.items():
        (tmp_path / "lab" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lab" / path).write_text(text)
    with Stage() as stage:
        story = Story(stage, Display(Console(file=io.StringIO())), lambda _tell: None)
        story.set_the_scene(tmp_path / "lab")
        story.open_pull_request(tmp_path / "lab")
        assert told in story.proposal
        assert stage.hub.problems() == []
