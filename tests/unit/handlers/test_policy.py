"""`gpu-lol policy` in a terminal: what is printed, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_lol_action import cli
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.policy_yaml import parse_policy

FILE = "roles: [maintain, admin]\nlimits:\n  price_usd_per_hour: 9.50\nusers: [ada]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "gpu-lol.yml").write_text(FILE)
    return tmp_path


def test_policy_writes_out_all_that_holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["policy", str(folder)]) == 0
    assert parse_policy(capsys.readouterr().out) == parse_policy(FILE)


def test_explain_names_the_line_of_each_value(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["policy", "--explain", str(folder)]) == 0
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")}
    assert rows["limits.price_usd_per_hour"] == ["9.5", "line", "3"]
    assert rows["users"] == ["[ada]", "line", "4"]
    assert rows["lease.default"] == ["2h", "default"]


def test_json_has_typed_values_with_their_sources(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["policy", str(folder), "--explain", "--format", "json"]) == 0
    keys = json.loads(capsys.readouterr().out)["keys"]
    assert keys["limits.price_usd_per_hour"] == {"value": 9.5, "source": "file", "line": 3}
    assert keys["enabled"] == {"value": True, "source": "default", "line": None}
    assert keys["lease.max"]["value"] == "12h"
    assert keys["roles"]["value"] == ["maintain", "admin"]


def test_a_folder_without_a_file_has_the_defaults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["policy", str(tmp_path)]) == 0
    assert parse_policy(capsys.readouterr().out) == Policy()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"limits:\n  price: 3\n", "line 2"),
        (b"rolse: [admin]\n", "Did you mean roles?"),
        (b"\xff\xfe", "no UTF-8 text"),
    ],
)
def test_a_wrong_file_ends_with_one_and_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    path = tmp_path / "policy.yml"
    path.write_bytes(content)
    assert cli.main(["policy", str(path)]) == 1
    assert words in capsys.readouterr().err


def test_a_path_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["policy", str(tmp_path / "none")]) == 1
    assert "neither a folder nor a file" in capsys.readouterr().err


def test_a_file_that_nobody_reads_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever wrote a limit must not find it ignored without a word."""
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "gpu-lol.yaml").write_text(FILE)
    assert cli.main(["policy", "--explain", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Nobody reads .github/gpu-lol.yaml" in out
    assert "every value is a default" in out


def test_in_a_subfolder_it_is_the_checkouts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = folder / "research" / "nets"
    inner.mkdir(parents=True)
    (folder / ".git").mkdir()
    for place in (inner, folder):
        monkeypatch.chdir(place)
        assert cli.main(["policy"]) == 0
        assert parse_policy(capsys.readouterr().out) == parse_policy(FILE)
    # A folder that is named is that folder.
    assert cli.main(["policy", "research/nets"]) == 0
    assert parse_policy(capsys.readouterr().out) == Policy()
