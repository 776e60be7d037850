"""Stories on a real machine through both jobs: each command comes from fresh runners with an empty HOME and the cloud key alone."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.domain.environment import State
from gpu_lol_action.rehearsal.stage import StepRun
from gpu_lol_action.router import Run
from tests.fixtures.machines.machine import STAND_IN_FACTS, Machine, lay_stand_ins, make_key, running_machine
from tests.support.machine_scene import CLOUD_KEY, MachineScene, machine_scene

NEW_KEY = "rpa_" + "second" * 7


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("machine")
    lay_stand_ins(folder, dict(STAND_IN_FACTS))
    with running_machine(folder) as started:
        yield started


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Private keys of two people, as ssh-keygen makes them."""
    folder = tmp_path_factory.mktemp("people")
    return {login: make_key(folder, login) for login in ("ada", "grace")}


@pytest.fixture
def scene(machine: Machine, people: dict[str, Path], tmp_path: Path) -> Iterator[MachineScene]:
    keys = {login: [" ".join(key.with_suffix(".pub").read_text().split()[:2])] for login, key in people.items()}
    with machine_scene(machine, tmp_path, keys) as scene:
        yield scene


def up(scene: MachineScene, options: str = "") -> Run:
    decide, run = scene.give_with_cloud(f"/gpu-lol up{options}")
    assert decide.outputs["lane"] == "spend"
    assert run.results[0].outcome.reason_code == "launched", [run.results[0].outcome, scene.bodies[-1]]
    return run


def down(scene: MachineScene) -> Run:
    decide, run = scene.give_with_cloud("/gpu-lol down")
    assert decide.outputs["lane"] == "end"
    return run


def reason(run: StepRun) -> str:
    return run.outputs["reason_code"]


def can_log_in(scene: MachineScene, key: Path) -> bool:
    """Whether somebody logs in with the system's own client and their own key, as the comment tells them to."""
    endpoint = scene.record.ssh
    assert endpoint is not None
    options = [
        "-F",
        "none",
        "-i",
        str(key),
        "-p",
        str(endpoint.port),
        "-o",
        "IdentitiesOnly=yes",
        "-o",
        "BatchMode=yes",
    ]
    options += ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
    done = subprocess.run(["ssh", *options, "root@127.0.0.1", "echo in"], capture_output=True, text=True, check=False)
    return done.stdout == "in\n"


def test_commands_reach_the_machine_from_fresh_runners(scene: MachineScene, people: dict[str, Path]) -> None:
    up(scene)
    assert scene.record.state is State.READY
    assert scene.record.ssh is not None
    assert f"ssh -p {scene.record.ssh.port}" in scene.bodies[-1]
    assert can_log_in(scene, people["ada"])

    ran = scene.give("/gpu-lol run -- echo $((6 * 7)) from $(pwd); exit 3")
    assert (reason(ran), ran.exit_code) == ("ran", 0), ran.log
    assert json.loads(ran.outputs["result"])["results"][0]["exit_code"] == "3"
    assert "42 from /root/llm-lab" in scene.bodies[-1]
    assert scene.bodies[-1] in ran.summary

    assert reason(scene.give("/gpu-lol logs run")) == "logs_shown"
    assert "42 from /root/llm-lab" in scene.bodies[-1]
    validated = scene.give("/gpu-lol validate")
    assert reason(validated) == "validated", validated.log
    assert json.loads(validated.outputs["result"])["results"][0]["failed_checks"] == "0", scene.bodies[-1]

    before = scene.record.lease.expires_at
    extended = scene.give("/gpu-lol extend 45m")
    assert reason(extended) == "extended", extended.log
    assert scene.record.lease.expires_at - before == timedelta(minutes=45)
    told = scene.there("cat ~/.gpu-lol/ends_text").strip()
    assert told == f"{scene.record.lease.expires_at:%Y-%m-%d %H:%M} UTC", "the machine knows the new end"

    refused = scene.give("/gpu-lol extend 11h")
    assert (reason(refused), refused.exit_code) == ("lease_out_of_bounds", 0), refused.log
    assert scene.there("cat ~/.gpu-lol/ends_text").strip() == told
    assert "runs at $" in scene.bodies[-1], "what is billing now stands last"

    budget = scene.give("/gpu-lol budget")
    assert reason(budget) == "budget_shown"
    assert "promised" in budget.summary
    assert "▒" in budget.summary, "a chart in the job's summary"

    assert reason_of(down(scene)) == "torn_down"
    assert scene.record.state is State.CLOSED
    assert scene.cloud.running == {}


