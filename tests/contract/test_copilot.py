"""GitHub Copilot's adapter against its program with a model of our own behind it, which is how the program itself may be used.

The program is a stand-in that prints what the real one was recorded to print. ``scripts/replay-copilot`` plays the same tests
with the real one, whose path is in ``GPU_LOL_REPLAY_COPILOT`` then; those of the name ``stand_in`` look into the stand-in.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.adapters import copilot_events as told
from gpu_lol_action.adapters.copilot import NOT_INSTALLED, CopilotProgram, CopilotSettings, installed_program
from gpu_lol_action.domain.lookup import Question, Unanswered
from tests.support.web import Said, Web, said_json, web_server

TOKEN = "ghs_" + "c" * 36
STAND_IN = Path(__file__).parents[1] / "support" / "copilot_program.py"
REAL = os.environ.get("GPU_LOL_REPLAY_COPILOT", "")
QUESTION = Question("the rules", 'the data: {"a": 1}')


@pytest.fixture
def web() -> Iterator[Web]:
    with web_server() as server:
        yield server


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the adapter makes its folders: none may be left there."""
    folder = tmp_path / "rooms"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def settings(web: Web | None, tmp_path: Path, **more: str) -> CopilotSettings:
    environment = {
        "PATH": os.environ["PATH"],
        "LANG": str(tmp_path / "seen.json") if not REAL else "C.UTF-8",
        "COPILOT_OFFLINE": "true",
        **({"COPILOT_PROVIDER_BASE_URL": f"{web.address}/v1"} if web is not None else {}),
        **more,
    }
    return CopilotSettings(environment, TOKEN, "gpt-5.4", REAL or program(tmp_path))


def program(folder: Path, text: str = "") -> str:
    """Write a program: the stand-in, or what ``text`` says."""
    path = folder / "copilot"
    path.write_text(text or STAND_IN.read_text().replace("/usr/bin/env python3", sys.executable, 1))
    path.chmod(0o755)
    return str(path)


def completion(content: str) -> Said:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
    return said_json(
        {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5.4", "choices": [choice], "usage": usage},
        headers={"Content-Type": "application/json"},
    )


def test_rules_and_data_arrive_whole_and_no_tool_is_offered(web: Web, tmp_path: Path, rooms: Path) -> None:
    web.script = lambda _seen: completion('{"gpu_count": 2}')
    data = "日本語 \u202e {\"a\": '`$(touch /tmp/x)`'} " * 3000  # over the 128 KB that an argument has room for
    assert CopilotProgram(settings(web, tmp_path)).ask(Question("the rules", data)) == '{"gpu_count": 2}'
    (seen,) = web.seen
    assert seen.fields["model"] == "gpt-5.4"
    assert "tools" not in seen.fields
    said = json.dumps(seen.fields["messages"], ensure_ascii=False)
    assert json.dumps(f"the rules\n\n{data.strip()}", ensure_ascii=False)[1:-1] in said
    assert list(rooms.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "words"), [(403, told.REFUSED), (404, told.NO_MODEL), (418, "GitHub Copilot answered with status 418")]
)
def test_a_refusal_is_told_and_nobody_is_asked_again(web: Web, tmp_path: Path, status: int, words: str) -> None:
    web.script = lambda _seen: Said(b'{"error": {"message": "secret words"}}', status)
    copilot = CopilotProgram(settings(web, tmp_path))
    assert copilot.ask(QUESTION) == Unanswered(words)
    asked = len(web.seen)
    assert copilot.ask(Question("the rules", "about the base")) == Unanswered(words)
    assert len(web.seen) == asked


def test_a_subject_is_asked_about_once(web: Web, tmp_path: Path) -> None:
    web.script = lambda _seen: completion("{}")
    copilot = CopilotProgram(settings(web, tmp_path))
    assert copilot.ask(Question("r", "head", "same")) == copilot.ask(Question("r", "base", "same")) == "{}"
    assert len(web.seen) == 1
    assert copilot.ask(Question("r", "base", "other")) == "{}"
    assert len(web.seen) == 2


def test_the_token_is_not_repeated(web: Web, tmp_path: Path) -> None:
    web.script = lambda _seen: completion(f'{{"reason": "{TOKEN}"}}')
    answer = CopilotProgram(settings(web, tmp_path)).ask(QUESTION)
    assert isinstance(answer, str)
    assert TOKEN not in answer
    # The real program has taken it out by itself.
    assert "[redacted]" in answer or "******" in answer


def test_a_model_that_takes_too_long_is_left_behind(web: Web, tmp_path: Path, rooms: Path) -> None:
    web.script = lambda _seen: Said(b"{}", head_pause_s=60)
    boxed = dataclasses.replace(settings(web, tmp_path), box=timedelta(seconds=4))
    began = time.monotonic()
    assert CopilotProgram(boxed).ask(QUESTION) == Unanswered("it took longer than 4 s")
    assert time.monotonic() - began < 30
    assert list(rooms.iterdir()) == []


def test_without_a_login_it_says_how_to_get_one(tmp_path: Path) -> None:
    alone = dataclasses.replace(settings(None, tmp_path, COPILOT_OFFLINE=""), token="")
    assert CopilotProgram(alone).ask(QUESTION) == Unanswered(told.NO_LOGIN)


