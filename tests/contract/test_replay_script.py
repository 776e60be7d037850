"""scripts/replay-contract, played against a repository that it takes for a real one: a stand-in in another process's eyes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_lol_action.rehearsal.github import Hub
from tests.contract.github_setup import Place, started_place

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "replay-contract"


def replay(place: Place, token: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT), "GITHUB_TOKEN": token}
    command = [str(SCRIPT), place.hub.setting.full_name, place.hub.api_url, "-q", "-p", "no:randomly"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)


def our_refs(hub: Hub) -> list[str]:
    git = hub.repository.git
    return [ref for start in ("refs/gpu-lol/", "refs/heads/gpu-lol") for ref in git.refs(start)]


@pytest.mark.parametrize("left_out", ["", "checks"])
def test_replay_is_green_and_cleans_up_behind_itself(tmp_path: Path, left_out: str) -> None:
    with started_place(tmp_path) as place:
        permissions = dict.fromkeys(("contents", "issues", "pull_requests", "deployments", "checks"), "write")
        permissions |= {"actions": "read", **({left_out: "read"} if left_out else {})}
        permissions["metadata"] = "read"
        # What a replay that was cut short has left.
        place.hub.repository.git.update_ref("refs/gpu-lol/environments/gl-replay-0123456789", place.head, None)
        before = place.hub.repository.git.refs("refs/heads/")
        ended = replay(place, place.hub.add_token(place.hub.bot.login, permissions))

        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert int(re.findall(r"(\d+) passed", ended.stdout)[0]) >= 17
        skipped = re.findall(r"^SKIPPED \[(\d+)\] .*?: (.+)$", ended.stdout, re.MULTILINE)
        unasked = [count for count, why in skipped if "stand-in" not in why]
        assert unasked == (["1"] if left_out else []), "only what this token may not do is left out, and said"
        assert our_refs(place.hub) == []
        assert place.hub.repository.git.refs("refs/heads/") == before
        replayed = [issue for issue in place.hub.repository.issues.values() if "replay" in issue.title]
        assert [issue.state for issue in replayed] == ["closed"]
        assert place.hub.problems() == []


def test_help_says_what_it_makes_what_stays_and_what_the_token_needs() -> None:
    shown = subprocess.run([str(SCRIPT), "--help"], capture_output=True, text=True, check=True).stdout

    assert shown.startswith("Ask GitHub itself")
    for word in ("Creates:", "Cleans up:", "Stays:", "The token needs:", "pull-requests: write", "deployments: write"):
        assert word in shown
    assert "set -euo" not in shown


@pytest.mark.parametrize(("arguments", "said"), [([], "OWNER/REPOSITORY"), (["me/scratch"], "Set GITHUB_TOKEN")])
def test_without_a_repository_or_a_token_nothing_is_asked(arguments: list[str], said: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "GITHUB_TOKEN"}
    ended = subprocess.run([str(SCRIPT), *arguments], env=environment, capture_output=True, text=True, check=False)

    assert ended.returncode == 2
    assert said in ended.stderr
