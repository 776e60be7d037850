"""The catalogs' adapter against a server that speaks like GitHub's, over real HTTP, and what a run makes of its answers."""

from __future__ import annotations

import gzip
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_lol_action.adapters.catalogs import FRESH, MAX_BYTES, CatalogClient, CatalogSettings
from gpu_lol_action.domain.lookup import Catalog, Unanswered
from gpu_lol_action.domain.offer import PriceList, Requirement
from gpu_lol_action.handlers.prices import PUBLISHED, TOO_LARGE, LivePrices
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates
from gpu_lol_action.pricing.snapshot import SNAPSHOT, SNAPSHOT_NAME, bundled_offers
from tests.support.web import Said, Seen, Web

HEADER = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,SpotPrice,Price,AvailabilityZone,GpuInfo"
TEXT = f"{HEADER}\n1x_L4_SECURE,L4,1.0,12.0,50.0,US,0.19,0.19,US-1,\n"


def now() -> datetime:
    return datetime.now(timezone.utc)


def client(web: Web, folder: Path | None = None, *, box_s: float = 20, at: datetime | None = None) -> CatalogClient:
    settings = CatalogSettings(web.address, folder, timedelta(seconds=box_s))
    return CatalogClient(settings, now if at is None else lambda: at)


def answer(web: Web, said: Said, **options: object) -> Catalog | Unanswered:
    web.script = lambda _seen: said
    return client(web, **options).read(["runpod"])["runpod"]  # type: ignore[arg-type]  # keyword bag


def prices(web: Web, *clouds: str, box_s: float = 20) -> PriceList:
    return LivePrices(client(web, box_s=box_s)).of(clouds)


def test_one_file_per_cloud_is_asked_for_where_skypilot_looks(web: Web) -> None:
    web.script = lambda _seen: Said(TEXT.encode())
    asked = client(web)
    found = asked.read(["runpod", "lambda"])
    assert sorted(seen.path for seen in web.seen) == ["/lambda/vms.csv", "/runpod/vms.csv"]
    assert {type(each) for each in found.values()} == {Catalog}
    asked.read(["lambda", "runpod"])
    assert len(web.seen) == 2


def test_a_packed_answer_is_unpacked(web: Web) -> None:
    found = answer(web, Said(gzip.compress(TEXT.encode()), headers={"Content-Encoding": "gzip"}))
    assert isinstance(found, Catalog)
    assert found.text == TEXT


@pytest.mark.parametrize(
    ("said", "what"),
    [
        (Said(b"no", 404), "404"),
        (Said(b"no", 503), "503"),
        (Said(b"\xff\xfe"), "no text"),
        (Said(b"x" * (MAX_BYTES + 1)), "longer than"),
        (Said(gzip.compress(b"x" * (MAX_BYTES + 1)), headers={"Content-Encoding": "gzip"}), "longer than"),
        (Said(b"not gzip", headers={"Content-Encoding": "gzip"}), "unpacked"),
        (Said(gzip.compress(TEXT.encode())[:-12], headers={"Content-Encoding": "gzip"}), "breaks off"),
        (Said(b"x", headers={"Content-Encoding": "br"}), "packed"),
        (Said(status=302, headers={"Location": "http://elsewhere.example/vms.csv"}), "redirects"),
    ],
)
def test_what_is_no_answer_is_said_in_our_own_words(web: Web, said: Said, what: str) -> None:
    found = answer(web, said)
    assert isinstance(found, Unanswered)
    assert what in found.what


def test_a_server_that_never_ends_is_left_behind(web: Web) -> None:
    found = answer(web, Said(b"", chunks=(b"x",) * 1000, pause_s=60), box_s=0.3)
    assert isinstance(found, Unanswered)


@pytest.mark.parametrize("address", ["", "ftp://x/y", "http://user:word@127.0.0.1/", "http://127.0.0.1:1"])
def test_an_address_that_cannot_be_asked_is_an_answer_too(address: str) -> None:
    found = CatalogClient(CatalogSettings(address, None), now).read(["runpod"])["runpod"]
    assert isinstance(found, Unanswered)


