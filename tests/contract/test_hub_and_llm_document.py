"""docs/hub-and-llm.md names figures and settings; they are those of the code."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from gpu_lol_action.action_io import INPUTS
from gpu_lol_action.adapters import boxed_http, copilot, hub, hub_cache, llm
from gpu_lol_action.analysis.answer import llm_excerpts, llm_guard
from gpu_lol_action.domain.installation import PROPOSING, ModelEndpoint, Pin, WorkflowChoice
from gpu_lol_action.domain.policy_yaml import parse_policy
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.handlers import lookups
from gpu_lol_action.render.workflow_files import workflow_files

pytestmark = pytest.mark.docs

PAGE = " ".join((Path(__file__).parents[2] / "docs" / "hub-and-llm.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    "words",
    [
        f"{hub.BOX // timedelta(seconds=1)} s for all of a run",
        f"{llm.BOX // timedelta(seconds=1)} s for a question",
        f"up to {lookups.MAX_MODELS} for one tree",
        f"{copilot.BOX // timedelta(seconds=1)} s with GitHub Copilot",
        f"kept for {hub_cache.FRESH // timedelta(hours=1)} hours",
        f"An answer over {boxed_http.MAX_BYTES // 1024**2} MB",
        f"at least {llm_guard.FLOOR_GB} GB",
        f"1 to {llm_guard.MOST_CARDS}",
        f"a model of more than {llm_guard.CPU_GIB:g} GiB",
        f"at most {llm_excerpts.MAX_CHARACTERS:,} characters of files",
        f"one of {', '.join(kind.value for kind in WorkloadType)}",
    ],
)
def test_figures_are_those_of_the_code(words: str) -> None:
    assert words in PAGE


def test_inputs_and_policy_keys_exist() -> None:
    names = {item.name for item in INPUTS}
    for name in ("hub", "hf-token", "llm-url", "llm-key", "llm-model"):
        assert f"`{name}" in PAGE
        assert name in names
    assert parse_policy("analysis: {hub: true}").asks_hub
    assert parse_policy("analysis: {llm_for_forks: true}").may_forks_ask_llm
    for key in ("analysis.hub: true", "analysis.llm_for_forks: true"):
        assert f"`{key}`" in PAGE


def test_the_workflow_that_it_shows_is_what_init_writes() -> None:
    text = (Path(__file__).parents[2] / "docs" / "hub-and-llm.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```yaml\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    model = ModelEndpoint("https://api.example/v1", "some-model")
    assert f"gpu-lol init --llm-url {model.url} --llm-model {model.model}" in text
    choice = WorkflowChoice(Pin("main"), takes_forks=False, cloud="runpod", minute=7, model=model)
    assert block == workflow_files(choice, level=1)[PROPOSING]
    (job,) = yaml.safe_load(block)["jobs"].values()
    (step,) = job["steps"]
    assert set(step["with"]) <= {item.name for item in INPUTS}


def test_copilot_is_set_up_as_the_page_says() -> None:
    choice = WorkflowChoice(
        Pin("main"), takes_forks=False, cloud="runpod", minute=7, model=ModelEndpoint("copilot", "")
    )
    (job,) = yaml.safe_load(workflow_files(choice, level=1)[PROPOSING])["jobs"].values()
    assert job["permissions"]["copilot-requests"] == "write"
    assert job["steps"][0]["with"] == {"llm-url": "copilot"}
    pinned = (Path(__file__).parents[2] / "requirements" / "copilot.sha256").read_text(encoding="utf-8")
    versions = {line.split()[0] for line in pinned.splitlines() if not line.startswith("#")}
    for words in (
        "gpu-lol init --llm-url copilot",
        "`copilot-requests: write`",
        *(f"version {one}" for one in versions),
    ):
        assert words in PAGE
    recorded = Path(__file__).parents[1] / "fixtures" / "copilot" / "printed.json"
    assert versions == {json.loads(recorded.read_text())["version"]}