def test_up_waits_for_a_machine_and_its_comment_shows_it(scene: MachineScene) -> None:
    scene.cloud.sold_out = 3
    said: list[str] = []
    scene.cloud.on_launch = lambda: said.extend(body for body in scene.bodies if "Waiting for a machine" in body)
    up(scene, " --wait --gpu RTX4090")
    assert scene.cloud.log.count("launch") == 4
    record = scene.record
    assert record.state is State.READY
    assert record.waiting is not None
    assert record.waiting.rounds >= 2
    assert said, "the status comment says so before the next round"
    assert "Nothing is billed while it waits." in said[0]
    assert record.lease.expires_at - record.claimed_at == timedelta(hours=2), "the announced end does not move"
    down(scene)


def test_sync_brings_new_commits_and_touches_no_unsaved_work(scene: MachineScene) -> None:
    up(scene)
    scene.stage.hub.push(scene.number, "ada", {"train.py": "print('epoch 2')\n"})
    synced = scene.give("/gpu-lol sync")
    assert reason(synced) == "synced", synced.log
    assert scene.there("cd ~/llm-lab && cat train.py && git status --porcelain") == "print('epoch 2')\n"
    assert scene.record.sha == scene.there("git -C ~/llm-lab rev-parse HEAD").strip()

    scene.there("echo mine >> ~/llm-lab/train.py")
    scene.stage.hub.push(scene.number, "ada", {"train.py": "print('epoch 3')\n"})
    kept = scene.give("/gpu-lol sync")
    assert reason(kept) == "unsaved_work", kept.log
    assert "1 tracked files are changed" in scene.bodies[-1] or "nothing was touched" in scene.bodies[-1]
    assert scene.there("cat ~/llm-lab/train.py") == "print('epoch 2')\nmine\n"
    down(scene)


def test_commits_are_pushed_with_the_forwarded_agent_and_no_key_stays(
    scene: MachineScene, people: dict[str, Path], tmp_path: Path
) -> None:
    up(scene)
    checkout = "cd ~/llm-lab && git config user.email ada@example.org && git config user.name Ada"
    assert scene.there(
        f"{checkout}; git status --porcelain; git remote -v | cut -f 2; git rev-parse --abbrev-ref HEAD"
    ) == (
        f"{scene.stage.hub.web_url.replace('http:', 'https:')}/acme/llm-lab.git (fetch)\n"
        "ssh://git@127.0.0.1/acme/llm-lab.git (push)\nlonger\n"
    )
    # Another host that takes her key, in GitHub's place.
    there = f"ssh://root@127.0.0.1:{scene.machine.endpoint.port}/root/bare.git"
    scene.there(
        f"rm -rf ~/bare.git; git init -q --bare ~/bare.git; git -C ~/bare.git config receive.shallowUpdate true; git -C ~/llm-lab remote set-url --push origin {there}"
    )
    work = f"{checkout} && echo more >> train.py && git diff --stat && git commit -qam 'from there' && git push -q"
    assert "denied" in as_ada(scene, people["ada"], tmp_path, work, is_forwarding=False)
    pushed = as_ada(scene, people["ada"], tmp_path, "cd ~/llm-lab && git push -q && git status -sb", is_forwarding=True)
    assert pushed.startswith("## longer"), pushed
    assert scene.there("git -C ~/bare.git log -1 --format=%s longer") == "from there\n"
    assert scene.there("grep -rl 'PRIVATE KEY' ~/.ssh ~/llm-lab/.git 2> /dev/null") == ""
    down(scene)