def test_a_kept_answer_is_asked_for_again_by_its_tag_when_it_is_old(web: Web, tmp_path: Path) -> None:
    start = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)

    def script(seen: Seen) -> Said:
        if seen.headers.get("if-none-match") == '"one"':
            return Said(status=304)
        return Said(TEXT.encode(), headers={"ETag": '"one"'})

    web.script = script
    times = [start, start + FRESH / 2, start + FRESH, start + FRESH * 3 / 2]
    found = [client(web, tmp_path, at=at).read(["runpod"])["runpod"] for at in times]
    assert [each.asked_at for each in found if isinstance(each, Catalog)] == [start, start, times[2], times[2]]
    assert [seen.headers.get("if-none-match") for seen in web.seen] == [None, '"one"']


def test_an_old_answer_is_better_than_none(web: Web, tmp_path: Path) -> None:
    start = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)
    web.script = lambda _seen: Said(TEXT.encode(), headers={"ETag": '"one"'})
    client(web, tmp_path, at=start).read(["runpod"])
    web.script = lambda _seen: Said(b"down", 500)
    later = client(web, tmp_path, at=start + timedelta(days=3)).read(["runpod"])["runpod"]
    assert later == Catalog(TEXT, start)


def test_a_cache_that_somebody_wrote_into_is_no_cache(web: Web, tmp_path: Path) -> None:
    web.script = lambda _seen: Said(TEXT.encode())
    client(web, tmp_path).read(["runpod"])
    for file in tmp_path.iterdir():
        file.write_text('{"key": [], "fields": 1}')
    assert isinstance(client(web, tmp_path).read(["runpod"])["runpod"], Catalog)
    assert len(web.seen) == 2


def test_published_prices_take_the_place_of_the_snapshots(web: Web) -> None:
    web.script = lambda _seen: Said(TEXT.encode())
    listed = prices(web, "runpod")
    ladder = rank_candidates(
        RankRequest(Requirement(20, 1, clouds=("runpod",)), listed.offers, listed.source, timedelta(hours=2))
    )
    assert ladder.best is not None
    assert (ladder.best.offer.label, ladder.best.price_usd_per_hour) == ("L4:1", Decimal("0.19"))
    assert (ladder.source.name, ladder.source.is_live) == (PUBLISHED, True)


def test_a_cloud_that_does_not_answer_is_priced_by_the_snapshot_and_says_why(web: Web) -> None:
    web.script = lambda seen: Said(TEXT.encode()) if "runpod" in seen.path else Said(b"", 500)
    listed = prices(web, "runpod", "lambda", "aws")
    assert listed.source.is_live
    assert listed.offers["lambda"] == bundled_offers()["lambda"]
    assert (listed.source.of("lambda").name, listed.source.of("lambda").why) == (SNAPSHOT_NAME, "it answered 500")
    assert (listed.source.of("aws").is_live, listed.source.of("aws").why) == (False, TOO_LARGE)
    assert {seen.path for seen in web.seen} == {"/runpod/vms.csv", "/lambda/vms.csv"}


@pytest.mark.parametrize("text", ["", "<html>", HEADER, f"{HEADER}\n,,,", "\0\0", "a,b\n" * 100])
def test_nothing_that_a_catalog_says_stops_a_run(web: Web, text: str) -> None:
    web.script = lambda _seen: Said(text.encode())
    listed = prices(web, "runpod")
    assert listed.offers["runpod"] == bundled_offers()["runpod"]
    assert listed.source.as_of == SNAPSHOT.of("runpod").as_of
    assert listed.source.of("runpod").why


def test_a_kept_answer_older_than_the_snapshot_gives_way_to_it() -> None:
    class Old:
        def begin(self, _clouds: object) -> None:
            raise AssertionError

        def read(self, _clouds: object) -> dict[str, Catalog | Unanswered]:
            return {"runpod": Catalog(TEXT, datetime(2020, 1, 1, tzinfo=timezone.utc))}

    listed = LivePrices(Old()).of(["runpod"])  # the catalogs themselves are not what is tried here
    assert listed.offers["runpod"] == bundled_offers()["runpod"]
