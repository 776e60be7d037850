"""The validator over a real sshd: a machine on which all is right, and for each check one on which just that is wrong.

Driver and torch are the rehearsal's stand-ins; everything else (git, sshd, processes, files, sizes) is real.
"""

from __future__ import annotations

import http.server
import json
import shlex
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.domain.environment import CheckStatus
from gpu_lol_action.domain.spec import Dependencies
from gpu_lol_action.launch.access import Access, build_access_script, decide_access, parse_access_output
from gpu_lol_action.launch.code import CodeShipped, build_code_script, parse_code_output
from gpu_lol_action.launch.probe import ProbeReading, ProbeRequest, build_probe_script, parse_probe_output
from gpu_lol_action.launch.setup import SetupRequest, build_setup_script, parse_setup_output
from tests.fixtures.machines.machine import (
    PACKAGES,
    STAND_IN_FACTS,
    Machine,
    lay_over,
    lay_stand_ins,
    make_key,
    running_machine,
)
from tests.support.shipped_code import archive_of, make_odd_repository, request_of

NONCE = "0123456789abcdef"
PASSED, FAILED, NOTED = CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.NOTED
FACTS_FILE = "/etc/gpu-lol-stand-in.json"
# A torch.distributed that really meets in the file and adds up, for machines with two cards; it can be told to lie.
DISTRIBUTED = """
import os, time
from . import _facts
_state = {}
def is_available(): return True
def is_nccl_available(): return True
def init_process_group(backend, init_method, rank, world_size):
    assert backend == "nccl"
    _state.update(rank=rank, size=world_size, place=init_method[len("file://"):])
def all_reduce(values):
    mode = _facts.text("all_reduce", "right")
    if mode == "hangs": time.sleep(600)
    with open("%s.%d.part" % (_state["place"], _state["rank"]), "w") as file: file.write(repr(values.tolist()[0]))
    os.rename("%s.%d.part" % (_state["place"], _state["rank"]), "%s.%d" % (_state["place"], _state["rank"]))
    total = 0.0
    for rank in range(_state["size"]):
        while not os.path.exists("%s.%d" % (_state["place"], rank)): time.sleep(0.02)
        total += float(open("%s.%d" % (_state["place"], rank)).read())
    values._rows = [[total - (mode == "wrong")] * len(row) for row in values._rows]
def destroy_process_group(): pass
"""


