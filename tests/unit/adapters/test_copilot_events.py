"""What GitHub Copilot's program was recorded to print, and what it might, as an answer or as the reason why there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_lol_action.adapters import copilot_events as told
from gpu_lol_action.adapters.copilot_events import Printed, read_printed
from gpu_lol_action.domain.lookup import Unanswered

RECORDED = json.loads((Path(__file__).parents[2] / "fixtures" / "copilot" / "printed.json").read_text())["printed"]
ANSWER = '{"a":1}'


def recorded(name: str) -> Printed:
    entry = RECORDED[name]
    lines = [json.dumps(event) for event in entry["events"]]
    return Printed("\n".join(lines).encode(), entry["complaints"].encode(), entry["status"])


def printed(*events: object, status: int = 0, complaints: str = "") -> Printed:
    return Printed("\n".join(map(json.dumps, events)).encode(), complaints.encode(), status)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("answer", ANSWER),
        ("tool_called", "done"),
        ("status_401", Unanswered(told.REFUSED)),
        ("status_403", Unanswered(told.REFUSED)),
        ("status_404", Unanswered(told.NO_MODEL)),
        ("status_429", Unanswered(told.BUSY)),
        ("status_500", Unanswered("GitHub Copilot answered with status 500")),
        ("empty", Unanswered(told.SILENT)),
        ("token_unknown", Unanswered(told.REFUSED)),
        ("policy", Unanswered(told.REFUSED)),
        ("model_unknown", Unanswered(told.NO_MODEL)),
        ("no_login", Unanswered(told.NO_LOGIN)),
        ("unreached", Unanswered(told.UNREACHED)),
        ("classic_token", Unanswered(told.CLASSIC)),
    ],
)
def test_each_recorded_ending_is_told_in_our_words(name: str, wanted: str | Unanswered) -> None:
    assert read_printed(recorded(name)) == wanted


def test_every_recorded_ending_is_looked_at() -> None:
    assert len(RECORDED) == 14


def test_no_tool_was_there_for_the_model_that_called_one() -> None:
    (done,) = [
        event["data"] for event in RECORDED["tool_called"]["events"] if event["type"] == "tool.execution_complete"
    ]
    assert done["success"] is False
    assert done["error"]["message"] == "Tool 'bash' does not exist."


def test_nothing_that_the_far_side_said_is_repeated() -> None:
    for name in RECORDED:
        answer = read_printed(recorded(name))
        assert not isinstance(answer, Unanswered) or "secret words" not in answer.what
    assert any("secret words" in json.dumps(entry) for entry in RECORDED.values())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (printed({"type": "assistant.message", "data": {"content": "first"}}, {"type": "assistant.message", "data": {"content": ANSWER}}), ANSWER),
        (printed({"type": "assistant.message", "data": {"content": ANSWER}}, {"type": "assistant.message", "data": {"content": " "}}), ANSWER),
        (printed({"type": "assistant.message", "data": {"content": ANSWER}}, {"type": "session.error", "data": {"errorType": "quota"}}), Unanswered(told.USED_UP)),
        (printed({"type": "session.error", "data": {"statusCode": 402}}, status=1), Unanswered(told.USED_UP)),
        (printed({"type": "session.error", "data": {"statusCode": True}}, status=1), Unanswered("GitHub Copilot's program ended with exit status 1")),
        (printed({"type": "session.error", "data": {"errorType": ["x"]}}, status=7), Unanswered("GitHub Copilot's program ended with exit status 7")),
        (printed({"type": "assistant.message", "data": {"content": ANSWER}}, status=-9), Unanswered("GitHub Copilot's program ended with exit status -9")),
        (printed(status=1, complaints="Error: \x1b[31msomething else\x1b[0m"), Unanswered("GitHub Copilot's program ended with exit status 1")),
        (printed({"type": "assistant.message", "data": {"content": 5}}, {"type": "assistant.message", "data": None}, [], 3, None), Unanswered(told.SILENT)),
        (printed(), Unanswered(told.SILENT)),
        (Printed(b"\xff\xfe\n" + b"[" * 200_000 + b'\n{"type": "assistant.message", "data": {"content": "x', b"\xff", 0), Unanswered(told.SILENT)),
    ],
)  # fmt: skip
def test_what_else_might_be_printed(text: Printed, wanted: str | Unanswered) -> None:
    assert read_printed(text) == wanted
