"""What our ranking calls cheapest is what SkyPilot's own optimizer picks from the same catalog."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from gpu_lol_action.domain.offer import Ladder, Requirement
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers
from tests.support.sky_catalogs import ask_skypilot, write_catalogs

# Enabled clouds are named outright, because finding them needs credentials.
OPTIMIZER = """
import json, sys
import sky, sky.check
from sky import clouds, optimizer
sky.check.get_cached_enabled_clouds_or_refresh = lambda *a, **k: [clouds.RunPod(), clouds.Lambda()]
for offers in json.load(sys.stdin):
    with sky.Dag() as dag:
        task = sky.Task(run="true")
        task.set_resources({
            next(iter(sky.Resources.from_yaml_config({"infra": cloud, "accelerators": label, "disk_size": 60})))
            for cloud, label in offers})
    optimizer.Optimizer.optimize(dag, quiet=True)
    best = task.best_resources
    ((card, count),) = best.accelerators.items()
    print("ANSWER " + json.dumps([str(best.cloud).lower(), f"{card}:{int(count)}", round(best.get_cost(3600), 2)]))
"""
NEEDS = ((10, 1), (22, 1), (40, 1), (70, 1), (90, 1), (22, 4), (40, 2), (70, 8))


def ladder(gib: float, count: int) -> Ladder:
    requirement = Requirement(gib, count, clouds=("runpod", "lambda"))
    return rank_candidates(RankRequest(requirement, bundled_offers(), SNAPSHOT, timedelta(hours=1)))


def test_our_cheapest_is_what_skypilots_optimizer_picks(tmp_path: Path) -> None:
    write_catalogs(tmp_path)
    ladders = [ladder(gib, count) for gib, count in NEEDS]
    question = json.dumps([[(c.offer.cloud, c.offer.label) for c in found.candidates] for found in ladders])
    picked = [json.loads(line) for line in ask_skypilot(tmp_path, OPTIMIZER, question)]
    best = [found.best for found in ladders if found.best is not None]
    assert len(best) == len(NEEDS)
    assert picked == [[c.offer.cloud, c.offer.label, float(c.price_usd_per_hour)] for c in best]
