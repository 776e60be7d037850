"""``offers`` at both doors: what is asked for, what is in stock, where prices come from, and what a program reads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_lol_action.domain.command_spec import DoorKind
from gpu_lol_action.domain.lookup import Catalog, Unanswered
from gpu_lol_action.domain.market import Stock, StockAnswers, StockLevel, Template
from gpu_lol_action.domain.offer import Offer
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command, Outcome
from gpu_lol_action.handlers.askable import Lookups
from gpu_lol_action.handlers.offers import describe_offers, handle_offers
from gpu_lol_action.handlers.prices import LivePrices
from gpu_lol_action.intake.parser import parse_words
from tests.support.hands import START
from tests.unit.handlers.conftest import Bench

HEADER = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,SpotPrice,Price,AvailabilityZone,GpuInfo"
ONE_CARD = f"{HEADER}\n1x_L4_SECURE,L4,1.0,12.0,50.0,US,0.19,0.19,US-1,\n1x_B300_SECURE,B300,1,9,50,US,1,1,US-1,\n"


@dataclass
class ScriptedMarket:
    """Clouds that say what a test tells them to."""

    answers: StockAnswers
    asked: int = 0

    def stock(self, offers: Iterable[Offer]) -> StockAnswers:
        self.asked += 1
        assert list(offers)
        return self.answers

    def templates(self) -> tuple[Template, ...] | Unanswered:
        return ()


@dataclass
class ScriptedCatalogs:
    """A publisher who answers for RunPod alone."""

    begun: int = 0

    def begin(self, clouds: Iterable[str]) -> None:
        self.begun += bool(list(clouds))

    def read(self, clouds: Iterable[str]) -> dict[str, Catalog | Unanswered]:
        known = {"runpod": Catalog(ONE_CARD, START - timedelta(minutes=12))}
        return {cloud: known.get(cloud, Unanswered("it answered 500")) for cloud in clouds}


def given(line: str) -> Command:
    parsed = parse_words(["offers", *line.split()], DoorKind.TERMINAL)
    assert isinstance(parsed, Command), parsed
    return parsed


def told(line: str, market: ScriptedMarket | None = None, lookups: Lookups | None = None, folder: str = ".") -> Outcome:
    hands = (lambda: market) if market is not None else None
    return describe_offers(given(line), Path(folder), lookups or Lookups(), hands, lambda: START)


def live() -> Lookups:
    prices = LivePrices(ScriptedCatalogs())
    return Lookups(prices=lambda: prices)


def test_a_size_is_met_by_cards_that_are_sold_with_it() -> None:
    found = json.loads(told("24GB --format json").text)
    names = [offer["accelerator"] for offer in found["offers"]]
    assert "RTX4090" in names
    assert "RTXA4500" not in names
    prices = [Decimal(offer["price_usd_per_hour"]) for offer in found["offers"]]
    assert prices == sorted(prices)
    usable = json.loads(told("24GiB --format json").text)
    assert "RTX4090" not in [offer["accelerator"] for offer in usable["offers"]]


def test_all_names_every_card_once_per_cloud() -> None:
    found = json.loads(told("all --format json").text)["offers"]
    keys = [(offer["cloud"], offer["instance_type"]) for offer in found]
    assert len(keys) == len(set(keys))
    assert {offer["accelerator"] for offer in found} > {"RTX4090", "H100", "L4", "RTXA4000"}
    assert {offer["cloud"] for offer in found} == {"runpod", "lambda"}


def test_what_nothing_fits_says_why_and_is_no_success() -> None:
    outcome = told("900GB")
    assert (outcome.decision, outcome.reason_code) == ("denied", "nothing_fits")
    assert "🔴 No offer fits 1 × 900 GB" in outcome.text
    assert "180 GB, 900 needed" in outcome.text


def test_without_a_requirement_it_is_about_the_code_here(tmp_path: Path) -> None:
    (tmp_path / ".gpu-lol.yaml").write_text("hardware: {gpu_count: 2, vram_required_gb: 40}\n")
    outcome = told("", folder=str(tmp_path))
    assert "this code: 2 × 40 GB" in outcome.text
    assert "2 × A40" in outcome.text


def test_prices_say_when_they_were_asked_for_or_why_they_were_not() -> None:
    text = told("24GB --verbose", lookups=live()).text
    assert "RunPod asked 12 min ago" in text
    assert "Lambda bundled prices of 1 Sep 2026, 80 days old (it answered 500)" in text.replace("\n", " ")
    assert "$0.19/h" in text
    assert "cannot launch it" in text


def test_stock_is_asked_for_only_where_somebody_asks() -> None:
    market = ScriptedMarket({})
    assert "in stock" not in told("24GB", market).text
    assert market.asked == 0


def test_what_is_a_list_price_only_is_marked_so() -> None:
    market = ScriptedMarket(
        {
            "runpod": {
                ("RTXA5000", 1): Stock(StockLevel.NONE),
                ("A40", 1): Stock(StockLevel.HIGH, Decimal("0.41")),
                ("L4", 1): Stock(StockLevel.LOW, Decimal("0.49")),
            },
            "lambda": Unanswered("it tells that only to a key, and none is at hand"),
        }
    )
    text = " ".join(told("24GB --availability", market).text.split())
    assert "Cheapest in stock at this moment: 1 × A40, $0.41/h." in text
    assert "❌ none" in text
    assert "high, $0.41/h now" in text
    assert "low, " not in text, "a price that is the list's is not repeated"
    assert text.count("list price only") > 2
    assert "Lambda: list price only, it tells that only to a key, and none is at hand" in text
    found = json.loads(told("24GB --availability --format json", market).text)["offers"]
    levels = {offer["accelerator"]: offer["available"] for offer in found if offer["cloud"] == "runpod"}
    assert levels["A40"] == {"level": "high", "price_usd_per_hour": "0.41", "regions": []}
    assert levels["RTX4090"] is None


def test_nobody_who_could_be_asked_is_said_too() -> None:
    text = " ".join(told("24GB --availability").text.split())
    assert "RunPod: list price only, it has nothing that could be asked" in text
    assert "Cheapest in stock" not in text


def test_the_json_names_both_cheapest_with_money_as_text() -> None:
    found = json.loads(told("24GB --hours 4 --format json").text)
    assert found["currency"] == "USD"
    assert found["lease_hours"] == 4
    first = found["offers"][0]
    assert Decimal(first["lease_usd"]) == Decimal(first["price_usd_per_hour"]) * 4
    assert found["cheapest_per_hour"]["instance_type"] == first["instance_type"]
    assert Decimal(found["cheapest_per_work"]["price_usd_per_hour"]) <= Policy().max_price_usd_per_hour
    assert {"accelerator", "reason", "price_usd_per_hour"} <= set(found["rejected"][0])
    assert found["prices"]["runpod"]["as_of"] == "2026-09-01"


def test_a_comment_gets_a_reply_and_nothing_heavy_is_asked_for(bench: Bench) -> None:
    outcome = handle_offers(bench.context, bench.order("/gpu-lol offers", memory_gib=24.0, is_memory_as_sold=True))
    assert outcome.reason_code == "offers_shown"
    assert outcome.text == bench.texts[-1]
    assert "Nothing was launched" in outcome.text
    assert bench.cloud.log == []


def test_in_a_pull_request_it_is_about_its_code_and_its_policys_clouds(bench: Bench) -> None:
    (bench.forge.folder / ".gpu-lol.yaml").write_text("hardware: {gpu_count: 1, vram_required_gb: 40}\n")
    policy = replace(Policy(), clouds=("lambda",))
    text = handle_offers(bench.context, bench.order("/gpu-lol offers", policy=policy)).text
    assert "this code: 1 × 40 GB" in text
    assert "RunPod" not in text


@pytest.mark.parametrize("cloud", ["vast", "aws"])
def test_a_cloud_that_the_policy_does_not_allow_offers_nothing(cloud: str) -> None:
    assert told(f"24GB --cloud {cloud}").reason_code == "nothing_fits"


def test_a_moment_is_never_before_it_was_asked() -> None:
    early = LivePrices(ScriptedCatalogs())
    outcome = describe_offers(
        given("24GB"),
        Path(),
        Lookups(prices=lambda: early),
        None,
        lambda: datetime(2026, 11, 20, 11, tzinfo=timezone.utc),
    )
    assert "RunPod asked just now" in outcome.text
