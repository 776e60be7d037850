"""What our ranking calls cheapest is what SkyPilot's own optimizer picks from the same catalogs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_lol_action.domain.gpus import is_launchable
from tests.support.agreement import compare, tally
from tests.support.sky_catalogs import ask_skypilot, write_catalogs

HALF = 120
"""Of the requirements; two parts, so that two processors can share them."""
MEANT = {"Vast's spot price of 0.00 is no price", "SkyPilot holds no named machine to max_hourly_cost"}

LAUNCHABLE = """
import json
from sky.provision.runpod.utils import GPU_NAME_MAP
print("ANSWER " + json.dumps(sorted(GPU_NAME_MAP)))
"""


@pytest.mark.parametrize("part", [0, 1])
def test_our_cheapest_is_what_skypilots_optimizer_picks(tmp_path: Path, part: int) -> None:
    verdicts = compare(tmp_path, HALF, part * HALF)
    assert [verdict for verdict in verdicts if not verdict.kind] == []
    counts = tally(verdicts)
    assert set(counts) <= {"same", "tie", "none"} | MEANT
    assert counts["same"] >= HALF * 0.6
    assert sum(counts[kind] for kind in MEANT) <= HALF * 0.15


def test_the_cards_that_can_be_launched_are_those_that_skypilot_has_a_name_for(tmp_path: Path) -> None:
    write_catalogs(tmp_path)
    (line,) = ask_skypilot(tmp_path, LAUNCHABLE, "")
    names = json.loads(line)
    assert names
    assert [name for name in names if not is_launchable("runpod", name)] == []
    assert not is_launchable("runpod", "B300")
    assert not is_launchable("runpod", "CARD-OF-TOMORROW")
