"""A repository of several projects whose policy names one: the proposal, and the machine that `up` would take, are for that one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.rehearsal.stage import Stage
from tests.support.projects import project

PACKAGE_ROOT = Path(__file__).parents[2]
SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
LARGE = "import torch\nfrom transformers import AutoModelForCausalLM\nAutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-32B-Instruct').cuda()\n"


def files(gigabytes: int, name: str) -> dict[str, str]:
    beside = {
        "README.md": "# Acme\n\n```\npython llm/chat.py\n```\n",
        "llm/chat.py": LARGE,
        "llm/requirements.txt": "transformers\n",
    }
    return {**beside, **{f"{name}/{path}": text for path, text in project(gigabytes).items()}}


@pytest.mark.parametrize("name", ["research/nets", "benchmarks/nets"])
def test_the_proposal_and_up_are_for_the_folder_that_the_policy_names(name: str) -> None:
    with Stage() as stage:
        hub = stage.hub
        hub.add_user(hub.maintainer, role="admin", ssh_keys=[SSH_KEY])
        hub.commit({**files(10, name), POLICY_PATH: f"analysis: {{folders: [{name}]}}\n"})
        opened = hub.open_pull_request("researcher", files(20, name))
        bodies, trees = {}, 0
        for event in (opened, None):
            given = event or hub.comment(int(opened.number or 0), hub.maintainer, "/gpu-lol up --dry-run")
            run_id = hub.start_run(given.name, hub.maintainer)
            keys = {"PYTHONPATH": str(PACKAGE_ROOT), "GPU_LOL_PHASE": "decide", "RUNPOD_API_KEY": "rpa_" + "k" * 40}
            run = stage.run_step(given, run_id, keys)
            hub.finish_run(run_id)
            assert run.exit_code == 0, run.log
            trees = trees or hub.counts()["GET /repos/{owner}/{repo}/tarball/{ref}"]
            bodies[run.outputs["reason_code"]] = hub.comments(int(opened.number or 0), by=hub.bot.login)[-1].body
    proposed, tried = bodies["proposed"], bodies["dry_run"]
    assert "This PR needs a bigger GPU" in proposed, "the base is read for the same folder"
    assert f"<code>{name}/&#46;gpu-lol&#46;yaml</code> for this PR" in proposed, "where the file belongs"
    # Only a folder whose name keeps programs out has to be read once more, head and base.
    assert trees == (2 if name == "research/nets" else 4)
    assert f"{name}/train.py" in proposed.replace("\\", "")
    assert "Qwen" not in proposed + tried
    (card,) = set(re.findall(r"1 × ([A-Z0-9-]+)", tried.partition("\n\n")[0])) or {""}
    assert card
    assert card in proposed


def test_each_pull_request_is_about_the_project_that_it_changes() -> None:
    with Stage() as stage:
        hub = stage.hub
        hub.add_user(hub.maintainer, role="admin", ssh_keys=[SSH_KEY])
        both = {f"{name}/{path}": text for name in ("a", "b") for path, text in project(10).items()}
        hub.commit({**both, POLICY_PATH: "analysis: {folders: [a, b]}\n"})
        for name, other in (("b", "a"), ("a", "b")):
            opened = hub.open_pull_request("researcher", {f"{name}/{path}": text for path, text in project(20).items()})
            run_id = hub.start_run(opened.name, hub.maintainer)
            run = stage.run_step(opened, run_id, {"PYTHONPATH": str(PACKAGE_ROOT), "GPU_LOL_PHASE": "decide"})
            hub.finish_run(run_id)
            assert run.exit_code == 0, run.log
            body = hub.comments(int(opened.number or 0), by=hub.bot.login)[-1].body.replace("\\", "")
            assert "This PR needs a bigger GPU" in body
            assert f"{name}/train.py" in body
            assert f"{other}/train.py" not in body
            tried = hub.comment(int(opened.number or 0), hub.maintainer, "/gpu-lol up --dry-run")
            run_id = hub.start_run(tried.name, hub.maintainer)
            keys = {"PYTHONPATH": str(PACKAGE_ROOT), "GPU_LOL_PHASE": "decide", "RUNPOD_API_KEY": "rpa_" + "k" * 40}
            run = stage.run_step(tried, run_id, keys)
            hub.finish_run(run_id)
            assert run.outputs["reason_code"] == "dry_run", run.log
            answer = hub.comments(int(opened.number or 0), by=hub.bot.login)[-1].body
            assert "RTXA4500" in answer.partition("\n\n")[0], "20 GB, and not what the base asks for"


@dataclass(frozen=True)
class Person:
    """Somebody at a terminal, in a checkout."""

    folder: Path

    def holding(self, held: Mapping[str, str]) -> Person:
        """Commit these files."""
        for path, text in held.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "All"]):
            subprocess.run([*git, *words], cwd=self.folder, check=True)
        return self

    def hears(self, *words: str, inside: str = ".") -> tuple[str, str]:
        """Return what a command that succeeds says, started in a folder of the checkout, and what it warns of."""
        done = self._given(words, inside)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, done.stderr

    def is_refused(self, *words: str) -> str:
        """Return what somebody is told whose command is wrong, on one line."""
        done = self._given(words, ".")
        assert done.returncode == 1, done.stdout + done.stderr
        return " ".join((done.stdout + done.stderr).split())

    def _given(self, words: Sequence[str], inside: str) -> subprocess.CompletedProcess[str]:
        home = self.folder / "home"
        (home / ".ssh").mkdir(parents=True, exist_ok=True)
        (home / ".ssh" / "id_ed25519.pub").write_text(SSH_KEY)
        own = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(PACKAGE_ROOT)}
        own |= {"GPU_LOL_PRICES": "bundled", "RUNPOD_API_KEY": "rpa_" + "k" * 40}
        command = [sys.executable, "-m", "gpu_lol_action.cli", *words]
        return subprocess.run(
            command, cwd=self.folder / inside, env=own, capture_output=True, encoding="utf-8", check=False
        )


def test_a_terminal_takes_the_folder_from_the_checkouts_own_policy(tmp_path: Path) -> None:
    policy = {POLICY_PATH: "analysis: {folders: [research/nets, llm]}\n"}
    person = Person(tmp_path).holding({**files(20, "research/nets"), **policy})

    def said(*words: str) -> str:
        return person.hears(*words)[0]

    told = json.loads(said("analyze", "--format", "json"))
    assert told["vram_required_gb"] == 20
    assert (
        told["vram_required_gb"] == json.loads(said("analyze", "research/nets", "--format", "json"))["vram_required_gb"]
    )
    assert json.loads(said("analyze", "--base", "HEAD", "--format", "json"))["vram_required_gb"] == 20
    assert "20 GB" in said("offers")
    # The cheapest that holds 20 GB; the other project would want one that holds 32 B parameters.
    assert said("up", "--dry-run").startswith(f"⚪ Dry run: 1 × {told['gpu_type']} ")


def test_a_terminal_takes_the_project_that_it_stands_in(tmp_path: Path) -> None:
    policy = {POLICY_PATH: "analysis: {folders: [llm, research/nets]}\n"}
    deep = {"research/nets/tools/deep/note.txt": "-\n"}
    person = Person(tmp_path).holding({**files(20, "research/nets"), **deep, **policy})

    def said(*words: str, inside: str) -> str:
        return person.hears(*words, inside=inside)[0]

    for inside in ("research/nets", "research/nets/tools/deep"):
        told = json.loads(said("analyze", "--format", "json", inside=inside))
        assert told["vram_required_gb"] == 20
        assert all(each["path"].startswith("research/nets/") for each in told["findings"] if each["path"])
        # Its path is the root's, wherever one stands.
        assert "Correct research/nets/.gpu-lol.yaml · get this machine" in " ".join(
            said("analyze", inside=inside).split()
        )
        based = json.loads(said("analyze", "--base", "HEAD", "--format", "json", inside=inside))
        assert (based["vram_required_gb"], based["change"]["runs"]) == (20, [])
        assert "20 GB" in said("offers", inside=inside)
        assert said("up", "--dry-run", inside=inside).startswith(f"⚪ Dry run: 1 × {told['gpu_type']} ")
    # By its path it is that project too; a folder that nobody named is looked at alone.
    by_path = json.loads(said("analyze", "research/nets", "--format", "json", inside="."))
    assert by_path["findings"] == told["findings"]
    alone = json.loads(said("analyze", "research/nets/tools", "--format", "json", inside="."))
    assert alone["vram_required_gb"] != 20


def test_a_terminal_takes_the_project_that_is_named(tmp_path: Path) -> None:
    policy = {POLICY_PATH: "analysis: {folders: [llm, research/nets]}\n"}
    person = Person(tmp_path).holding({**files(20, "research/nets"), **policy})
    standing = json.loads(person.hears("analyze", "--format", "json", inside="research/nets")[0])
    for inside, name in ((".", "research/nets"), (".", "nets/"), ("llm", "./research/nets")):
        told = json.loads(person.hears("analyze", "--project", name, "--format", "json", inside=inside)[0])
        assert told == standing
        assert "20 GB" in person.hears("offers", "--project", name, inside=inside)[0]
        dry = person.hears("up", "--dry-run", "--project", name, inside=inside)[0]
        assert dry.startswith(f"⚪ Dry run: 1 × {told['gpu_type']} ")
    from_elsewhere = person.hears("analyze", "research", "--project", "nets", "--format", "json")[0]
    assert json.loads(from_elsewhere) == standing


def test_a_folder_that_is_looked_at_alone_says_how_it_is_looked_at_in_its_repository(tmp_path: Path) -> None:
    library = {"src/acme/__init__.py": "", "common.py": "", "turtle/__init__.py": "", "nets/__init__.py": ""}
    person = Person(tmp_path).holding({**files(20, "research/nets"), **library})

    def project_of(*words: str) -> str:
        told = " ".join(person.hears("analyze", *words)[0].split())
        return told.partition(" project ")[2].partition(" memory ")[0]

    hint = "this folder alone; what it is built on around it counts with --project research/nets"
    program = tmp_path / "research" / "nets" / "train.py"
    (tmp_path / "research" / "nets" / "nets.py").write_text("")
    for line, told in (
        ("import turtle, nets", ""),
        (f"import {'a' * 300}", ""),
        ("from acme import core", hint),
        ("import common", hint),
    ):
        program.write_text(f"{line}\n{LARGE}")
        assert project_of("research/nets") == told
        assert project_of("research/nets", "--project", "research/nets") == "research/nets"
        assert project_of() == ""


@pytest.mark.parametrize("command", ["analyze", "offers", "up --dry-run", "smoke --dry-run"])
def test_a_terminal_refuses_a_project_that_is_not_there(tmp_path: Path, command: str) -> None:
    policy = {POLICY_PATH: "analysis: {folders: [llm, research/nets]}\n"}
    person = Person(tmp_path).holding({**files(20, "research/nets"), **policy})
    (tmp_path / "research" / "away").symlink_to("/usr")
    for name in ("research/none", "research/away", "research/nets/train.py"):
        told = person.is_refused(*command.split(), "--project", name)
        assert (
            f"There is no folder {name} in the repository, or nothing in it that is read. The policy names llm, research/nets."
            in told
        )
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "cat.png").write_bytes(b"PNG")
    if command in ("analyze", "offers"):
        assert "nothing in it that is read" in person.is_refused(command, "--project", "pictures")
    assert "cannot be ../x" in person.is_refused(*command.split(), "--project", "../x")


def test_a_terminal_says_that_it_could_not_read_the_policy(tmp_path: Path) -> None:
    person = Person(tmp_path).holding({**project(20), POLICY_PATH: "analysis: {folders: [../outside]}\n"})
    told, _ = person.hears("analyze")
    assert "where projects lie was not read of the policy: " in " ".join(told.split())
    assert "20 GB" in told
    _, warned = person.hears("up", "--dry-run")
    assert "where projects lie was not read of the policy: " in " ".join(warned.split())
    assert "analysis.folders" in warned
