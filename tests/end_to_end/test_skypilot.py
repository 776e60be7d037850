"""The adapter with real SkyPilot on the loopback cloud: one warm server, one machine launched in full. Needs root."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from threading import Event

import psutil
import pytest

from gpu_lol_action.adapters.skypilot import SkyPilotCloud
from gpu_lol_action.adapters.skypilot_home import SkyPilotSettings
from gpu_lol_action.adapters.skypilot_process import free_port
from gpu_lol_action.domain.machine import Launched, LaunchRequest, NotLaunched, find_loss
from gpu_lol_action.errors import OperatorError, TransientError
from gpu_lol_action.launch.keys import derive_key_pair
from gpu_lol_action.rehearsal.catalog import rented_gpus, write_catalog
from gpu_lol_action.rehearsal.cloud import LoopbackCloud

USER_HASH = "e2e0c1c1"
NO_CAPACITY = (
    "There are no longer any instances available with the requested specifications. Please refresh and try again."
)
RESOURCES = {
    "infra": "runpod",
    "accelerators": "A40:1",
    "disk_size": 50,
    "image_id": "docker:runpod/pytorch:2.4.0-py3.11-cuda12.4.1",
}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    with LoopbackCloud(tmp_path_factory.mktemp("cloud"), boot_delay=0.5) as cloud:
        yield cloud
        assert cloud.unexpected() == []


@pytest.fixture(scope="module")
def pair():
    return derive_key_pair("a secret of the repository", 4711, 1)


@pytest.fixture(scope="module")
def make(cloud, pair):
    made = []

    def make(home, key=None, *, has_catalog=True, ahead=lambda: timedelta(0)):
        if has_catalog:
            write_catalog(home)
        settings = SkyPilotSettings(
            home, USER_HASH, {"runpod": key or cloud.api_key}, pair.private_pem, pair.public_line, cloud.environment
        )
        adapter = SkyPilotCloud(settings, os.environ, lambda: datetime.now(timezone.utc) + ahead())
        made.append(adapter)
        return adapter

    yield make
    for adapter in made:
        adapter.close()


@pytest.fixture(scope="module")
def skypilot(make, tmp_path_factory):
    adapter = make(tmp_path_factory.mktemp("skypilot"))
    adapter.warm()
    return adapter


@pytest.fixture(autouse=True)
def clear_faults(cloud):
    yield
    cloud.post("clear", {})
    for pod in cloud.pods():  # of a test that failed: the next one must not stumble over it
        cloud.post("kill", {"id": pod["id"]})


def order(name="gl-e2e-1", minutes=10.0, **resources):
    return LaunchRequest(
        {"name": name, "resources": {**RESOURCES, **resources}}, name, "runpod", timedelta(minutes=minutes)
    )


def family(home):
    """Return the processes that run with this home."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get("HOME") == str(home):
                found.append(process)
        except psutil.Error:
            continue
    return found


def orders_at(cloud):
    return [call for call in cloud.get("calls") if call.get("op") == "podFindAndDeployOnDemand"]


def home_of(adapter):
    return adapter._settings.home


def requests_of(adapter):
    """Return what the server was asked to do, and what it asked itself, by id."""
    with closing(sqlite3.connect(f"file:{home_of(adapter)}/.sky/api_server/requests.db?mode=ro", uri=True)) as requests:
        return dict(requests.execute("SELECT request_id, name FROM requests"))


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (NO_CAPACITY, "no_capacity"),
        ("Your account balance is too low to rent this pod.", "no_balance"),
        ("You have exceeded the limit of GPUs for your account.", "quota"),
    ],
)
def test_refusals_are_told_apart_in_the_clouds_own_words(cloud, skypilot, message, kind):
    cloud.post("fault", {"op": "podFindAndDeployOnDemand", "message": message, "times": 99})
    heard = []
    answer = skypilot.launch(order(), heard.append)
    assert answer == NotLaunched(kind, f"{message} (in each of 3 regions)", is_certain=True)
    assert any("RunPod RO" in line for line in heard)
    assert cloud.pods() == []


