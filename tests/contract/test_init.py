"""`gpu-lol init` in real checkouts: what it writes passes the linters, fits our workflows, and is nobody else's file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpu_lol_action import cli
from gpu_lol_action.adapters.github_public import PublicGitHub
from gpu_lol_action.domain.installation import COMMANDING, PROPOSING, Pin, sweep_minute
from gpu_lol_action.domain.permissions import BOT, PROPOSE, PROPOSE_BY_COPILOT, PROPOSE_BY_MODEL
from gpu_lol_action.rehearsal.github_setting import Setting
from tests.contract.github_setup import START, started_place

BIN = Path(sys.executable).parent
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody answers
USED = {PROPOSING: PROPOSE, COMMANDING: BOT}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of acme/train whose GitHub cannot be reached."""
    folder = tmp_path / "train"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "git@github.com:acme/train.git")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GITHUB_API_URL", NOWHERE)
    for name in ("GH_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return folder


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def without_copilots_permission(path: Path) -> None:
    """Take the line out that the schema of workflows does not know: a permission of July 2026."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "copilot-requests: write" not in line))


def written(folder: Path) -> dict[str, dict[Any, Any]]:
    """Return the workflows of a checkout. YAML 1.1 reads the key `on` as true."""
    paths = sorted((folder / ".github" / "workflows").glob("*"))
    return {str(path.relative_to(folder)): yaml.safe_load(path.read_text()) for path in paths}


MODEL = ["--llm-url", "https://api.example/v1", "--llm-model", "some/model-4.1"]
COPILOT = ["--llm-url", "copilot"]
FORMS = [
    ["--public"],
    ["--private"],
    ["--private", "--forks"],
    ["--public", "--level", "2"],
    ["--private", "--level", "2", "--cloud", "lambda"],
    ["--public", "--level", "2", *MODEL],
    ["--private", *MODEL],
    ["--private", *COPILOT],
    ["--public", *COPILOT, "--llm-model", "gpt-5.4"],
]


@pytest.mark.parametrize("words", FORMS, ids=" ".join)
def test_what_it_writes_passes_the_linters_and_grants_exactly_what_is_used(checkout: Path, words: list[str]) -> None:
    assert cli.main(["init", *words, "--pin", COMMIT]) == 0
    files = written(checkout)
    assert list(files) == [path for path in (COMMANDING, PROPOSING) if path == PROPOSING or "--level" in words]
    for linter in (
        ["zizmor", "--offline", "--strict-collection", "--persona=auditor", "--quiet", "."],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files],
    ):
        if linter[0] == "check-jsonschema":
            without_copilots_permission(checkout / PROPOSING)
        done = subprocess.run(
            [str(BIN / linter[0]), *linter[1:]], cwd=checkout, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    for path, workflow in files.items():
        (job,) = workflow["jobs"].values()
        assert workflow["permissions"] == {}
        is_with_model = path == PROPOSING and "--llm-url" in words
        by_model = PROPOSE_BY_COPILOT if "copilot" in words else PROPOSE_BY_MODEL
        used = by_model if is_with_model else USED[path]
        assert job["permissions"] == {each.name: each.level for each in used}
        calls = [job["uses"]] if not is_with_model else [step["uses"] for step in job["steps"]]
        assert [call.rpartition("@")[2] for call in calls] == [COMMIT], "nothing is executed that is not ours"
        assert all("run" not in step for step in job.get("steps", ()))


def test_a_language_model_is_named_and_its_key_passed_by_name(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["init", "--private", *MODEL]) == 0
    (job,) = written(checkout)[PROPOSING]["jobs"].values()
    assert job["steps"][0]["with"] == {
        "llm-url": "https://api.example/v1",
        "llm-model": "some/model-4.1",
        "llm-key": "${{ secrets.LLM_KEY }}",
    }
    assert "draft" in job["if"]
    said = capsys.readouterr().out
    assert "Add the secret LLM_KEY" in said
    assert "some/model-4.1 at https://api.example/v1" in said
    assert cli.main(["init", "--private", *MODEL]) == 0
    assert "unchanged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ([], {"llm-url": "copilot"}),
        (["--llm-model", "claude-sonnet-4.6"], {"llm-url": "copilot", "llm-model": "claude-sonnet-4.6"}),
    ],
)
def test_github_copilot_needs_no_secret(
    checkout: Path, capsys: pytest.CaptureFixture[str], more: list[str], wanted: dict[str, str]
) -> None:
    assert cli.main(["init", "--private", *COPILOT, *more]) == 0
    (job,) = written(checkout)[PROPOSING]["jobs"].values()
    assert job["steps"][0]["with"] == wanted
    said = capsys.readouterr().out
    assert "GitHub Copilot" in said
    assert "No secret is needed for Copilot" in said
    assert "LLM_KEY" not in said + (checkout / PROPOSING).read_text()


@pytest.mark.parametrize("words", [MODEL[:2], MODEL[2:]], ids=" ".join)
def test_half_a_model_is_refused_with_the_other_half(
    checkout: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert cli.main(["init", "--private", *words]) == 1
    said = capsys.readouterr().err
    assert "--llm-url" in said
    assert "--llm-model" in said
    assert not (checkout / ".github").exists()


@pytest.mark.parametrize(
    ("words", "trigger"),
    [
        (["--public"], "pull_request_target"),
        (["--private"], "pull_request"),
        (["--private", "--forks"], "pull_request_target"),
    ],
)
def test_forks_decide_the_trigger(checkout: Path, words: list[str], trigger: str) -> None:
    cli.main(["init", *words])
    assert set(written(checkout)[PROPOSING][True]) == {trigger}


def test_second_level_passes_one_secret_by_name_and_sweeps_at_an_odd_minute(checkout: Path) -> None:
    cli.main(["init", "--private", "--level", "2", "--cloud", "lambda"])
    workflow = written(checkout)[COMMANDING]
    (job,) = workflow["jobs"].values()
    assert job["secrets"] == {"LAMBDA_API_KEY": "${{ secrets.LAMBDA_API_KEY }}"}
    assert job["with"] == {"clouds": "lambda"}
    (minute, *rest) = workflow[True]["schedule"][0]["cron"].split()
    assert rest == ["*"] * 4
    assert int(minute) == sweep_minute("acme/train")


def test_minutes_are_odd_steady_and_spread() -> None:
    minutes = {sweep_minute(f"acme/repository-{number}") for number in range(500)}
    assert minutes == set(range(7, 54, 2))
    assert sweep_minute("Acme/Train") == sweep_minute("acme/train")


def test_what_to_do_next_is_said_with_the_place_of_the_secret(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main(["init", "--public", "--level", "2"])
    said = capsys.readouterr().out
    assert "https://github.com/acme/train/settings/secrets/actions/new" in said
    assert "commands work from then" in said
    assert said.index("Add the secret") < said.index("Merge into")


def test_dry_run_shows_the_files_and_writes_nothing(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["init", "--private", "--dry-run"]) == 0
    assert not (checkout / ".github").exists()
    assert "types: [opened, reopened, synchronize, ready_for_review]" in capsys.readouterr().out


def test_second_time_changes_nothing(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["init", "--private"])
    assert cli.main(["init", "--private"]) == 0
    assert re.search(r"unchanged +\.github/workflows/gpu-lol\.yml", capsys.readouterr().out)


def test_file_of_a_person_is_kept_unless_forced(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = checkout / PROPOSING
    mine.parent.mkdir(parents=True)
    mine.write_text("name: mine\n")
    assert cli.main(["init", "--private", "--level", "2"]) == 1
    assert mine.read_text() == "name: mine\n"
    assert (checkout / COMMANDING).exists(), "what is in nobody's way is written all the same"
    assert "--force" in capsys.readouterr().out
    assert cli.main(["init", "--private", "--level", "2", "--force"]) == 0
    assert "propose.yml" in mine.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "jobs:\n  a:\n    uses: gpu-lol/gpu-lol-action/.github/workflows/propose.yml@main\n",
        "on: pull_request\njobs:\n  a:\n    steps:\n      - uses: gpu-lol/gpu-lol-action@main\n",
    ],
    ids=["our workflow", "the action as a step"],
)
def test_workflow_that_calls_ours_already_is_not_doubled_even_by_force(
    checkout: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    other = checkout / ".github" / "workflows" / "machines.yaml"
    other.parent.mkdir(parents=True)
    other.write_text(text)
    assert cli.main(["init", "--private", "--force"]) == 1
    assert not (checkout / PROPOSING).exists()
    assert "machines.yaml does the same already" in capsys.readouterr().out


def test_link_in_the_place_of_a_workflow_leads_nowhere(checkout: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (checkout / ".github").mkdir()
    (checkout / ".github" / "workflows").symlink_to(outside)
    assert cli.main(["init", "--private"]) == 1
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("remote", "says"),
    [
        (None, "no remote"),
        ("https://git.example.com/acme/train.git", "Enterprise"),
        ("git@github.com:acme/train.git", "--public"),
    ],
)
def test_what_it_cannot_know_it_asks_by_an_option(
    checkout: Path, capsys: pytest.CaptureFixture[str], remote: str | None, says: str
) -> None:
    git(checkout, "remote", "remove", "origin")
    if remote is not None:
        git(checkout, "remote", "add", "origin", remote)
    assert cli.main(["init"]) == 1
    assert says in capsys.readouterr().err
    assert not (checkout / ".github").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--level", "3"], ["--pin", "x y"], ["--pin", "a\nb"], ["--cloud", "vast"],
        ["--llm-url", "http://api.example/v1", "--llm-model", "m"], ["--llm-url", "https://a.example/v1?key=x", "--llm-model", "m"],
        ["--llm-url", "https://name:word@a.example/v1", "--llm-model", "m"], ["--llm-url", "https://a.example/v1\n", "--llm-model", "m"],
        [*MODEL[:3], 'm"\n'], [*MODEL[:3], "${{ github.token }}"], [*MODEL[:3], ""],
    ],
)  # fmt: skip
def test_values_that_make_no_workflow_are_refused(checkout: Path, words: list[str]) -> None:
    assert cli.main(["init", "--private", *words]) == 1
    assert not (checkout / ".github").exists()


@pytest.mark.parametrize("is_private", [True, False])
def test_github_says_what_git_cannot_know(tmp_path: Path, *, is_private: bool) -> None:
    with started_place(tmp_path, Setting(is_private=is_private)) as place:
        look = PublicGitHub(place.clock.now, place.hub.api_url, place.hub.bot_token)
        assert look.visibility(place.hub.setting.full_name) == (not is_private, False)
        assert PublicGitHub(place.clock.now, place.hub.api_url).visibility(place.hub.setting.full_name) == (None, None)


def test_pin_is_the_releases_tag_where_nobody_can_be_asked() -> None:
    assert PublicGitHub(lambda: START, NOWHERE).pin("1.2.3") == Pin("v1.2.3")