def test_the_stand_in_sees_one_token_and_nothing_else_of_ours(web: Web, tmp_path: Path) -> None:
    web.script = lambda _seen: completion("{}")
    ours = {
        "RUNPOD_API_KEY": "rpa_x",
        "GITHUB_TOKEN": "ghs_other",
        "HF_TOKEN": "hf_x",
        "HOME": str(tmp_path),
        "COPILOT_HOME": str(tmp_path),
        "COPILOT_ALLOW_ALL": "true",
        "COPILOT_CUSTOM_INSTRUCTIONS_DIRS": "/",
        "GITHUB_WORKSPACE": str(tmp_path),
    }
    assert CopilotProgram(settings(web, tmp_path, **ours)).ask(QUESTION) == "{}"
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["environment"]["COPILOT_GITHUB_TOKEN"] == TOKEN
    allowed = {"PATH", "LANG", "CI", "HOME", "COPILOT_GITHUB_TOKEN", "COPILOT_OFFLINE", "COPILOT_PROVIDER_BASE_URL"}
    assert set(seen["environment"]) <= allowed | {"LC_CTYPE", "PWD", "SHLVL", "_"}
    assert seen["environment"]["HOME"] != str(tmp_path)
    assert seen["folder"] == []
    assert not Path(seen["cwd"]).exists()
    assert not any("allow" in option and option != "--disallow-temp-dir" for option in seen["options"])


def test_the_stand_in_is_left_the_choice_where_no_model_is_named(web: Web, tmp_path: Path) -> None:
    web.script = lambda _seen: completion("{}")
    unnamed = dataclasses.replace(settings(web, tmp_path), model="")
    assert CopilotProgram(unnamed).ask(QUESTION) == "{}"
    assert web.seen[0].fields["model"] == "the-one-that-copilot-chooses"
    assert "--model" not in json.loads((tmp_path / "seen.json").read_text())["options"]


@pytest.mark.parametrize(
    ("server", "host"),
    [
        ("https://acme.ghe.com", "acme.ghe.com"),
        ("https://github.com", None),
        ("https://git.acme.test", None),
        ("[", None),
    ],
)
def test_the_stand_in_is_told_the_companys_own_github(web: Web, tmp_path: Path, server: str, host: str | None) -> None:
    web.script = lambda _seen: completion("{}")
    assert CopilotProgram(settings(web, tmp_path, GITHUB_SERVER_URL=server)).ask(QUESTION) == "{}"
    assert json.loads((tmp_path / "seen.json").read_text())["environment"].get("COPILOT_GH_HOST") == host


@pytest.mark.parametrize("name", ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"])
def test_the_stand_in_gets_a_terminals_token_where_none_was_given(web: Web, tmp_path: Path, name: str) -> None:
    web.script = lambda _seen: completion(f'{{"reason": "{"github_pat_" + "d" * 30}"}}')
    own = dataclasses.replace(
        settings(web, tmp_path, **{name: "github_pat_" + "d" * 30, "HOME": str(tmp_path)}), token=""
    )
    answer = CopilotProgram(own).ask(QUESTION)
    assert answer == '{"reason": "[redacted]"}'
    environment = json.loads((tmp_path / "seen.json").read_text())["environment"]
    assert environment["COPILOT_GITHUB_TOKEN"] == "github_pat_" + "d" * 30
    assert environment["HOME"] != str(tmp_path)


def test_the_stand_in_finds_a_persons_own_login_in_their_home(web: Web, tmp_path: Path) -> None:
    web.script = lambda _seen: completion("{}")
    own = dataclasses.replace(settings(web, tmp_path, HOME=str(tmp_path)), token="", model="gpt-5.4")
    assert CopilotProgram(own).ask(QUESTION) == "{}"
    environment = json.loads((tmp_path / "seen.json").read_text())["environment"]
    assert environment["HOME"] == str(tmp_path)
    assert "COPILOT_GITHUB_TOKEN" not in environment


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no program", "does not start here"),
        ("#!/bin/sh\nexit 3\n", "ended with exit status 3"),
        ("#!/bin/sh\nkill -9 $$\n", "ended with exit status -9"),
        ("#!/bin/sh\necho not json; echo 5; echo '[]'\n", told.SILENT),
        ("#!/bin/sh\nhead -c 9000000 /dev/zero\n", told.SILENT),
    ],
)
def test_a_program_that_is_none_stops_nothing(tmp_path: Path, text: str, words: str) -> None:
    broken = dataclasses.replace(settings(None, tmp_path), program=program(tmp_path, text))
    answer = CopilotProgram(broken).ask(QUESTION)
    assert isinstance(answer, Unanswered)
    assert words in answer.what


def test_where_none_is_installed_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    nowhere = CopilotSettings({"PATH": str(tmp_path / "none")}, TOKEN)
    assert CopilotProgram(nowhere).ask(QUESTION) == Unanswered(NOT_INSTALLED)


def test_the_installed_one_counts_before_one_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside, other, named = tmp_path / "copilot", tmp_path / "bin", tmp_path / "named"
    for folder in (beside, other, named):
        folder.mkdir()
        program(folder)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    own = str(named / "copilot")
    assert installed_program({"PATH": str(other), "GPU_LOL_COPILOT": own}) == own
    assert installed_program({"PATH": str(other), "GPU_LOL_COPILOT": f"{own}-not-there"}) == ""
    assert installed_program({"PATH": str(other)}) == str(beside / "copilot")
    shutil.rmtree(beside)
    assert installed_program({"PATH": str(other)}) == str(other / "copilot")
    assert installed_program({}) == ""


def test_its_name_says_which_model_was_named() -> None:
    assert CopilotProgram(CopilotSettings({})).name == "GitHub Copilot"
    assert CopilotProgram(CopilotSettings({}, model="gpt-5.4")).name == "GitHub Copilot (gpt-5.4)"


def test_no_secret_is_in_what_python_shows_of_the_settings() -> None:
    assert TOKEN not in repr(CopilotProgram(CopilotSettings({"GH_TOKEN": TOKEN}, TOKEN)))
