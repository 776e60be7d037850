"""Money is Decimal from the catalog to the comment, and what is not known is never shown as nothing."""

from __future__ import annotations

import ast
import dataclasses
import re
import types
import typing
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_lol_action.domain.offer import Candidate, Ladder, PriceSource, Rejected, Requirement
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates
from gpu_lol_action.pricing.snapshot import SNAPSHOT, bundled_offers
from gpu_lol_action.render import comments
from gpu_lol_action.render.offers_json import offers_json
from gpu_lol_action.render.views_offers import OffersCase
from tests.golden.cases import CASES, NOW

PACKAGE = Path(__file__).resolve().parents[2] / "gpu_lol_action"
MONEY = re.compile(r"usd|price|cost|spend", re.IGNORECASE)
# Names with such a word that are no amount: a comparison, a list of sources, a share of a limit.
NO_AMOUNT = re.compile(
    r"^(?:_?price_refusal|prices?|live_prices|costs?|is_\w+|has_\w+|\w+_(?:source|text|view|words|day|days|limit_text))$"
)
# SkyPilot's own field wants a float, rounded up before; and a bar's length is no amount.
MAY_BE_FLOAT = {"launch/task.py", "render/views_budget.py"}

# What is really nothing: no machine has run long enough to cost a cent.
REAL_ZEROS = {
    name
    for name in CASES
    if re.match(r"(?:launching|ready|status|budget|torn_down|failed|no_capacity|unproven|ending|already|awaiting|sweep|extended|warning|"
                r"superseded|dry_run|proposal)", name)
}  # fmt: skip


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(PACKAGE))
        if not name.startswith("rehearsal/"):
            yield name, ast.parse(path.read_text())


def test_no_amount_of_money_is_declared_as_a_float() -> None:
    found = []
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
                target = node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)
                if (
                    MONEY.search(target)
                    and not NO_AMOUNT.match(target)
                    and re.search(r"\bfloat\b", ast.unparse(node.annotation))
                ):
                    found.append(f"{name}: {target}: {ast.unparse(node.annotation)}")
            if isinstance(node, ast.FunctionDef) and MONEY.search(node.name) and node.returns is not None:
                returned = ast.unparse(node.returns)
                if re.search(r"\bfloat\b", returned):
                    found.append(f"{name}: {node.name}() -> {returned}")
    assert found == []


def test_no_amount_of_money_is_turned_into_a_float() -> None:
    found = []
    for name, tree in modules():
        for node in ast.walk(tree):
            is_float = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"
            if is_float and MONEY.search(ast.unparse(node)):  # type: ignore[arg-type]  # a node
                found.append((name, ast.unparse(node)))  # type: ignore[arg-type]  # a node
    assert [(name, text) for name, text in found if name not in MAY_BE_FLOAT] == []


def test_the_snapshot_and_the_ladder_hold_exact_amounts() -> None:
    for offers in bundled_offers().values():
        for offer in offers:
            assert isinstance(offer.price_usd_per_hour, Decimal)
            assert offer.price_usd_per_hour > 0
            assert offer.spot_price_usd_per_hour is None or 0 < offer.spot_price_usd_per_hour < offer.price_usd_per_hour
    for kind in (Candidate, Rejected, Ladder, PriceSource):
        hints = typing.get_type_hints(kind)
        for field in dataclasses.fields(kind):
            if "usd" in field.name:
                assert Decimal in _members(hints[field.name]), field


def _members(hint: object) -> tuple[object, ...]:
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


@pytest.mark.parametrize("name", sorted(set(CASES) - REAL_ZEROS))
def test_no_comment_says_nothing_where_it_does_not_know(name: str) -> None:
    body = CASES[name]()
    assert not re.search(r"\$0(?:\.0+)?(?:/h|\b)(?!\.)", body), "an amount of nothing, where no machine has run"


@pytest.mark.parametrize("name", sorted(REAL_ZEROS))
def test_no_price_of_a_machine_is_nothing(name: str) -> None:
    body = CASES[name]()
    prices = [price for price in re.findall(r"\$(\d+(?:\.\d+)?)/h", body) if Decimal(price) == 0]
    assert prices == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_price_names_its_currency_and_its_time(name: str) -> None:
    body = re.sub(r"```.*?```|https?://\S+", "", CASES[name](), flags=re.DOTALL)
    # An amount by itself is for a stated time; a price for a time without end says which.
    for amount in re.findall(r"(?<![\w.$])\d+\.\d{2}/h", body):
        pytest.fail(f"{amount} has no currency")
    assert "USD" not in body or "$" in body


def empty_case() -> OffersCase:
    ladder = rank_candidates(
        RankRequest(Requirement(5000.0, 1, clouds=("runpod",)), bundled_offers(), SNAPSHOT, timedelta(hours=2))
    )
    return OffersCase("", ladder, {}, Policy(), Command("offers", "offers"), NOW)


def test_an_offer_without_a_price_is_none_and_an_answer_without_offers_has_no_amounts() -> None:
    offer = replace(bundled_offers()["runpod"][0], price_usd_per_hour=Decimal(0))
    ladder = rank_candidates(
        RankRequest(Requirement(10.0, 1, clouds=("runpod",)), {"runpod": (offer,)}, SNAPSHOT, timedelta(hours=2))
    )
    assert ladder.best is None
    assert ladder.rejected[0].reason == "the catalog shows no price for it"
    case = replace(empty_case(), ladder=ladder)
    assert "$0" not in comments.offers(case)
    assert "price unknown" in comments.offers(case)
    found = offers_json(empty_case())
    assert found["cheapest_per_hour"] is None
    assert found["cheapest_per_work"] is None
    assert "$0" not in comments.offers(empty_case())
