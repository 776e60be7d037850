"""The terminal's door as a child process, on a checkout and a home of its own."""

from __future__ import annotations

import getpass
import json
import signal
from pathlib import Path

import pytest

from gpu_lol_action import cli
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.errors import TransientError
from tests.support.doors import put_record
from tests.support.terminal import Terminal


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        ([], 0, "Usage: gpu-lol COMMAND", ""),
        (["--help"], 0, "Usage: gpu-lol COMMAND", ""),
        (["--version"], 0, "gpu-lol ", ""),
        (["help", "up"], 0, "Usage: gpu-lol up", ""),
        (["up", "--help"], 0, "Usage: gpu-lol up", ""),
        (["upp"], 1, "", "Did you mean up"),
        (["up", "--gpu", "A10O"], 1, "", "A100"),
        (["up", "--huors", "2"], 1, "", "--hours"),
        (["status"], 0, "Nothing is running", ""),
        (["ls"], 0, "Nothing is running", ""),
        (["down"], 0, "Nothing", ""),
        (["sweep", "--dry-run"], 0, "", ""),
        (["analyze"], 0, "RTX4090", ""),
        (["up"], 2, "", "RUNPOD_API_KEY"),
        (["up", "--dry-run"], 2, "", "RUNPOD_API_KEY"),
        (["up", "--wait"], 2, "", "RUNPOD_API_KEY"),
    ],
)
def test_the_terminal_exits_as_it_answers(terminal: Terminal, words: list[str], code: int, out: str, err: str) -> None:
    done = terminal.run(*words)
    assert done.returncode == code, done.stderr
    assert out in done.stdout
    assert err in done.stderr


def test_the_terminal_shows_and_keeps_what_is_on_record(terminal: Terminal) -> None:
    record = put_record(terminal.ledger, terminal.repository_id, None, getpass.getuser())
    shown = terminal.run("status")
    assert shown.returncode == 0, shown.stderr
    assert record.name in shown.stdout
    assert "$0.44/h" in shown.stdout
    # The end needs the cloud's key: without it nothing is certified, and the record says that it is to end.
    down = terminal.run("down")
    assert down.returncode != 0
    assert "Nothing is running" not in down.stdout
    (entry,) = terminal.ledger.entries()
    assert isinstance(entry, Entry)
    assert entry.record.is_open
    assert entry.record.tombstone is not None


def test_the_terminal_denies_a_lease_before_it_loads_anything(terminal: Terminal) -> None:
    done = terminal.run("up", "--hours", "99", "--dry-run", RUNPOD_API_KEY="rpa_" + "k" * 40)
    assert done.returncode == 1, done.stderr
    assert "4 d 3 h" in done.stdout


def test_analyze_speaks_json_and_yaml(terminal: Terminal) -> None:
    parsed = json.loads(terminal.run("analyze", "--format", "json").stdout)
    assert parsed["gpu_type"] == "RTX4090"
    assert "gpu_type: RTX4090" in terminal.run("analyze", ".", "--format", "yaml").stdout
    compared = terminal.run("analyze", "--base", "HEAD", "--format", "markdown")
    assert compared.returncode == 0, compared.stderr


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["analyze"], "line 2"),
        (["analyze", "--format", "json"], "line 2"),
    ],
)
def test_an_invalid_spec_is_an_error_with_its_line(terminal: Terminal, words: list[str], what: str) -> None:
    (terminal.folder / ".gpu-lol.yaml").write_text("hardware:\n  gpu_cuont: 1\n")
    done = terminal.run(*words)
    assert done.returncode == 1
    assert what in done.stderr
    assert "gpu_count" in done.stderr
    assert done.stdout == ""


def test_a_folder_that_is_not_there_is_an_error_that_names_it(terminal: Terminal) -> None:
    done = terminal.run("analyze", "nowhere")
    assert done.returncode == 1
    assert "nowhere" in done.stderr


def test_a_base_that_is_not_there_is_an_error(terminal: Terminal) -> None:
    assert terminal.run("analyze", "--base", "nothing").returncode == 1


def test_outside_a_checkout_commands_say_what_they_need(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = terminal.run("status", folder=tmp_path / "empty")
    assert done.returncode == 1
    assert "git" in done.stderr


@pytest.mark.parametrize(
    ("error", "code"), [(RuntimeError("a bug"), 3), (KeyboardInterrupt(), 130), (TransientError("x", "An outage"), 4)]
)
def test_the_terminal_exits_by_the_kind_of_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int
) -> None:
    def fail(_command: object) -> None:
        raise error

    monkeypatch.setattr(cli, "_carry_out", fail)
    monkeypatch.setattr(signal, "signal", lambda *_arguments: None)
    assert cli.main(["status"]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "gpu-lol: " in shown.err


def test_a_ledger_that_cannot_be_written_is_the_users_to_mend(terminal: Terminal) -> None:
    (terminal.home / "state").write_text("a file where the folder should be")
    done = terminal.run("sweep")
    assert done.returncode == 2, done.stderr
    assert "XDG_STATE_HOME" in done.stderr
