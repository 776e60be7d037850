"""The clouds' own interfaces over real HTTP: what they say of their stock and templates, and what they must not break."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal

import pytest

from gpu_lol_action.adapters.cloud_market import CloudMarket
from gpu_lol_action.adapters.runpod import RunPodApi
from gpu_lol_action.domain.lookup import Unanswered
from gpu_lol_action.domain.market import Stock, StockLevel, Template
from gpu_lol_action.domain.offer import Offer
from gpu_lol_action.pricing.snapshot import bundled_offers
from gpu_lol_action.rehearsal.catalog import rented_gpus
from tests.support.web import Said, Seen, Web, said_json

KEY = "rpa_" + "k" * 40


def now() -> datetime:
    return datetime.now(timezone.utc)


def market(web: Web, **keys: str) -> CloudMarket:
    return CloudMarket(now, keys, {"runpod": web.address, "lambda": web.address})


def offers(cloud: str, *labels: str) -> list[Offer]:
    return [offer for offer in bundled_offers()[cloud] if offer.label in labels]


def gpu(name: str, **lowest: object) -> dict[str, object]:
    return {"id": name, "secureCloud": True, **lowest}


def types(*rows: object) -> Said:
    return said_json({"data": {"gpuTypes": list(rows)}})


def test_runpod_says_level_and_price_of_now_for_each_count(web: Web) -> None:
    web.script = lambda _seen: types(
        gpu("NVIDIA A40", c1={"stockStatus": "High", "uninterruptablePrice": 0.41},
            c2={"stockStatus": "Low", "uninterruptablePrice": 0.82}),
        gpu("NVIDIA GeForce RTX 4090", c1={"stockStatus": None, "uninterruptablePrice": None}, c2=None),
    )  # fmt: skip
    found = market(web, runpod=KEY).stock(offers("runpod", "A40:1", "A40:2", "RTX4090:1", "L4:1"))["runpod"]
    assert found == {
        ("A40", 1): Stock(StockLevel.HIGH, Decimal("0.41")),
        ("A40", 2): Stock(StockLevel.LOW),
        ("RTX4090", 1): Stock(StockLevel.NONE),
    }
    (seen,) = web.seen
    assert (seen.method, seen.path, seen.headers["authorization"]) == ("POST", "/graphql", f"Bearer {KEY}")
    query = str(seen.fields["query"])
    assert "mutation" not in query
    assert "c2: lowestPrice(input: {gpuCount: 2, secureCloud: true})" in query


def test_runpod_tells_its_stock_to_anybody_and_no_key_is_made_up(web: Web) -> None:
    web.script = lambda _seen: types(gpu("NVIDIA L4", c1={"stockStatus": "Medium", "uninterruptablePrice": 0.3}))
    assert market(web).stock(offers("runpod", "L4:1"))["runpod"] == {
        ("L4", 1): Stock(StockLevel.MEDIUM, Decimal("0.3"))
    }
    assert "authorization" not in web.seen[0].headers


def test_every_card_that_runpod_rents_is_known_by_its_id(web: Web) -> None:
    rows = [gpu(gpu_id, c1={"stockStatus": "High", "uninterruptablePrice": 1}) for gpu_id in rented_gpus()]
    web.script = lambda _seen: types(*rows)
    singles = [offer for offer in bundled_offers()["runpod"] if offer.accelerator_count == 1]
    found = market(web).stock(singles)["runpod"]
    assert not isinstance(found, Unanswered)
    assert {name for name, _count in found} == {offer.accelerator for offer in singles}


def test_community_machines_do_not_count(web: Web) -> None:
    row = {"id": "NVIDIA A40", "secureCloud": False, "c1": {"stockStatus": "High", "uninterruptablePrice": 0.2}}
    web.script = lambda _seen: types(row)
    assert market(web).stock(offers("runpod", "A40:1"))["runpod"] == {("A40", 1): Stock(StockLevel.NONE)}


def test_lambda_says_where_it_has_a_machine(web: Web) -> None:
    web.script = lambda _seen: said_json({"data": {
        "gpu_1x_a10": {"instance_type": {"price_cents_per_hour": 75},
                       "regions_with_capacity_available": [{"name": "us-east-1"}, {"name": "us-west-2"}]},
        "gpu_1x_a100": {"instance_type": {"price_cents_per_hour": 199}, "regions_with_capacity_available": []},
        "gpu_1x_a100_sxm4": {"instance_type": {}, "regions_with_capacity_available": [{"name": "us-south-1"}]},
    }})  # fmt: skip
    found = market(web, **{"lambda": KEY}).stock(offers("lambda", "A10:1", "A100:1", "H100:1"))["lambda"]
    assert found == {
        ("A10", 1): Stock(StockLevel.SOME, Decimal("0.75"), ("us-east-1", "us-west-2")),
        ("A100", 1): Stock(StockLevel.SOME, None, ("us-south-1",)),
    }
    assert (web.seen[0].method, web.seen[0].path) == ("GET", "/api/v1/instance-types")


def test_lambda_is_not_asked_without_a_key_and_other_clouds_never(web: Web) -> None:
    asked = market(web).stock([*offers("lambda", "A10:1"), *offers("vast", "A40:1"), *offers("nebius", "H100:1")])
    assert set(asked) == {"lambda"}
    assert isinstance(asked["lambda"], Unanswered)
    assert web.seen == []


HOSTILE = [
    Said(b"", 500),
    Said(b"", 403),
    Said(b"not json"),
    Said(b"[" * 100_000),
    said_json({"data": None, "errors": [{"message": "<script>"}]}),
    said_json({"data": {"gpuTypes": "none", "myself": []}}),
    said_json({"data": {"gpuTypes": [None, 1, "x"], "myself": {"podTemplates": {"a": 1}}}}),
    said_json([]),
    Said(b"x" * (2 * 1024 * 1024)),
    Said(status=302, headers={"Location": "https://elsewhere.example/"}),
]


@pytest.mark.parametrize("said", HOSTILE)
def test_nothing_that_a_cloud_answers_stops_anything(web: Web, said: Said) -> None:
    web.script = lambda _seen: said
    asked = market(web, runpod=KEY, **{"lambda": KEY}).stock([*offers("runpod", "A40:1"), *offers("lambda", "A10:1")])
    for answer in asked.values():
        assert isinstance(answer, Unanswered) or answer == {}
    assert isinstance(market(web, runpod=KEY).templates(), Unanswered)


@pytest.mark.parametrize("lowest", [{"stockStatus": "High", "uninterruptablePrice": price} for price in
                                    (0, -1, True, "1", None, 1e9, float("inf"), [1])])  # fmt: skip
def test_a_price_that_is_none_is_not_shown_as_one(web: Web, lowest: object) -> None:
    web.script = lambda _seen: types(gpu("NVIDIA A40", c1=lowest))
    assert market(web).stock(offers("runpod", "A40:1"))["runpod"] == {("A40", 1): Stock(StockLevel.HIGH)}


def test_a_key_does_not_cross_the_network_in_the_clear() -> None:
    found = RunPodApi(now, KEY, "http://198.51.100.7").templates()
    assert isinstance(found, Unanswered)
    assert "unencrypted" in found.what


def test_templates_are_the_accounts_and_what_is_odd_is_left_out(web: Web) -> None:
    def script(seen: Seen) -> Said:
        assert "podTemplates" in str(seen.fields["query"])
        return said_json({"data": {"myself": {"podTemplates": [
            {"id": "a", "name": "team", "imageName": "acme/dev:1", "containerDiskInGb": 60, "containerRegistryAuthId": "x"},
            {"id": "runpod-torch-v280", "name": "Runpod Pytorch 2.8.0",
             "imageName": "runpod/pytorch:1.0.2-cu1281-torch280-ubuntu2204", "containerDiskInGb": True},
            {"id": "b", "name": None, "imageName": "x"}, {"id": "c", "name": "n\x1b[31m", "imageName": "x"},
            {"id": "d", "name": "n" * 300, "imageName": "x"}, "text",
        ]}}})  # fmt: skip

    web.script = script
    assert market(web, runpod=KEY).templates() == (
        Template("a", "team", "acme/dev:1", 60, is_private=True),
        Template("runpod-torch-v280", "Runpod Pytorch 2.8.0", "runpod/pytorch:1.0.2-cu1281-torch280-ubuntu2204"),
    )
    assert isinstance(market(web).templates(), Unanswered)
    assert len(web.seen) == 1
