"""The loopback cloud by itself: its machines are real enough to log in to, its faults and ends are what they say. Needs root."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_lol_action.domain.costs import cost_usd
from gpu_lol_action.rehearsal.cloud import LoopbackCloud

ORDER = '{name: "%s", imageName: "runpod/pytorch:2.4.0-py3.11-cuda12.4.1", gpuTypeId: "%s", gpuCount: 2, dataCenterId: "US-CA-1", ports: "22/tcp,8266/http"}'
DEPLOY = "mutation { podFindAndDeployOnDemand(input: %s) { id desiredStatus } }"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    with LoopbackCloud(tmp_path_factory.mktemp("cloud"), boot_delay=0) as cloud:
        yield cloud
        assert cloud.unexpected() == []


def ask(cloud, query, key=None):
    headers = {"Authorization": f"Bearer {key or cloud.api_key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{cloud.url}/graphql", json.dumps({"query": query}).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def deploy(cloud, name="x-head", gpu="NVIDIA A40"):
    return ask(cloud, DEPLOY % (ORDER % (name, gpu)))["data"]["podFindAndDeployOnDemand"]["id"]


def wait_until(condition):
    """Wait for something that a machine under load may take long for; only a hang fails."""
    from threading import Event

    for _ in range(600):
        found = condition()
        if found:
            return found
        Event().wait(0.1)
    raise AssertionError("it never came true")


def booted(cloud, pod_id):
    return wait_until(lambda: next((pod for pod in cloud.pods() if pod["id"] == pod_id and pod["runtime"]), None))


def find_root_process(state, pod_id):
    """Return the first process of a pod once it stands in its own root, else None."""
    for pid in json.loads((state / "processes.json").read_text()):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            command = Path(f"/proc/{child}/cmdline").read_text()
            hostname = Path(f"/proc/{child}/root/etc/hostname")
            if "pod_init.sh" not in command and hostname.is_file() and hostname.read_text().strip() == pod_id:
                return child
    return None


def inside(state, pod_id, script):
    """Run a script in a pod as its console would, without SSH."""
    child = wait_until(lambda: find_root_process(state, pod_id))
    command = ["nsenter", "--target", child, "--all", "--root", "--wd", "bash", "-c", script]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def state_of(cloud):
    return cloud._state


def test_machine_boots_runs_and_is_billed_by_the_table(cloud):
    pod_id = deploy(cloud)
    pod = booted(cloud, pod_id)
    assert (pod["desiredStatus"], pod["costPerHr"], pod["machine"]["gpuDisplayName"]) == ("RUNNING", 0.88, "A40")
    script = "hostname; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; python3 -c 'import torch; print(torch.__version__, torch.__stand_in__)'; python3 -m pip --version >/dev/null && echo pip"
    done = inside(state_of(cloud), pod_id, script)
    assert done.stdout.splitlines() == [pod_id, *["NVIDIA A40, 580.95.05"] * 2, "2.4.0+cu124 True", "pip"], done.stderr
    ask(cloud, f'mutation {{ podTerminate(input: {{podId: "{pod_id}"}}) }}')
    assert all(pod["id"] != pod_id for pod in cloud.pods())
    (bill,) = [bill for bill in cloud.bills() if bill["pod_id"] == pod_id]
    assert Decimal(bill["price_usd_per_hour"]) == Decimal("0.88")
    assert Decimal(bill["usd"]) >= cost_usd(Decimal("0.88"), _seconds(1))
    assert not (state_of(cloud) / "pods" / pod_id).exists()


def _seconds(count):
    from datetime import timedelta

    return timedelta(seconds=count)


def test_two_machines_do_not_see_each_others_files_and_reach_each_other(cloud):
    first, second = deploy(cloud, "a-head"), deploy(cloud, "b-head")
    booted(cloud, first), booted(cloud, second)
    inside(state_of(cloud), first, "echo mine > /root/mine")
    assert inside(state_of(cloud), second, "cat /root/mine").returncode != 0
    address = inside(state_of(cloud), first, "ip -4 -o addr show eth0").stdout.split()[3].split("/")[0]
    listening = inside(
        state_of(cloud), first, "nohup nc -l -p 7000 >/tmp/heard 2>&1 & sleep 0.2; ss -ltn | grep -c :7000"
    )
    assert listening.stdout.strip() == "1"
    inside(state_of(cloud), second, f"echo hello | nc -q 0 {address} 7000")
    assert wait_until(lambda: inside(state_of(cloud), first, "cat /tmp/heard").stdout) == "hello\n"
    for pod_id in (first, second):
        cloud.post("kill", {"id": pod_id})
    assert cloud.pods() == []


def test_pods_own_key_sees_and_ends_that_pod_only(cloud):
    mine, other = deploy(cloud, "mine-head"), deploy(cloud, "other-head")
    booted(cloud, mine), booted(cloud, other)
    key = inside(
        state_of(cloud), mine, "tr '\\0' '\\n' < /proc/1/environ | sed -n 's/^RUNPOD_API_KEY=//p'"
    ).stdout.strip()
    listed = ask(cloud, "{ myself { pubKey pods { id } } }", key)["data"]["myself"]
    assert listed == {"pubKey": None, "pods": [{"id": mine}]}
    refused = ask(cloud, f'mutation {{ podTerminate(input: {{podId: "{other}"}}) }}', key)
    assert "errors" in refused
    assert ask(cloud, DEPLOY % (ORDER % ("z", "NVIDIA A40")), key)["errors"] == [{"message": "Unauthorized"}]
    ask(cloud, f'mutation {{ podTerminate(input: {{podId: "{mine}"}}) }}', key)
    assert [pod["id"] for pod in cloud.pods()] == [other]
    cloud.post("kill", {"id": other})


def test_machine_ends_itself_when_its_lease_is_over(cloud):
    from datetime import datetime, timedelta, timezone

    from gpu_lol_action.domain.environment import Lease
    from gpu_lol_action.launch.lease import Watch, build_lease_script, parse_lease_output

    mine, other = deploy(cloud, "lease-head"), deploy(cloud, "neighbor-head")
    booted(cloud, mine), booted(cloud, other)
    now = datetime(2026, 11, 20, tzinfo=timezone.utc)
    watch = Watch(Lease(now, now + timedelta(seconds=3)), "work", "0" * 40, timedelta(0))
    script = build_lease_script(watch, now, "0123456789abcdef", watch_every=timedelta(seconds=1))
    told = inside(state_of(cloud), mine, script)
    assert parse_lease_output(told.stdout, "0123456789abcdef") is None, told.stdout + told.stderr
    wait_until(lambda: all(pod["id"] != mine for pod in cloud.pods()))
    assert any(pod["id"] == other for pod in cloud.pods()), "its key is good for itself alone"
    cloud.post("kill", {"id": other})


def test_stranger_is_refused(cloud):
    with pytest.raises(urllib.error.HTTPError) as refusal:
        ask(cloud, "{ myself { id } }", "rpa_STRANGER")
    assert refusal.value.code == 401
    refusal.value.close()


def test_faults_answer_in_place_of_the_cloud(cloud):
    cloud.post("fault", {"op": "podFindAndDeployOnDemand", "message": "none left", "gpu_type_id": "NVIDIA L4"})
    assert ask(cloud, DEPLOY % (ORDER % ("x", "NVIDIA L4")))["errors"] == [{"message": "none left"}]
    pod_id = deploy(cloud, gpu="NVIDIA L4")
    cloud.post("kill", {"id": pod_id})
    assert cloud.bills()[-1]["why"] == "lost by its host"


def test_machine_can_be_made_to_lie(cloud):
    cloud.post("stand_in", {"driver_version": "470.57"})
    pod_id = deploy(cloud)
    booted(cloud, pod_id)
    cloud.post("clear", {})
    done = inside(state_of(cloud), pod_id, "nvidia-smi --query-gpu=driver_version --format=csv,noheader -i 0")
    assert done.stdout == "470.57\n"
    cloud.post("kill", {"id": pod_id})


def test_stopped_machine_is_listed_as_exited_until_it_is_ended(cloud):
    pod_id = deploy(cloud)
    booted(cloud, pod_id)
    cloud.post("stop", {"id": pod_id})
    (pod,) = cloud.pods()
    assert (pod["desiredStatus"], pod["runtime"]) == ("EXITED", None)
    cloud.post("kill", {"id": pod_id})


def test_unknown_operations_are_loud_and_kept(tmp_path):
    with LoopbackCloud(tmp_path) as cloud:
        assert "Cannot query field" in ask(cloud, "{ cpuFlavors { id } }")["errors"][0]["message"]
        assert "Cannot query field" in ask(cloud, "{ myself { nonsense } }")["errors"][0]["message"]
        with pytest.raises(urllib.error.HTTPError) as missing:
            urllib.request.urlopen(f"{cloud.url}/v1/networkvolumes", timeout=60)
        missing.value.close()
        assert len(cloud.unexpected()) == 3


def test_killed_clouds_leavings_are_cleared_by_the_next(tmp_path):
    first = LoopbackCloud(tmp_path / "first", boot_delay=0)
    with first:
        booted(first, deploy(first))
        (pod_process,) = json.loads((tmp_path / "first/processes.json").read_text())
        assert first._process is not None
        os.kill(first._process.pid, signal.SIGKILL)
        first._process.wait()
    # Any cloud that starts now clears them: the next line's, or one of a run beside this one.
    with LoopbackCloud(tmp_path / "second") as second:
        assert not Path(f"/proc/{pod_process}").exists() or "Z" in Path(f"/proc/{pod_process}/stat").read_text()
        assert not (tmp_path / "first/pods").exists()
        assert second.pods() == []