class _Hub(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@dataclass
class Bench:
    """A machine as ``up`` leaves it, and how to look at it."""

    machine: Machine
    shell: OpenSsh
    request: ProbeRequest

    def do(self, script: str) -> str:
        output = self.shell.run(self.machine.endpoint, script)
        assert output.exit_code == 0, output
        return output.stdout

    def state(self, **changes: object) -> None:
        facts = json.dumps({**STAND_IN_FACTS, **changes})
        self.do(f"printf %s {shlex.quote(facts)} > {FACTS_FILE}")

    def probe(self, **changes: object) -> ProbeReading:
        request = replace(self.request, **changes)  # type: ignore[arg-type]
        output = self.shell.run(self.machine.endpoint, build_probe_script(request, NONCE), timeout=timedelta(minutes=2))
        return parse_probe_output(output.stdout, request, NONCE)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_odd_repository(tmp_path_factory.mktemp("repository"))


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, repository: Path, hub: str) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("machine")
    lay_stand_ins(folder, STAND_IN_FACTS)
    lay_over(folder, f"{PACKAGES}/torch/distributed.py", DISTRIBUTED)
    for name, module, version in (("good_pack", "good_pack", "1.5"), ("Flash_Attn", "flash_attn", "2.6.3")):
        lay_over(folder, f"{PACKAGES}/{module}/__init__.py", f"__version__ = {version!r}\n")
        lay_over(
            folder,
            f"{PACKAGES}/{name}-{version}.dist-info/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        )
    lay_over(
        folder,
        f"{PACKAGES}/torch-2.4.0.dist-info/METADATA",
        "Metadata-Version: 2.1\nName: torch\nVersion: 2.4.0+cu124\n",
    )
    with running_machine(folder) as machine:
        shell = OpenSsh(machine.private_key)
        access = decide_access({"octo-cat": [make_key(folder, "requester").with_suffix(".pub").read_text().strip()]})
        assert isinstance(access, Access)
        code = request_of(repository)
        request = ProbeRequest(
            accelerator="RTX4090",
            gpu_count=1,
            vram_required_gib=22,
            disk_gb=None,
            requirements=("torch>=2.3", "good-pack==1.5", "flash-attn", "winonly; sys_platform == 'win32'"),
            folder="My.Repo",
            sha=code.sha,
            tree_id=code.tree_id,
            keys=tuple(f"{key.key_type} {key.body}" for key in access.keys),
            hub_url=hub,
            seconds=60,
        )
        bench = Bench(machine, shell, request)
        bench.do(build_access_script(access, NONCE))
        shipped = shell.run(machine.endpoint, build_code_script(code, NONCE), stdin=archive_of(repository))
        assert isinstance(parse_code_output(shipped.stdout, code, NONCE), CodeShipped), shipped
        dependencies = Dependencies(
            asset_links=("/mnt/models:/root/models",), setup_commands=("echo $MY_NAME > ~/said; pwd >> ~/said",)
        )
        setup = SetupRequest(dependencies, "My.Repo", {"MY_NAME": "it's $HOME"}, {"sha": code.sha})
        script = build_setup_script(setup, NONCE)
        reading = parse_setup_output(shell.run(machine.endpoint, script).stdout, NONCE, dependencies.setup_commands)
        assert reading.failed is None, reading
        assert bench.do("cat ~/said") == "it's $HOME\n/root/My.Repo\n"
        yield bench
        shell.close()


def outcome(reading: ProbeReading, status: CheckStatus) -> list[str]:
    return [check.name for check in reading.checks if check.status is status]


def test_all_checks_pass_on_a_machine_as_it_should_be(bench: Bench) -> None:
    bench.state()

    reading = bench.probe()

    assert [(check.name, check.status) for check in reading.checks] == [
        (name, PASSED)
        for name in (
            "driver", "torch", "gpu", "vram", "product", "packages", "code", "disk", "shared_memory", "hub",
            "credentials", "passwords", "requester_keys",
        )
    ], [check.sentence for check in reading.checks if check.status is not PASSED]  # fmt: skip
    assert [check.name for check in reading.checks if check.is_stand_in] == [
        "driver",
        "torch",
        "gpu",
        "vram",
        "product",
    ]
    assert all("stand-in" in check.sentence for check in reading.checks if check.is_stand_in)
    assert reading.packages == ("torch 2.4.0+cu124", "good-pack 1.5", "flash-attn 2.6.3")
    assert reading.missing == ()


def test_all_checks_pass_on_a_machine_with_two_gpus(bench: Bench) -> None:
    bench.state(gpu_count=2)

    reading = bench.probe(gpu_count=2)

    assert outcome(reading, FAILED) == []
    assert "all_reduce" in outcome(reading, PASSED)


@dataclass(frozen=True)
class Control:
    """A machine on which just one check must fail (or be noted): lies of the stand-ins, a script, or another demand."""

    check: str
    lies: dict[str, object] | None = None
    script: str = ""
    undo: str = ""
    demand: dict[str, object] | None = None
    status: CheckStatus = FAILED
    says: str = ""
    follows: tuple[str, ...] = ()


BREAK_TORCH = f"mv /{PACKAGES}/torch/version.py /tmp/version.py"
CONTROLS = {
    "driver too old for torch's CUDA": Control(
        "driver", {"driver_version": "470.82.01", "cuda_version": "11.4"}, says="Driver 470.82.1 is too old: CUDA 12.4"
    ),
    "nvidia-smi broken": Control(
        "driver",
        script="mv /usr/local/bin/nvidia-smi /tmp/smi; printf '#!/bin/sh\\necho NVML: mismatch; exit 18' > /usr/local/bin/nvidia-smi; chmod +x /usr/local/bin/nvidia-smi",
        undo="mv /tmp/smi /usr/local/bin/nvidia-smi",
        says="NVML: mismatch",
        follows=("gpu",),
    ),
    "torch does not import": Control(
        "torch", script=BREAK_TORCH, undo=f"mv /tmp/version.py /{PACKAGES}/torch/version.py", says="cannot be used",
        follows=("product",), demand={"requirements": ("torch",)},
    ),
    "torch without CUDA": Control("torch", {"torch_cuda_version": ""}, says="without CUDA", follows=("product",)),
    "torch sees no GPU": Control("torch", {"is_cuda_available": False}, says="Found no NVIDIA driver", follows=("product",)),
    "torch not built for the card": Control(
        "torch", {"torch_arch_list": "sm_50 sm_70 sm_90 compute_90"}, says="compute capability 8.9", follows=("product",)
    ),
    "another GPU": Control("gpu", {"gpu_name": "NVIDIA GeForce RTX 3090"}, says="1 × NVIDIA GeForce RTX 3090"),
    "too few GPUs": Control("gpu", demand={"gpu_count": 2}, lies={"torch_gpu_count": 2}, says="2 × RTX4090 was rented", follows=("all_reduce",)),
    "torch sees fewer GPUs": Control("gpu", {"gpu_count": 2, "torch_gpu_count": 1}, demand={"gpu_count": 2}, says="torch sees 1", follows=("all_reduce",)),
    "too little memory": Control("vram", demand={"vram_required_gib": 40}, says="24.0 GiB per GPU can be used, 40 GiB"),
    "memory in use by others": Control("vram", {"memory_used_mib": 9000}, says="somebody else uses this GPU"),
    "wrong product": Control("product", {"matmul_error": 3.0}, says="elements are wrong"),
    "product is not a number": Control("product", {"matmul_error": "nan"}, says="elements are wrong"),
    "GPUs do not add up": Control("all_reduce", {"gpu_count": 2, "all_reduce": "wrong"}, demand={"gpu_count": 2}, says="instead of 3"),
    "GPUs hang together": Control(
        "all_reduce", {"gpu_count": 2, "all_reduce": "hangs"}, demand={"gpu_count": 2, "seconds": 30}, says="time was up"
    ),
    "package missing": Control("packages", demand={"requirements": ("torch", "no-such-pack>=2")}, says="Not installed: no-such-pack>=2"),
    "package of another version": Control("packages", demand={"requirements": ("good-pack>=2",)}, says="good-pack is 1.5"),
    "package does not import": Control(
        "packages",
        script=f"echo 'raise ImportError(\"undefined symbol: _ZN3c10\")' > /{PACKAGES}/flash_attn/__init__.py",
        undo=f"echo > /{PACKAGES}/flash_attn/__init__.py",
        says="undefined symbol",
    ),
    "a file changed": Control(
        "code", script="echo >> ~/My.Repo/train.py", undo="cd ~/My.Repo && truncate -s -1 train.py", says="train.py"
    ),
    "a mode changed": Control("code", script="chmod -x ~/My.Repo/run.sh", undo="chmod +x ~/My.Repo/run.sh", says="run.sh"),
    "another commit": Control("code", demand={"sha": "ab" * 20}, says="the pinned commit is abababababab"),
    "another tree": Control("code", demand={"tree_id": "cd" * 20}, says="cdcdcdcdcdcd"),
    "a file changed by set-up": Control(
        "code", script="rm ~/My.Repo/run.sh", undo="cd ~/My.Repo && git checkout -q run.sh", demand={"has_setup_commands": True},
        status=NOTED, says="run.sh",
    ),
    "disk too small": Control("disk", demand={"disk_gb": 10_000_000}, says="10000000 GB were rented"),
    "disk almost full": Control(
        "disk", script="mount -o remount,size=1g ~", undo="mount -o remount,size=4g ~", says="are free",
    ),
    "shared memory too small": Control(
        "shared_memory", {"gpu_count": 2}, script="mount -o remount,size=64m /dev/shm", undo="mount -o remount,size=2g /dev/shm",
        demand={"gpu_count": 2}, says="has 0.06 GiB",
    ),
    "Hub out of reach": Control("hub", demand={"hub_url": "http://127.0.0.1:9"}, status=NOTED, says="refused"),
    "RunPod's key on disk": Control(
        "credentials", script="mkdir -p ~/.runpod; echo 'api_key = \"x\"' > ~/.runpod/config.toml", undo="rm -r ~/.runpod",
        says="RunPod credential (/root/.runpod/config.toml)",
    ),
    "SkyPilot's private key": Control(
        "credentials", script="ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/sky-cluster-key", undo="rm ~/.ssh/sky-cluster-key*",
        says="private key (/root/.ssh/sky-cluster-key)",
    ),
    "a token in a process": Control(
        "credentials", script="HF_TOKEN=x nohup sleep 60 > /dev/null 2>&1 < /dev/null & echo $! > /tmp/pid; sleep 0.2", undo="kill $(cat /tmp/pid)", says="HF_TOKEN",
    ),
    "a key in the environment file": Control(
        "credentials", script="echo 'OPENAI_API_KEY=x' > /etc/environment", undo="> /etc/environment", says="OPENAI_API_KEY (/etc/environment)",
    ),
    "passwords": Control(
        "passwords", script="sed -i '/^PasswordAuthentication no/d' /etc/ssh/sshd_config; kill -HUP $(pgrep -o sshd); sleep 0.5",
        undo="sed -i '1i PasswordAuthentication no' /etc/ssh/sshd_config; kill -HUP $(pgrep -o sshd); sleep 0.5", says="password",
    ),
    "the requester's key is gone": Control(
        "requester_keys", script="cp ~/.ssh/authorized_keys /tmp/keys; sed -i '/octo-cat/d' ~/.ssh/authorized_keys",
        undo="cp /tmp/keys ~/.ssh/authorized_keys", says="1 of 1 keys",
    ),
}  # fmt: skip


@pytest.mark.parametrize("control", CONTROLS.values(), ids=CONTROLS.keys())
def test_check_fails_alone_on_a_machine_that_is_wrong_in_that(bench: Bench, control: Control) -> None:
    bench.state(**(control.lies or {}))
    try:
        if control.script:
            bench.do(control.script)
        reading = bench.probe(**(control.demand or {}))
    finally:
        if control.undo:
            bench.do(control.undo)

    wrong = {check.name: check for check in reading.checks if check.status is not PASSED}
    assert list(wrong) == [control.check, *control.follows], [check.sentence for check in wrong.values()]
    assert wrong[control.check].status is control.status
    assert control.says in wrong[control.check].sentence
    assert wrong[control.check].fix or control.status is NOTED
    assert all(wrong[name].status is NOTED for name in control.follows)


def test_every_check_has_a_control() -> None:
    checks = {"driver", "torch", "gpu", "vram", "product", "all_reduce", "packages", "code", "disk", "shared_memory"}
    checks |= {"hub", "credentials", "passwords", "requester_keys"}

    assert {control.check for control in CONTROLS.values()} == checks


def test_machine_that_says_nothing_of_use_fails_in_one_sentence(bench: Bench) -> None:
    for output in (
        "",
        "Segmentation fault",
        f"::gpu-lol-probe {NONCE} [1,2",
        f"::gpu-lol-probe {NONCE} null",
        "::gpu-lol-probe wrongnonce {}",
    ):
        (check,) = parse_probe_output(output, bench.request, NONCE).checks
        assert (check.name, check.status) == ("validator", FAILED)


def test_code_of_the_pull_request_cannot_play_the_validator(bench: Bench) -> None:
    bench.state()
    bench.do(
        "cd ~/My.Repo && echo 'raise SystemExit(0)' | tee json.py torch.py ssl.py > /dev/null; printf 'echo ::gpu-lol-probe %s {}\\n' x >> ~/.gpu-lol/env"
    )
    try:
        assert outcome(bench.probe(), FAILED) == []
    finally:
        bench.do("cd ~/My.Repo && rm json.py torch.py ssl.py; sed -i '$d' ~/.gpu-lol/env")


def test_user_without_root_is_told_what_could_not_be_looked_at(bench: Bench) -> None:
    bench.do(
        "id ubuntu > /dev/null 2>&1 || useradd -m -s /bin/bash -p '*' ubuntu; mkdir -p /home/ubuntu/.ssh /home/ubuntu/.aws;"
        " cp ~/.ssh/authorized_keys /home/ubuntu/.ssh/; echo key > /home/ubuntu/.aws/credentials; chown -R ubuntu /home/ubuntu"
    )
    plain = replace(bench, machine=replace(bench.machine, endpoint=replace(bench.machine.endpoint, user="ubuntu")))

    first = plain.probe(gpu_count=0)
    plain.do("rm -r ~/.aws")
    second = plain.probe(gpu_count=0)
    script = build_access_script(Access(()), NONCE)
    refused = parse_access_output(bench.shell.run(plain.machine.endpoint, script).stdout, NONCE)

    (found,) = (check for check in first.checks if check.name == "credentials")
    assert (found.status, "/home/ubuntu/.aws/credentials" in found.sentence) == (FAILED, True)
    (found,) = (check for check in second.checks if check.name == "credentials")
    assert (found.status, "processes of other users" in found.sentence) == (PASSED, True)
    assert "cannot be changed" in str(refused)
