"""`gpu-lol ledger` as a person gives it: a checkout, a folder of records, and the repository's refs over real HTTP."""

from __future__ import annotations

import csv
import io
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_lol_action import cli
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.adapters.ledger_refs import GitRefStore
from gpu_lol_action.domain.environment import State
from tests.contract.github_setup import Place, started_place
from tests.contract.test_ledger import make_record


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    for words in (["init", "-q"], ["remote", "add", "origin", "https://github.com/acme/llm-lab.git"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(folder)
    own = RecordLedger(FileStore(tmp_path / "state" / "gpu-lol" / "ledger" / "acme+llm-lab"))
    own.claim(make_record("gl-ae-mine"))
    return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkout: Path) -> Place:
    with started_place(tmp_path / "hub") as place:
        ledger = RecordLedger(GitRefStore(place.forge().client))
        entry = ledger.claim(make_record("gl-ae-12"))
        ledger.update(entry, replace(entry.record, state=State.LAUNCHING))
        monkeypatch.setenv("GITHUB_API_URL", place.hub.api_url)
        monkeypatch.setenv("GITHUB_TOKEN", place.hub.add_token("ada", {"metadata": "read", "contents": "read"}))
        yield place


def test_without_a_token_it_is_this_terminals(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ledger"]) == 0
    said = capsys.readouterr().out
    assert "gl-ae-mine" in said
    assert "on GitHub" not in said


def test_with_a_token_that_only_reads_it_is_the_repositorys_too(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    refs = place.hub.repository.git.refs("refs/")
    assert cli.main(["ledger", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["ledger"], row["environment"], row["state"]) for row in rows] == [
        ("terminal", "gl-ae-mine", "claimed"),
        ("github", "gl-ae-12", "launching"),
    ]
    assert cli.main(["ledger", "gl-ae-12"]) == 0
    said = capsys.readouterr().out
    assert "2 versions in the github ledger" in said
    assert said.index("claimed for") < said.index("launching")
    assert place.hub.repository.git.refs("refs/") == refs
    assert place.hub.problems() == []


def test_repository_that_does_not_answer_is_an_outage_and_the_own_records_show(
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_0")
    assert cli.main(["ledger"]) == 4
    said = capsys.readouterr()
    assert "gl-ae-mine" in said.out
    assert "what is on record there may run" in " ".join(said.out.split())
    assert "GitHub" in said.err


def test_what_is_no_name_is_refused(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ledger", "../../etc"]) == 1
    assert "no environment's name" in capsys.readouterr().err
