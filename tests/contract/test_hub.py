"""The Hub's adapter against a server that speaks like the Hub, over real HTTP: what it takes, and all that it must survive."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gpu_lol_action.adapters.hub import HubClient, HubSettings
from gpu_lol_action.adapters.hub_cache import FRESH, MAX_ENTRIES, HubCache, Kept
from gpu_lol_action.domain.lookup import HubPage, Unanswered
from tests.support.web import Said, Seen, Web, own_certificate, said_json, web_server

ID = "acme/tiny-1.3b"
CONFIG = {"architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "num_hidden_layers": 24}
TOKEN = "hf_" + "t" * 30


def now() -> datetime:
    return datetime.now(timezone.utc)


def client(web: Web, folder: Path | None = None, *, token: str = "", box_s: float = 5) -> HubClient:
    return HubClient(HubSettings(web.address, token, folder, timedelta(seconds=box_s)), now)


def config(web: Web, said: Said, **options: object) -> object:
    """Return what the client makes of an answer to the one page that it asks for."""
    web.script = lambda _seen: said
    return client(web, **options).read(ID, HubPage.CONFIG)  # type: ignore[arg-type]  # keyword bag


def what(answer: object) -> str:
    assert isinstance(answer, Unanswered), answer
    return answer.what


def test_the_pages_are_those_of_the_hub(web: Web) -> None:
    web.script = lambda _seen: said_json({"id": ID})
    hub = client(web)
    assert [hub.read(ID, page) for page in HubPage] == [{"id": ID}] * 4
    assert [seen.path.partition("?")[0] for seen in web.seen] == [
        f"/api/models/{ID}",
        f"/{ID}/resolve/main/config.json",
        f"/{ID}/resolve/main/adapter_config.json",
        f"/api/models/{ID}",
    ]
    assert "safetensors" in web.seen[0].path
    assert {seen.method for seen in web.seen} == {"GET"}


@pytest.mark.parametrize(
    "model_id",
    ["", "gpt2", "../../etc/passwd", "a/../../b", "a/b/c", "a/b?x=1", "a/b#c", "a/ b", "a/b\n", "a/..", "models/llama-7b",
     "http://evil.example/a", "a\\b/c", "a/b%2f..", "é/b", "a/" + "b" * 200, "a/b--c", "a/b.git", "-a/b"],
)  # fmt: skip
def test_what_is_no_id_of_the_hub_is_not_asked(web: Web, model_id: str) -> None:
    assert isinstance(client(web).read(model_id, HubPage.CONFIG), Unanswered)
    assert web.seen == []


def test_a_redirect_on_the_same_host_is_followed(web: Web) -> None:
    def script(seen: Seen) -> Said:
        if "resolve-cache" in seen.path:
            return said_json(CONFIG)
        return Said(status=307, headers={"Location": f"/api/resolve-cache/models/{ID}/abc/config.json?etag=1"})

    web.script = script
    assert client(web, token=TOKEN).read(ID, HubPage.CONFIG) == CONFIG
    assert [seen.headers["authorization"] for seen in web.seen] == [f"Bearer {TOKEN}"] * 2


def test_a_redirect_to_another_host_is_not_followed(web: Web) -> None:
    with web_server() as other:
        other.script = lambda _seen: said_json(CONFIG)
        said = Said(status=302, headers={"Location": f"{other.address}/config.json"})
        assert "another host" in what(config(web, said, token=TOKEN))
        assert other.seen == []


@pytest.mark.parametrize("place", ["file:///etc/passwd", "//evil.example/x", "http://[::1/x", "", "ftp://a/b"])
def test_a_redirect_to_nowhere_ends(web: Web, place: str) -> None:
    said = Said(status=302, headers={"Location": place.encode("utf-8").decode("latin-1")})
    assert isinstance(config(web, said), Unanswered)
    assert len(web.seen) == 1


def test_a_circle_of_redirects_ends(web: Web) -> None:
    assert "circle" in what(config(web, Said(status=302, headers={"Location": "/again"})))
    assert len(web.seen) == 5


def test_the_hubs_own_hosts_belong_together_and_no_other() -> None:
    hub = HubClient(HubSettings(), now)
    assert hub._may_visit("https://cdn-lfs.hf.co/x")
    assert hub._may_visit("https://huggingface.co/x")
    for url in (
        "http://huggingface.co/x",
        "https://huggingface.co.evil.example/",
        "https://evilhf.co/",
        "https://u@hf.co/",
    ):
        assert not hub._may_visit(url), url


def test_the_token_is_sent_only_where_there_is_one(web: Web) -> None:
    web.script = lambda _seen: said_json(CONFIG)
    hub = client(web, token=TOKEN)
    hub.read(ID, HubPage.CONFIG)
    hub.anonymous().read(ID, HubPage.CONFIG)
    client(web).read(ID, HubPage.CONFIG)
    assert [seen.headers.get("authorization") for seen in web.seen] == [f"Bearer {TOKEN}", None, None]
    assert TOKEN not in repr(hub)


@pytest.mark.parametrize(
    "endpoint",
    ["http://hub.example", "ftp://127.0.0.1", "", "https://user:secret@hub.example", "https://[::1", "https://h:99999"],
)
def test_an_endpoint_that_would_leak_or_is_none_is_not_asked(endpoint: str) -> None:
    hub = HubClient(HubSettings(endpoint, TOKEN), now)
    answer = what(hub.read(ID, HubPage.CONFIG))
    assert "secret" not in answer


@pytest.mark.parametrize(
    ("status", "code", "words", "is_final"),
    [
        (401, "RepoNotFound", "no such model", True),
        (401, "GatedRepo", "gate", True),
        (403, "", "no such model", True),
        (404, "EntryNotFound", "no such page", True),
        (429, "", "no more requests", False),
        (500, "", "500", False),
        (204, "", "204", False),
    ],
)
def test_a_refusal_is_told_in_our_words(web: Web, status: int, code: str, words: str, is_final: bool) -> None:
    answer = config(web, Said(b"" if status == 204 else b"<script>", status, {"X-Error-Code": code}))
    assert isinstance(answer, Unanswered)
    assert words in answer.what
    assert answer.is_final is is_final


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"\xff\xfe", b"{", b"<html>", b"[" * 200_000, b'{"a": ' + b"9" * 5000 + b"}"]
)
def test_garbage_is_no_answer(web: Web, body: bytes) -> None:
    assert "JSON" in what(config(web, Said(body)))


def test_a_long_answer_is_cut_off(web: Web) -> None:
    body = json.dumps({"a": "x" * (1024 * 1024)}).encode()
    assert "longer than 1024 KB" in what(config(web, Said(body)))


def test_a_packed_answer_is_refused(web: Web) -> None:
    assert "packed" in what(config(web, Said(b"\x1f\x8b", headers={"Content-Encoding": "gzip"})))


@pytest.mark.parametrize(
    "said",
    [Said(chunks=(b"x",) * 500, pause_s=0.05), Said(b"{}", head_pause_s=30), Said(headers={"Content-Length": "9"})],
    ids=["drip", "silence", "less than promised"],
)
def test_a_slow_server_gets_no_more_than_its_box(web: Web, said: Said) -> None:
    begun = time.monotonic()
    assert isinstance(config(web, said, box_s=0.5), Unanswered)
    assert time.monotonic() - begun < 12


def test_the_box_counts_for_all_that_a_run_asks(web: Web) -> None:
    web.script = lambda _seen: Said(b"{}", head_pause_s=30)
    hub = client(web, box_s=0.4)
    begun = time.monotonic()
    answers = [hub.read(f"acme/m{number}", HubPage.INFO) for number in range(20)]
    assert time.monotonic() - begun < 6
    assert "over" in what(answers[-1])
    assert len(web.seen) == 1


def test_who_is_not_there_is_told(web: Web) -> None:
    gone = web.address
    hub = HubClient(HubSettings(gone.rpartition(":")[0] + ":1"), now)
    assert "could not be reached" in what(hub.read(ID, HubPage.INFO))


def test_a_certificate_that_nobody_signed_is_not_trusted(tmp_path: Path) -> None:
    with web_server(own_certificate(tmp_path)) as server:
        assert "trusted" in what(config(server, said_json(CONFIG), token=TOKEN))
        assert server.seen == []


def test_a_page_is_asked_for_once_in_a_run(web: Web) -> None:
    web.script = lambda _seen: Said(status=404)
    hub = client(web)
    assert hub.read(ID, HubPage.INFO) == hub.read(ID, HubPage.INFO)
    assert len(web.seen) == 1


def test_the_next_run_takes_it_from_disk(web: Web, tmp_path: Path) -> None:
    assert config(web, said_json(CONFIG), folder=tmp_path) == CONFIG
    assert config(web, Said(status=500), folder=tmp_path) == CONFIG
    assert len(web.seen) == 1


def test_an_old_answer_is_held_against_the_hub_by_its_tag(web: Web, tmp_path: Path) -> None:
    config(web, said_json(CONFIG, headers={"ETag": '"one"'}), folder=tmp_path)
    later = HubClient(HubSettings(web.address, "", tmp_path), lambda: now() + FRESH)
    web.script = lambda _seen: Said(status=304)
    assert later.read(ID, HubPage.CONFIG) == CONFIG
    assert web.seen[-1].headers["if-none-match"] == '"one"'
    # And it counts as new from then on.
    third = HubClient(HubSettings(web.address, "", tmp_path), lambda: now() + FRESH + timedelta(hours=1))
    assert third.read(ID, HubPage.CONFIG) == CONFIG
    assert len(web.seen) == 2


@pytest.mark.parametrize("said", [Said(status=500), Said(b"garbage"), Said(status=429)])
def test_an_old_answer_is_better_than_none(web: Web, tmp_path: Path, said: Said) -> None:
    config(web, said_json(CONFIG), folder=tmp_path)
    web.script = lambda _seen: said
    later = HubClient(HubSettings(web.address, "", tmp_path), lambda: now() + 3 * FRESH)
    assert later.read(ID, HubPage.CONFIG) == CONFIG


def test_a_model_that_went_away_is_gone(web: Web, tmp_path: Path) -> None:
    config(web, said_json(CONFIG), folder=tmp_path)
    web.script = lambda _seen: Said(status=401)
    later = HubClient(HubSettings(web.address, "", tmp_path), lambda: now() + 3 * FRESH)
    assert isinstance(later.read(ID, HubPage.CONFIG), Unanswered)


def test_what_a_token_saw_is_kept_from_those_without(web: Web, tmp_path: Path) -> None:
    assert config(web, said_json(CONFIG), folder=tmp_path, token=TOKEN) == CONFIG
    assert isinstance(config(web, Said(status=401), folder=tmp_path), Unanswered)
    assert TOKEN not in "".join(path.read_text() for path in tmp_path.iterdir())


KEY = ("https://hub.example", "", ID, "CONFIG")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "[" * 100_000, '{"key": 1}', '{"key": ["x"], "fields": {}, "entity_tag": "", "at": "2026-11-20T00:00:00+00:00"}',
     json.dumps({"key": list(KEY), "fields": [], "entity_tag": "", "at": "2026-11-20T00:00:00+00:00"}),
     json.dumps({"key": list(KEY), "fields": {}, "entity_tag": "", "at": "2026-11-20T00:00:00"}),
     json.dumps({"key": list(KEY), "fields": {}, "entity_tag": "", "at": 5})],
)  # fmt: skip
def test_a_cache_that_somebody_broke_counts_as_empty(tmp_path: Path, text: str) -> None:
    cache = HubCache(tmp_path)
    cache._path(tmp_path, KEY).write_text(text)
    assert cache.read(KEY) is None


def test_a_cache_follows_no_link_and_waits_for_no_pipe(tmp_path: Path) -> None:
    import os

    cache, place = HubCache(tmp_path / "cache"), HubCache._path(tmp_path / "cache", KEY)
    cache.write(KEY, Kept({"a": 1}, "", now()))
    assert cache.read(KEY) == Kept({"a": 1}, "", cache.read(KEY).at)  # type: ignore[union-attr]  # it is there
    moved = place.rename(tmp_path / "elsewhere")
    place.symlink_to(moved)
    assert cache.read(KEY) is None
    place.unlink()
    os.mkfifo(place)
    assert cache.read(KEY) is None


def test_a_cache_is_bounded(tmp_path: Path) -> None:
    cache = HubCache(tmp_path)
    for number in range(MAX_ENTRIES + 20):
        cache.write((*KEY, str(number)), Kept({}, "", now()))
    assert len(list(tmp_path.iterdir())) == MAX_ENTRIES
    cache.write(KEY, Kept({"a": "x" * 2_000_000}, "", now()))
    assert cache.read(KEY) is None


def test_a_cache_that_cannot_be_written_is_no_error(web: Web, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert config(web, said_json(CONFIG), folder=tmp_path / "file" / "cache") == CONFIG


def test_an_answer_from_the_future_is_not_fresh() -> None:
    assert not Kept({}, "", now() + timedelta(days=400)).is_fresh(now())
