from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.handlers.askable import NO_LOOKUPS
from gpu_lol_action.handlers.concluding import Compared, Fetched, conclude_change
from gpu_lol_action.handlers.propose_smoke import smoke_cost
from gpu_lol_action.pricing.smoke_cost import SmokeCost

NOW = datetime(2026, 11, 20, 15, 0, tzinfo=timezone.utc)
NIGHTLY = "41 3 * * *"
SPEC = "hardware: {gpu_type: A40, vram_required_gb: 20}\n"


def read(root: Path, spec: str, base: str | None = None) -> Compared:
    trees = []
    for name, text in (("head", spec), ("base", base)):
        if text is None:
            trees.append(None)
            continue
        folder = root / name
        folder.mkdir()
        (folder / ".gpu-lol.yaml").write_text(text, encoding="utf-8")
        trees.append(Fetched(name, read_checkout(folder)))
    head, before = trees
    assert head is not None
    return conclude_change(head, before, Policy())


def cost(compared: Compared, cron: str = "") -> SmokeCost:
    found = smoke_cost(compared, Policy(), NO_LOOKUPS, NOW, cron)
    assert found is not None
    return found


def test_neither_test_nor_schedule_says_nothing(tmp_path: Path) -> None:
    assert smoke_cost(read(tmp_path, SPEC), Policy(), NO_LOOKUPS, NOW) is None


def test_schedule_runs_the_default_test_where_the_spec_has_none(tmp_path: Path) -> None:
    found = cost(read(tmp_path, SPEC), NIGHTLY)
    assert found.machines == 1
    assert found.run_usd is not None
    assert found.run_usd > 0
    assert found.base_run_usd is None
    assert found.schedule is not None
    assert found.schedule.runs_a_month == 31


def test_each_card_of_the_matrix_has_its_own_price(tmp_path: Path) -> None:
    alone = cost(read(tmp_path, SPEC), NIGHTLY).run_usd
    (tmp_path / "two").mkdir()
    both = cost(read(tmp_path / "two", SPEC + "smoke: {gpus: [A40, H100]}\n"))
    assert both.machines == 2
    assert both.schedule is None
    assert alone is not None
    assert both.run_usd is not None
    assert both.run_usd > 2 * alone


def test_base_is_priced_by_its_own_spec(tmp_path: Path) -> None:
    found = cost(read(tmp_path, SPEC.replace("A40", "H100"), SPEC), NIGHTLY)
    assert found.run_usd is not None
    assert found.base_run_usd is not None
    assert found.run_usd > found.base_run_usd


@pytest.mark.parametrize("spec", ["meta: {workload_type: cpu-only}\n", SPEC.replace("20", "900")])
def test_what_no_machine_fits_is_unknown(tmp_path: Path, spec: str) -> None:
    found = cost(read(tmp_path, spec), NIGHTLY)
    assert found.run_usd is None
    assert found.run_usd != Decimal(0)
