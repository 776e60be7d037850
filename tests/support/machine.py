"""A machine behind the scripted shell that answers each of our scripts as a good one does, unless a test says otherwise."""

from __future__ import annotations

import base64
import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from gpu_lol_action.domain.environment import SshEndpoint
from gpu_lol_action.domain.machine import RemoteOutput
from gpu_lol_action.errors import TransientError
from tests.support.hands import HEAD, KEY

TREE = "d" * 40
GOOD: dict[str, Any] = {
    "python": {"version": "3.11.9"},
    "gpu": {
        "driver": {
            "exit_code": 0,
            "cuda": "12.8",
            "gpus": [
                {
                    "name": "NVIDIA GeForce RTX 4090",
                    "memory.total": "24564",
                    "memory.used": "1",
                    "driver_version": "570.1",
                }
            ],
        },
        "torch": {
            "version": "2.4.0+cu124",
            "cuda": "12.4",
            "is_available": True,
            "arch_list": ["sm_80", "sm_86", "sm_90"],
            "devices": [
                {
                    "total_bytes": 25e9,
                    "free_bytes": 24.8e9,
                    "capability": [8, 9],
                    "product": {"elements": 16384, "wrong": 0, "worst": 0.0},
                }
            ],
        },
    },
    "packages": {"found": {"packaging": {"version": "24.1", "is_imported": True}}},
    "code": {
        "head": HEAD,
        "head_tree": TREE,
        "index_tree": TREE,
        "marker": HEAD,
        "files": 3,
        "changed": 0,
        "examples": [],
    },
    "disk": {"volumes": [{"total_bytes": 200e9, "free_bytes": 160e9}]},
    "shared_memory": {"total_bytes": 2 * 2**30},
    "hub": {"url": "https://huggingface.co", "status": 200, "seconds": 0.2},
    "credentials": {"found": [], "scoped": []},
    "ssh": {"methods": ["publickey"], "missing_keys": []},
}
JUNIT = b"""<testsuites><testsuite name="pytest"><testcase classname="tests.test_gpu" name="test_adds" time="0.5"/>
<testcase classname="tests.test_gpu" name="test_shape" time="2"/></testsuite></testsuites>"""
STEPS = ("environment", "system_packages", "asset_links", "requirements")


def script_kind(script: str) -> str:
    """Which of our scripts this is, by the values that stand in front of it."""
    head = script[:200_000]
    for kind, sign in (
        ("smoke", r"^own_report="),
        ("probe", r"^archive="),
        ("sync", r"^before="),
        ("code", r"^commit_base64="),
        ("repair", r"^mode=repair$"),
        ("setup", r"^mode=setup$"),
        ("access", r"^keys="),
        ("share", r"^person_keys="),
        ("snapshot", r"^most_each="),
        ("command", r"^most="),
        ("lease", r"^watcher="),
        ("look", r"^sha=\w+$"),
    ):
        if re.search(sign, head, re.MULTILINE):
            return kind
    return "other"


def nonce_of(script: str) -> str:
    """The word that marks our lines in this script's output."""
    found = re.search(r"^nonce=(\w+)$", script, re.MULTILINE)
    assert found, "every script of ours carries a nonce"
    return found[1]


def smoke_answer(
    nonce: str, *, log: str = "2 passed\n", exit_code: int = 0, seconds: int = 7, report: bytes = JUNIT
) -> str:
    """What the machine says of a smoke test: the log's lines as they came, then how it ended, and log and report whole."""
    said = [f"exit {exit_code}", f"seconds {seconds}", f"log-bytes {len(log)}", f"log {_base64(log.encode())}"]
    said.append(f"report {_base64(report)}" if report else "report-note the command wrote none")
    return log + "".join(f"::gpu-lol-smoke {nonce} {line}\n" for line in [*said, "done ."])


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@dataclass
class GoodMachine:
    """Answers scripts; ``instead`` replaces the answer to one kind (an exception is raised), ``facts`` what the probe says."""

    instead: dict[str, Callable[[str], str] | BaseException] = field(default_factory=dict)
    facts: list[dict[str, Any]] = field(default_factory=lambda: [copy.deepcopy(GOOD)])
    kinds: list[str] = field(default_factory=list)
    before: Callable[[str], None] = lambda _kind: None

    def answers_as_before(self, endpoint: SshEndpoint) -> bool:
        return False

    def host_key(self, endpoint: SshEndpoint) -> str:
        return KEY

    def run(
        self,
        endpoint: SshEndpoint,
        script: str,
        *,
        stdin: Path | bytes | None = None,
        timeout: timedelta = timedelta(minutes=5),
        on_line: Callable[[str], None] | None = None,
        into: Path | None = None,
    ) -> RemoteOutput:
        kind = script_kind(script)
        self.kinds.append(kind)
        self.before(kind)
        other = self.instead.get(kind)
        if isinstance(other, BaseException):
            raise other
        if kind == "other":
            raise TransientError("machine_unreachable", "nobody scripted an answer")
        nonce = nonce_of(script)
        text = other(nonce) if other is not None else getattr(self, f"_{kind}")(nonce)
        for line in text.splitlines():
            if on_line is not None:
                on_line(line)
        return RemoteOutput(0, text, "")

    def _access(self, nonce: str) -> str:
        return f"::gpu-lol-access {nonce} done\n"

    def _share(self, nonce: str) -> str:
        return f"::gpu-lol-access {nonce} done\n"

    def _lease(self, nonce: str) -> str:
        return f"::gpu-lol-lease {nonce} done\n"

    def _look(self, nonce: str) -> str:
        said = ("idle_seconds 0", "changed 0", "untracked 0", "unpushed 0", "done .")
        return "".join(f"::gpu-lol-look {nonce} {line}\n" for line in said)

    def _code(self, nonce: str) -> str:
        return "".join(f"::gpu-lol-code {nonce} {line}\n" for line in (f"tree {TREE}", f"head {HEAD}", "done"))

    def _sync(self, nonce: str) -> str:
        return self._code(nonce)

    def _setup(self, nonce: str) -> str:
        marks = [f"start {step}\n::gpu-lol-setup {nonce} end {step} 0 3" for step in STEPS]
        return "".join(f"::gpu-lol-setup {nonce} {mark}\n" for mark in [*marks, "done"])

    def _smoke(self, nonce: str) -> str:
        return smoke_answer(nonce)

    def _repair(self, nonce: str) -> str:
        return f"::gpu-lol-setup {nonce} done\n"

    def _probe(self, nonce: str) -> str:
        facts = self.facts.pop(0) if len(self.facts) > 1 else self.facts[0]
        return f"::gpu-lol-probe {nonce} {json.dumps(facts)}\n"
