"""Generated requirements, put to our ladder and to SkyPilot's own optimizer over the same catalog files.

The question to SkyPilot is derived from the catalogs' rows by plain conditions of this file, not from our ladder: what both
must agree on is the cheapest of them, its price, and that there is none.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from gpu_lol_action.domain.gpus import accelerators, is_launchable, names_on
from gpu_lol_action.domain.offer import Candidate, Ladder, Requirement
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates
from gpu_lol_action.pricing.catalogs import read_catalog
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers
from tests.support.sky_catalogs import ask_skypilot

CLOUDS = ("runpod", "lambda", "vast", "nebius")
# Without spot machines SkyPilot has nothing to choose from on Lambda, whatever its catalog says.
SPOTLESS = frozenset({"lambda"})
MAX_ASKED = 12
HEADER = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,GpuInfo"
REGIONS = {"runpod": ("US", "CA", "RO"), "lambda": ("us-east-1", "us-west-2"), "nebius": ("eu-north1", "us-central1"),
           "vast": ("Oregon, US, NA", "Paris, FR, EU")}  # fmt: skip

# Enabled clouds are named outright, because finding them needs credentials.
OPTIMIZER = """
import json, sys
import sky, sky.check
from sky import clouds, exceptions, optimizer
enabled = [clouds.RunPod(), clouds.Lambda(), clouds.Vast(), clouds.Nebius()]
sky.check.get_cached_enabled_clouds_or_refresh = lambda *a, **k: enabled
for asked in json.load(sys.stdin):
    found = None
    if asked:
        with sky.Dag() as dag:
            task = sky.Task(run="true")
            task.set_resources({next(iter(sky.Resources.from_yaml_config(each))) for each in asked})
        try:
            optimizer.Optimizer.optimize(dag, quiet=True)
        except exceptions.ResourcesUnavailableError:
            pass
        else:
            best = task.best_resources
            ((card, count),) = best.accelerators.items()
            found = [str(best.cloud).lower(), f"{card}:{int(count)}", round(best.get_cost(3600), 4)]
    print("ANSWER " + json.dumps(found))