def as_ada(scene: MachineScene, key: Path, folder: Path, command: str, *, is_forwarding: bool) -> str:
    """Log in with an agent of one's own that holds the key, and run something; return all that was said."""
    assert scene.record.ssh is not None
    # A socket's path may have no more than about a hundred characters.
    with tempfile.TemporaryDirectory(prefix="agent-", dir="/tmp") as short:
        socket = Path(short) / "socket"
        agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
        try:
            environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "SSH_AUTH_SOCK": str(socket)}
            for _ in range(200):
                if socket.exists():
                    break
                time.sleep(0.05)
            subprocess.run(["ssh-add", "-q", str(key)], env=environment, check=True)
            options = ["-A" if is_forwarding else "-a", "-F", "none", "-p", str(scene.record.ssh.port)]
            options += ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
            done = subprocess.run(
                ["ssh", *options, "root@127.0.0.1", command],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            return done.stdout + done.stderr
        finally:
            agent.terminate()
            agent.wait()


def test_share_lets_somebody_in_and_unshare_takes_the_keys_out_again(
    scene: MachineScene, people: dict[str, Path]
) -> None:
    up(scene)
    assert not can_log_in(scene, people["grace"])
    assert reason(scene.give("/gpu-lol run -- id", "grace")) == "not_on_machine"

    shared = scene.give("/gpu-lol share @grace")
    assert reason(shared) == "shared", shared.log
    assert can_log_in(scene, people["grace"])
    assert scene.record.shared == ("grace",)
    assert reason(scene.give("/gpu-lol run -- id -un", "grace")) == "ran"
    assert "root" in scene.bodies[-1]

    assert reason(scene.give("/gpu-lol unshare @grace")) == "unshared"
    assert not can_log_in(scene, people["grace"])
    assert can_log_in(scene, people["ada"])
    block = scene.there("cat ~/.ssh/authorized_keys")
    assert block.count("# >>> gpu-lol >>>") == block.count("# <<< gpu-lol <<<") == 1
    assert scene.there("sshd -T 2>/dev/null | grep -i ^passwordauthentication").strip() == "passwordauthentication no"
    down(scene)


def test_work_is_saved_by_down_and_comes_back_with_restore(
    scene: MachineScene, people: dict[str, Path], tmp_path: Path
) -> None:
    up(scene)
    scene.there(WORK)
    assert reason_of(down(scene)) == "torn_down"
    certificate = scene.bodies[-1]
    assert "saved: 2 changed files, 2 new files, 1 commit" in certificate, certificate

    # A person fetches the blob and opens it with the real age and their own key; nobody else's opens it.
    (blob,) = re.findall(r"git/blobs/([0-9a-f]{40})", certificate)
    sealed = tmp_path / "work.age"
    sealed.write_bytes(scene.stage.hub.repository.git.read_blob(blob))
    opened = subprocess.run(["age", "-d", "-i", str(people["ada"]), str(sealed)], capture_output=True, check=False)
    assert opened.returncode == 0, opened.stderr
    stranger = subprocess.run(["age", "-d", "-i", str(people["grace"]), str(sealed)], capture_output=True, check=False)
    assert stranger.returncode != 0

    scene.there("rm -rf ~/llm-lab ~/.gpu-lol")
    up(scene, " --restore")
    assert "Saved work is back" in scene.bodies[-1]
    back = scene.there("cd ~/llm-lab; cat train.py notes.txt weights/last.pt; git log -1 --format=%s rescued")
    assert back == "print('epoch 1')\n# mine\nnew\nweights\nmy commit\n"
    down(scene)


def reason_of(run: Run) -> str:
    return run.results[0].outcome.reason_code


WORK = """
cd ~/llm-lab && git config user.email ada@example.org && git config user.name Ada
echo committed > committed.py && git add committed.py && git commit -qm 'my commit'
echo '# mine' >> train.py; echo new > notes.txt; mkdir weights; echo weights > weights/last.pt; echo log > weights/run.log
"""


def test_after_the_cloud_key_was_changed_machines_are_still_ended_and_each_answer_says_what_no_longer_works(
    scene: MachineScene, people: dict[str, Path]
) -> None:
    up(scene)
    scene.there(WORK)
    before = scene.record
    scene.cloud_key = NEW_KEY
    for command in ("run -- id", "logs", "validate", "share @grace", "extend 30m"):
        refused = scene.give(f"/gpu-lol {command}")
        assert refused.exit_code in (2, 4), (command, refused.log)
        assert "The machine refuses gpu-lol's key" in scene.bodies[-1], (command, scene.bodies[-1])
        for word in ("`run`", "`extend`", "Your own login", "/gpu-lol down", "runs at $"):
            assert word in scene.bodies[-1], (command, word, scene.bodies[-1])
    scene.stage.hub.push(scene.number, "ada", {"train.py": "print('epoch 2')\n"})
    scene.give("/gpu-lol sync")
    assert "The machine refuses gpu-lol's key" in scene.bodies[-1]
    assert (scene.record.lease, scene.record.shared) == (before.lease, ()), "what could not be done is not on record"
    assert can_log_in(scene, people["ada"]), "the requester's own key has nothing to do with it"

    scene.cloud_key = CLOUD_KEY
    assert reason(scene.give("/gpu-lol logs")) == "logs_shown", "with the old key again all works as before"
    scene.cloud_key = NEW_KEY

    assert reason_of(down(scene)) == "torn_down"
    assert scene.cloud.running == {}
    record = scene.record
    assert record.state is State.CLOSED
    assert record.bill is not None
    assert "**not saved**" in scene.bodies[-1]
    assert "key" in scene.bodies[-1]


def test_a_machine_that_another_accounts_key_cannot_see_is_never_certified_gone(scene: MachineScene) -> None:
    up(scene)
    scene.cloud.is_of_another_account = True
    run = down(scene)
    assert reason_of(run) == "teardown_unproven", run.results[0].outcome
    assert scene.record.state is State.UNKNOWN
    assert "another account" in scene.bodies[-1]
    assert "counts as running" in scene.bodies[-1]
    scene.cloud.is_of_another_account = False
    assert reason_of(down(scene)) == "torn_down"
