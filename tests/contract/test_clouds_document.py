"""docs/clouds.md says of each cloud what the installed SkyPilot says, and our own lists agree with it."""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from gpu_lol_action.launch.task import CLOUDS_WITH_MANY_NODES, CLOUDS_WITH_OWN_END
from gpu_lol_action.pricing.candidates import CLOUDS_WITH_SPOT

PATH = Path(__file__).resolve().parents[2] / "scripts" / "render-clouds"


def load_script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("render_clouds", str(PATH))
    spec = importlib.util.spec_from_loader("render_clouds", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


SCRIPT = load_script()
# SkyPilot takes its time to start, and says the same to the table and to the lists.
SCRIPT.ask_skypilot = functools.cache(SCRIPT.ask_skypilot)


@pytest.fixture(scope="module")
def refused() -> dict[str, set[str]]:
    """What SkyPilot says that it cannot do, by cloud."""
    said = SCRIPT.ask_skypilot()["clouds"]
    return {cloud: set(answer["refused"]) for cloud, answer in said.items()}


@pytest.mark.docs
def test_table_is_what_skypilot_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert SCRIPT.main(["--check"]) == 0, capsys.readouterr().out


def test_spot_is_offered_where_skypilot_has_it(refused: dict[str, set[str]]) -> None:
    assert {cloud for cloud, features in refused.items() if "spot_instance" not in features} == CLOUDS_WITH_SPOT & set(
        refused
    )


def test_several_nodes_are_offered_where_skypilot_links_them(refused: dict[str, set[str]]) -> None:
    able = {cloud for cloud, features in refused.items() if "multi-node" not in features}
    assert able == CLOUDS_WITH_MANY_NODES & set(refused)


def test_machines_end_themselves_only_where_skypilot_can_do_it(refused: dict[str, set[str]]) -> None:
    assert all("autodown" not in refused[cloud] for cloud in CLOUDS_WITH_OWN_END)
