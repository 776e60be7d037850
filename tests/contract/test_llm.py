"""The language model's adapter against an OpenAI-compatible server, over real HTTP, and all that such a server may do."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gpu_lol_action.adapters.llm import ChatEndpoint, LlmSettings
from gpu_lol_action.domain.lookup import Question, Unanswered
from tests.support.web import Said, Seen, Web, own_certificate, said_json, web_server

KEY = "sk-test-0123456789abcdefghij"
QUESTION = Question("the rules", "the data")


def completion(content: object, **more: object) -> dict[str, object]:
    message = {"role": "assistant", "content": content, **more}
    return {
        "id": "x",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }


def endpoint(web: Web, path: str = "/v1", *, key: str = KEY, box_s: float = 5) -> ChatEndpoint:
    settings = LlmSettings(web.address + path, "some-model", key, timedelta(seconds=box_s))
    return ChatEndpoint(settings, lambda: datetime.now(timezone.utc))


def answer_to(web: Web, said: Said, **options: object) -> str | Unanswered:
    web.script = lambda _seen: said
    return endpoint(web, **options).ask(QUESTION)  # type: ignore[arg-type]  # keyword bag


def fault(answer: str | Unanswered) -> str:
    assert isinstance(answer, Unanswered), answer
    assert KEY not in answer.what
    return answer.what


def test_a_good_answer_is_its_text(web: Web) -> None:
    assert answer_to(web, said_json(completion('{"gpu_count": 2}'))) == '{"gpu_count": 2}'
    (seen,) = web.seen
    assert (seen.method, seen.path) == ("POST", "/v1/chat/completions")
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.fields["model"] == "some-model"
    assert seen.fields["temperature"] == 0
    assert seen.fields["messages"] == [
        {"role": "system", "content": "the rules"},
        {"role": "user", "content": "the data"},
    ]


@pytest.mark.parametrize("path", ["/v1/", "/v1/chat/completions", "/v1/chat/completions/"])
def test_the_address_may_be_the_whole_one(web: Web, path: str) -> None:
    web.script = lambda _seen: said_json(completion("{}"))
    assert endpoint(web, path).ask(QUESTION) == "{}"
    assert web.seen[0].path == "/v1/chat/completions"


def test_a_server_without_a_key_gets_none(web: Web) -> None:
    assert answer_to(web, said_json(completion("{}")), key="") == "{}"
    assert "authorization" not in web.seen[0].headers


def test_a_server_that_knows_fewer_options_is_asked_without_them(web: Web) -> None:
    def script(seen: Seen) -> Said:
        return said_json(completion("{}")) if set(seen.fields) == {"model", "messages"} else Said(status=400)

    web.script = script
    assert endpoint(web).ask(QUESTION) == "{}"
    assert len(web.seen) == 2


def test_text_in_parts_is_one_text(web: Web) -> None:
    parts = [{"type": "text", "text": '{"a"'}, {"type": "image"}, {"type": "text", "text": ": 1}"}]
    assert answer_to(web, said_json(completion(parts))) == '{"a": 1}'


def test_a_key_that_the_server_repeats_is_not_repeated(web: Web) -> None:
    answer = answer_to(web, said_json(completion(json.dumps({"reason": f"your key is {KEY}"}))))
    assert isinstance(answer, str)
    assert KEY not in answer
    assert "[redacted]" in answer


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (said_json(completion(None, refusal="I will not")), "refused to answer"),
        (said_json(completion("I will not", refusal="no")), "refused to answer"),
        (said_json({"choices": [{"message": {"content": "x"}, "finish_reason": "content_filter"}]}), "refused"),
        (said_json({"choices": [{"message": {"content": "{"}, "finish_reason": "length"}]}), "cut off"),
        (said_json(completion("")), "said nothing"),
        (said_json(completion(None)), "said nothing"),
        (said_json(completion(5)), "said nothing"),
        (said_json({"choices": []}), "no chat completion"),
        (said_json({"choices": "x"}), "no chat completion"),
        (said_json({"choices": [{"message": "x"}]}), "no chat completion"),
        (said_json({"choices": [None]}), "no chat completion"),
        (said_json([]), "no chat completion"),
        (Said(b"<html>"), "no chat completion"),
        (Said(b"[" * 100_000), "no chat completion"),
        (Said(status=500, body=KEY.encode()), "status 500"),
        (Said(status=503), "status 503"),
        (Said(status=429), "no more requests"),
        (Said(status=401, body=b"bad key"), "refused the key"),
        (Said(status=403), "refused the key"),
        (Said(status=404), "no such path or model"),
        (said_json(completion("x" * 1024 * 1024)), "longer than 1024 KB"),
        (Said(b"x", headers={"Content-Encoding": "gzip"}), "packed"),
    ],
)
def test_every_fault_is_told_in_our_words(web: Web, said: Said, words: str) -> None:
    assert words in fault(answer_to(web, said))


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_question_says_how_long_it_was(web: Web, status: int) -> None:
    said = fault(answer_to(web, Said(status=status, body=b"context size exceeded")))
    assert f"status {status}" in said
    assert "17 characters may be longer than its context" in said


@pytest.mark.parametrize(
    ("tokens", "is_cut"),
    [
        (4096, True),
        (1, True),
        (10_000, False),
        (30_000, False),
        (0, False),
        (None, False),
        ("4096", False),
        (True, False),
    ],
)
def test_a_server_that_cut_the_question_has_not_answered_it(web: Web, tokens: object, is_cut: bool) -> None:
    question = Question("the rules", "the data " * 5000)
    web.script = lambda _seen: said_json({**completion("{}"), "usage": {"prompt_tokens": tokens}})
    answer = endpoint(web).ask(question)
    if is_cut:
        assert (
            fault(answer)
            == f"it read {tokens} tokens of a question of 45009 characters: its context is too short for it"
        )
    else:
        assert answer == "{}"


@pytest.mark.parametrize("usage", [None, [], "x", {}, {"prompt_tokens": {}}])
def test_a_server_need_not_count(web: Web, usage: object) -> None:
    assert answer_to(web, said_json({**completion("{}"), "usage": usage})) == "{}"


def test_a_redirect_is_not_followed_because_the_code_would_travel_with_it(web: Web) -> None:
    with web_server() as other:
        said = Said(status=307, headers={"Location": f"{other.address}/v1/chat/completions"})
        assert "redirects" in fault(answer_to(web, said))
        assert other.seen == []


def test_a_key_for_this_machine_does_not_pass_a_proxy(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    with web_server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.address)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        assert answer_to(web, said_json(completion("{}"))) == "{}"
        assert proxy.seen == []


@pytest.mark.parametrize(
    "said",
    [
        Said(chunks=(b" ",) * 500, pause_s=0.05),
        Said(head_pause_s=30),
        Said(headers={"Content-Length": "1000"}),
    ],
    ids=["drip", "silence", "less than promised"],
)
def test_a_slow_server_gets_no_more_than_its_box(web: Web, said: Said) -> None:
    begun = time.monotonic()
    fault(answer_to(web, said, box_s=0.5))
    assert time.monotonic() - begun < 12


def test_headers_that_never_end_get_no_more_than_the_box() -> None:
    import socket
    import threading

    with socket.create_server(("127.0.0.1", 0)) as server:
        over = threading.Event()

        def drip() -> None:
            peer, _ = server.accept()
            with peer:
                try:
                    peer.sendall(b"HTTP/1.1 200 OK\r\n")
                    for number in range(200):
                        if over.wait(0.05):
                            return
                        peer.sendall(f"X-{number}: y\r\n".encode())
                except OSError:
                    return

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        begun = time.monotonic()
        model = ChatEndpoint(LlmSettings(address, "m", KEY, timedelta(seconds=0.5)), lambda: datetime.now(timezone.utc))
        assert "did not answer" in fault(model.ask(QUESTION))
        assert time.monotonic() - begun < 12
        over.set()
        thread.join(5)


def test_a_server_that_failed_once_is_not_waited_for_again(web: Web) -> None:
    web.script = lambda _seen: Said(status=500)
    model = endpoint(web)
    assert "500" in fault(model.ask(QUESTION))
    assert "500" in fault(model.ask(Question("other rules", "")))
    assert len(web.seen) == 1


def test_the_same_question_is_asked_once(web: Web) -> None:
    web.script = lambda seen: said_json(completion(f"answer to {len(seen.body)}"))
    model = endpoint(web)
    assert model.ask(QUESTION) == model.ask(Question("the rules", "the data"))
    assert model.ask(QUESTION) != model.ask(Question("the rules", "more data"))
    subjects = [Question("the rules", data, "the same") for data in ("one", "another")]
    assert model.ask(subjects[0]) == model.ask(subjects[1]) != model.ask(Question("the rules", "another", "other"))
    assert len(web.seen) == 4


def test_a_certificate_that_nobody_signed_is_not_trusted(tmp_path: Path) -> None:
    with web_server(own_certificate(tmp_path)) as server:
        assert "trusted" in fault(answer_to(server, said_json(completion("{}"))))
        assert server.seen == []


@pytest.mark.parametrize(
    ("url", "model", "key", "words"),
    [
        ("", "m", "", "not both set"),
        ("http://127.0.0.1:1", "", "", "not both set"),
        ("http://llm.example/v1", "m", KEY, "https"),
        ("https://me:pass@llm.example/v1", "m", KEY, "password"),
        ("file:///etc/passwd", "m", "", "URL"),
        ("llm.example/v1", "m", "", "URL"),
        ("https://llm.example:port/v1", "m", "", "none"),
        ("https://llm.example/\nv1", "m", "", "URL"),
        ("http://127.0.0.1:1", "m", "k\u00e9y-" + KEY, "characters"),
        ("http://127.0.0.1:1", "m", f"{KEY}\r\nX: y", "characters"),
        ("http://127.0.0.1:1", "m", KEY, "could not be reached"),
    ],
)
def test_settings_that_cannot_work_are_told_without_showing_them(url: str, model: str, key: str, words: str) -> None:
    settings = LlmSettings(url, model, key)
    answer = fault(ChatEndpoint(settings, lambda: datetime.now(timezone.utc)).ask(QUESTION))
    assert words in answer
    assert "pass@" not in answer
    assert "llm.example" not in answer
    assert key not in repr(settings) or not key