"""


@dataclass(frozen=True)
class Asked:
    """One generated requirement, with the limit on its price."""

    requirement: Requirement
    cap: Decimal | None


@dataclass(frozen=True)
class Verdict:
    """What came of one question: ``kind`` is same, tie, none, or the reason of a difference that is meant; empty: a fault."""

    asked: Asked
    ours: Candidate | None
    theirs: list[object] | None
    kind: str


def catalog_texts() -> dict[str, str]:
    """Return catalogs as they are published, with their quirks: RunPod's spot, Vast's zero, prices that differ by region."""
    texts = {}
    for cloud in CLOUDS:
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        out.write(HEADER + "\n")
        for offer in bundled_offers()[cloud]:
            for index, region in enumerate(REGIONS[cloud]):
                # Vast's prices differ from place to place; the others' do not.
                price = offer.price_usd_per_hour * (Decimal("1.25") if cloud == "vast" and index else 1)
                spot = {"runpod": price, "vast": Decimal("0.00")}.get(cloud, offer.spot_price_usd_per_hour)
                total = round(offer.memory_gib_per_gpu / 0.99 * 1024) * offer.accelerator_count
                info = "{'TotalGpuMemoryInMiB': %d}" % (total if cloud == "vast" else 80)  # noqa: UP031 - braces
                rows.writerow([offer.instance_type, offer.accelerator, float(offer.accelerator_count), offer.vcpus,
                               offer.memory_gib, price, "" if spot is None else spot, region, info])  # fmt: skip
        texts[cloud] = out.getvalue()
    return texts


def write_home(home: Path, texts: dict[str, str]) -> None:
    """Write the catalogs where SkyPilot reads them; without checksums beside them it never refreshes them."""
    names = sorted({row["AcceleratorName"] for text in texts.values() for row in csv.DictReader(io.StringIO(text))})
    common = "AcceleratorName,Clouds\n" + "".join(
        f"{name},\"['RunPod', 'Lambda', 'Vast', 'Nebius']\"\n" for name in names
    )
    for path, text in [
        *((f"{cloud}/vms.csv", text) for cloud, text in texts.items()),
        ("common/accelerators.csv", common),
    ]:
        target = home / ".sky/catalogs/v8" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def generate(count: int) -> list[Asked]:
    """Return so many requirements, the same in every run."""
    chance = random.Random(20261120)  # noqa: S311 - the same ones in every run are what is wanted
    cards = sorted({offer.accelerator for cloud in CLOUDS for offer in bundled_offers()[cloud]} & set(accelerators()))
    found = []
    for _ in range(count):
        clouds = tuple(chance.sample(CLOUDS, chance.choice((1, 2, 2, 3, 4))))
        asked = Requirement(float(chance.choice((8, 12, 15, 20, 23, 24, 30, 40, 45, 60, 75, 79, 90, 120, 150))),
                            chance.choice((1, 1, 1, 1, 2, 2, 3, 4, 5, 8)), clouds=clouds)  # fmt: skip
        if chance.random() < 0.2:
            asked = replace(asked, use_spot=True)
        if chance.random() < 0.2:
            asked = replace(asked, cpus=chance.choice((8, 16, 30, 60)), memory_gib=float(chance.choice((32, 100, 200))))
        if chance.random() < 0.15:
            asked = replace(asked, clouds=clouds[:1], region=chance.choice(REGIONS[clouds[0]]))
        if chance.random() < 0.15:
            asked = replace(asked, accelerator=chance.choice(cards), memory_gib_per_gpu=0.0)
        cap = Decimal(chance.choice(("0.30", "0.75", "1.50", "3.00", "12.00"))) if chance.random() < 0.2 else None
        found.append(Asked(asked, cap))
    return found


def ladder(asked: Asked, texts: dict[str, str]) -> Ladder:
    """Return what we make of it, from the same files."""
    offers = {cloud: read_catalog(cloud, text) for cloud, text in texts.items()}
    return rank_candidates(RankRequest(asked.requirement, offers, SNAPSHOT, timedelta(hours=1), asked.cap))


def question(asked: Asked, texts: dict[str, str]) -> list[dict[str, object]]:
    """Return what SkyPilot is asked: every machine of the catalogs whose cards have the memory, are enough, and are ours to take."""
    wanted, found = asked.requirement, {}
    rows = [(cloud, row) for cloud in wanted.clouds for row in csv.DictReader(io.StringIO(texts[cloud]))]
    column = "SpotPrice" if wanted.use_spot else "Price"
    # Nothing dearer than the cheapest ones can be the answer, and SkyPilot takes its time over each.
    rows = sorted((r for r in rows if _may_be_taken(*r, wanted)), key=lambda row: float(row[1][column] or "inf"))
    for cloud, row in rows:
        each: dict[str, object] = {
            "infra": f"{cloud}/{wanted.region}" if wanted.region else cloud,
            "accelerators": f"{row['AcceleratorName']}:{int(float(row['AcceleratorCount']))}",
            "use_spot": wanted.use_spot,
            "disk_size": 60,
        }
        if cloud == "vast":  # several cards go by one name there: our tasks name the machine as well
            each["instance_type"] = row["InstanceType"]
        else:
            each |= {"cpus": f"{wanted.cpus}+"} if wanted.cpus else {}
            each |= {"memory": f"{wanted.memory_gib:g}+"} if wanted.memory_gib else {}
        if asked.cap is not None:
            each["max_hourly_cost"] = float(asked.cap)
        found[json.dumps(each)] = each
    return list(found.values())[:MAX_ASKED]


def _may_be_taken(cloud: str, row: dict[str, str], wanted: Requirement) -> bool:
    card, name = accelerators()[row["AcceleratorName"]], row["AcceleratorName"]
    if float(row["AcceleratorCount"]) < wanted.gpu_count or not is_launchable(cloud, name) or card.is_arm:
        return False
    if wanted.region and row["Region"] != wanted.region:
        return False
    if (wanted.cpus or 0) > float(row["vCPUs"]) or (wanted.memory_gib or 0) > float(row["MemoryGiB"]):
        return False
    if wanted.accelerator is not None:
        return name in names_on(cloud, wanted.accelerator)
    gib = card.memory_gib
    if cloud == "vast":
        total = int(row["GpuInfo"].partition(": ")[2].rstrip("}"))
        gib = total / float(row["AcceleratorCount"]) / 1024 * 0.99
    return (
        card.is_nvidia and (card.compute_capability or (0, 0)) >= (8, 0) and round(gib, 1) >= wanted.memory_gib_per_gpu
    )


def judge(asked: Asked, found: Ladder, theirs: list[object] | None) -> Verdict:
    """Compare two answers; a difference counts as meant only for a reason that its answer shows."""
    best = found.best
    kind = ""
    if theirs is not None and asked.cap is not None and theirs[0] == "vast" and _usd(theirs) > asked.cap:
        # Nothing may cost so much; SkyPilot answers all the same, for it holds no named machine to its price limit.
        kind = "SkyPilot holds no named machine to max_hourly_cost" if best is None else ""
    elif best is None or theirs is None:
        kind = "none" if best is None and theirs is None else ""
    elif [best.offer.cloud, best.offer.label, float(round(best.price_usd_per_hour, 4))] == theirs:
        kind = "same"
    elif asked.requirement.use_spot and theirs[0] == "vast" and theirs[2] == 0.0:
        kind = "Vast's spot price of 0.00 is no price"
    elif theirs[2] == float(round(best.price_usd_per_hour, 4)) and theirs[:2] in _at_best_price(found):
        kind = "tie"
    return Verdict(asked, best, theirs, kind)


def _usd(theirs: list[object]) -> Decimal:
    return Decimal(str(theirs[2]))


def _at_best_price(found: Ladder) -> list[list[str]]:
    return [
        [c.offer.cloud, c.offer.label]
        for c in found.candidates
        if found.best and c.price_usd_per_hour == found.best.price_usd_per_hour
    ]


def compare(home: Path, count: int, first: int = 0) -> list[Verdict]:
    """Ask both about so many requirements, from the ``first`` on, and judge."""
    texts, asked = catalog_texts(), generate(first + count)[first:]
    write_home(home, texts)
    theirs = ask_skypilot(home, OPTIMIZER, json.dumps([question(each, texts) for each in asked]))
    assert len(theirs) == count
    return [judge(each, ladder(each, texts), json.loads(line)) for each, line in zip(asked, theirs, strict=True)]


def tally(verdicts: Iterable[Verdict]) -> Counter[str]:
    """Count the verdicts by kind."""
    return Counter(verdict.kind or "unexplained" for verdict in verdicts)