@pytest.mark.parametrize(
    "resources", [{"accelerators": "A6000:1"}, {"nonsense": 1}, {"accelerators": "A40:1", "max_hourly_cost": 0.01}]
)
def test_task_that_cannot_be_is_invalid_and_asks_no_cloud(cloud, skypilot, resources):
    answer = skypilot.launch(order(**resources), lambda line: None)
    assert isinstance(answer, NotLaunched)
    assert (answer.kind, answer.is_certain) == ("invalid", True)
    assert cloud.pods() == []


def test_machine_from_launch_to_bill(cloud, skypilot, make, pair, tmp_path):
    heard = []
    answer = skypilot.launch(order(), heard.append)
    assert isinstance(answer, Launched), answer
    assert answer.name_on_cloud == skypilot.name_on_cloud("gl-e2e-1")
    assert any("answers on SSH" in line for line in heard)
    done = requests_of(skypilot)
    assert "sky.launch" in done.values()
    assert [each for each in done if each.endswith("-daemon")] == [], "each is a process that imports SkyPilot anew"
    assert not any(cloud.api_key in line for line in heard)

    # The derived key opens it; nothing on it opens the account, another machine, or our own server.
    key = tmp_path / "key"
    key.write_bytes(pair.private_pem)
    key.chmod(0o600)
    options = [
        "-F",
        "none",
        "-i",
        str(key),
        "-o",
        "IdentitiesOnly=yes",
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        f"UserKnownHostsFile={tmp_path}/known",
    ]
    look = f"""hostname; test ! -e ~/.runpod && test ! -e ~/.ssh/sky-cluster-key && test ! -e ~/.sky/clients && echo clean
    grep -rlsF -e '{cloud.api_key}' /root /etc /tmp /home /var/log /opt || echo no key
    grep -rlsIE -e '^-----BEGIN [A-Z ]*PRIVATE KEY-----' /root /tmp /home /var /opt || echo no private key"""
    done = subprocess.run(
        ["ssh", *options, "-p", str(answer.ssh.port), f"{answer.ssh.user}@{answer.ssh.host}", look],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[1:] == ["clean", "no key", "no private key"], done

    # Another runner: an empty home, the cloud key, the name.
    other = make(tmp_path / "other", has_catalog=False)
    (machine,) = other.machines("runpod", "gl-e2e-")
    assert (machine.name_on_cloud, machine.status) == (answer.name_on_cloud, "RUNNING")
    assert machine.price_usd_per_hour == rented_gpus()["NVIDIA A40"].price_usd_per_hour(1)
    assert machine.created_at is not None
    assert other.machines("runpod", "gl-else-") == []

    # As a spot machine that is taken back: stopped, listed, and billed for its disk until it is ended.
    cloud.post("stop", {"id": machine.machine_id})
    assert find_loss(other.machines("runpod", "gl-e2e-"), answer.name_on_cloud) == "machine_stopped"
    other.teardown("runpod", answer.name_on_cloud, answer.provider_config)
    other.teardown("runpod", answer.name_on_cloud, answer.provider_config)  # again is not an error
    assert other.machines("runpod", "gl-e2e-") == []
    assert cloud.pods() == []
    assert Decimal(str(cloud.bills()[-1]["price_usd_per_hour"])) == machine.price_usd_per_hour
    assert not (home_of(other) / ".sky/state.db").exists()


def test_cloud_that_fails_is_an_outage_and_not_an_empty_list(cloud, skypilot):
    cloud.post("fault", {"op": "myself", "message": "Something went wrong", "times": 1})
    with pytest.raises(TransientError, match="cloud_unreachable"):
        skypilot.machines("runpod", "gl-")
    assert skypilot.machines("runpod", "gl-") == []


class Tombstone(Exception):
    """What a handler raises when somebody said down meanwhile."""


def test_cancel_leaves_no_process_that_could_launch(cloud, skypilot):
    def stop(line):
        if line.startswith("asking"):
            raise Tombstone

    home = home_of(skypilot)
    with pytest.raises(Tombstone):
        skypilot.launch(order("gl-e2e-2"), stop)
    assert family(home) == []
    orders = orders_at(cloud)
    skypilot.teardown("runpod", skypilot.name_on_cloud("gl-e2e-2"), {})
    assert skypilot.machines("runpod", "gl-e2e-2") == []
    assert orders_at(cloud) == orders


def test_launch_whose_machine_never_answers_ends_with_its_time_box(cloud, skypilot, make, tmp_path):
    """SkyPilot waits for the SSH port of a machine without end, while the provider bills it."""
    cloud.post("fault", {"op": "boot", "message": "", "delay_seconds": 3600})
    passed = [timedelta(0)]

    def wait_for_the_machine(line):
        if cloud.pods():
            passed[0] = timedelta(minutes=10)

    adapter = make(tmp_path / "home", ahead=lambda: passed[0])
    answer = adapter.launch(order("gl-e2e-3"), wait_for_the_machine)
    assert answer == NotLaunched("timed_out", "no machine answered within 10 min", is_certain=False)
    assert family(tmp_path / "home") == []
    assert [machine.status for machine in skypilot.machines("runpod", "gl-e2e-3")] == ["CREATED"]
    skypilot.teardown("runpod", skypilot.name_on_cloud("gl-e2e-3"), {})
    assert cloud.pods() == []


def test_wrong_key_is_told_to_the_maintainer_and_a_port_that_somebody_took_costs_a_second_start_only(
    make, monkeypatch, tmp_path
):
    adapter = make(tmp_path / "home", key="rpa_WRONG_KEY_FOR_TESTS")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        ports = iter([taken.getsockname()[1], free_port()])
        monkeypatch.setattr("gpu_lol_action.adapters.skypilot.free_port", lambda: next(ports))
        # What a wrong key is answered shows that the second server worked.
        answer = adapter.launch(order("gl-e2e-4"), lambda line: None)
    assert answer == NotLaunched("credentials", "no allowed cloud accepted its key", is_certain=True)
    assert list(ports) == []
    with pytest.raises(OperatorError) as refusal:
        adapter.machines("runpod", "gl-")
    assert "rpa_WRONG" not in f"{refusal.value} {refusal.value.explanation}"


_LAUNCH_AND_DIE = """
import os, signal, sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from gpu_lol_action.adapters.skypilot import SkyPilotCloud
from gpu_lol_action.adapters.skypilot_home import SkyPilotSettings
from gpu_lol_action.adapters.skypilot_process import free_port
from gpu_lol_action.domain.machine import LaunchRequest
home, url, key = sys.argv[1:]
settings = SkyPilotSettings(Path(home), "e2e0c1c1", {"runpod": key}, Path(home, "key").read_bytes(), Path(home, "key.pub").read_text(), {"RUNPOD_API_BASE_URL": url})
adapter = SkyPilotCloud(settings, os.environ, lambda: datetime.now(timezone.utc))
def die(line):
    if line.startswith("asking"):
        os.kill(adapter._worker._process.pid, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
adapter.launch(LaunchRequest({"resources": RESOURCES}, "gl-e2e-5", "runpod", timedelta(minutes=5)), die)
"""


def test_server_does_not_outlive_owners_that_were_killed(cloud, skypilot, pair, tmp_path):
    home = tmp_path / "home"
    write_catalog(home)
    (home / "key").write_bytes(pair.private_pem)
    (home / "key.pub").write_text(pair.public_line)
    program = f"RESOURCES = {RESOURCES!r}\n{_LAUNCH_AND_DIE}"
    root = str(Path(__file__).parent.parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", program, str(home), cloud.url, cloud.api_key],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    for _ in range(600):  # about two seconds; only a hang fails
        if not family(home):
            break
        Event().wait(0.1)
    assert family(home) == []
    orders = orders_at(cloud)
    skypilot.teardown("runpod", skypilot.name_on_cloud("gl-e2e-5"), {})
    assert skypilot.machines("runpod", "gl-e2e-5") == []
    assert cloud.pods() == []
    assert orders_at(cloud) == orders, "nothing launches on for a client that is dead"
