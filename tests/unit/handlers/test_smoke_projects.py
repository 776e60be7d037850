"""The smoke tests of a repository of several projects: on a schedule all of them, each on a machine of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gpu_lol_action.adapters.ledger_files import FileStore
from gpu_lol_action.adapters.smoke_book import StoredSmokeBook
from gpu_lol_action.domain.environment import SshEndpoint
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.machine import RemoteOutput
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Command, Outcome
from gpu_lol_action.domain.smoke import SmokeResult, SmokeRun
from gpu_lol_action.handlers.smoke import handle_smoke
from tests.support.hands import HEAD, pull_request
from tests.support.machine import GoodMachine, script_kind
from tests.unit.handlers.conftest import POLICY, Bench

SPEC = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: story, workload_type: training}
smoke: {command: "python -m pytest tests", timeout_minutes: 5}
"""
TWO = SPEC.replace("timeout_minutes: 5", "timeout_minutes: 5, images: [one/image:1, two/image:2]")


@pytest.fixture
def bench(bench: Bench, tmp_path: Path) -> Iterator[Bench]:
    """The default branch as it stands, whose smoke tests a schedule starts."""
    bench.shell = GoodMachine()
    bench.forge.pull = pull_request(number=0, head_ref="main", base_sha=HEAD)
    bench.context = replace(bench.context, smoke_book=lambda: StoredSmokeBook(FileStore(tmp_path / "smoke")))
    yield bench
    bench.assert_nothing_bills_unnoticed()
    assert not bench.cloud.running, "a smoke test leaves no machine, however it ends"


def booked(bench: Bench) -> list[SmokeRun]:
    assert bench.context.smoke_book is not None
    return list(bench.context.smoke_book().read("main").runs)


def projects(bench: Bench, **specs: str) -> Policy:
    """Give the repository projects with these files, and return the policy that names them."""
    for folder, text in specs.items():
        (bench.forge.folder / folder).mkdir()
        (bench.forge.folder / folder / ".gpu-lol.yaml").write_text(text)
    return replace(POLICY, smoke_retry_within=timedelta(0), project_folders=tuple(specs))


class Listening(GoodMachine):
    """Keeps the scripts of the tests."""

    def __init__(self) -> None:
        super().__init__()
        self.smoke: list[str] = []

    def run(self, endpoint: SshEndpoint, script: str, **options: Any) -> RemoteOutput:
        if script_kind(script) == "smoke":
            self.smoke.append(script)
        return super().run(endpoint, script, **options)


def scheduled(bench: Bench, policy: Policy, project: str = "") -> Outcome:
    command = Command("smoke", "schedule", project=project)
    return handle_smoke(bench.context, replace(bench.order(policy=policy), command=command, comment_id=None))


CPU = "hardware: {gpu_count: 0}\nmeta: {workload_type: cpu-only}\n"
OTHER = SPEC.replace("python -m pytest tests", "make check")


def test_a_schedule_tests_every_project_that_the_policy_names(bench: Bench) -> None:
    bench.shell = machine = Listening()
    policy = projects(bench, llm=SPEC, vision=OTHER, tables=CPU)
    outcome = scheduled(bench, policy)
    assert outcome.reason_code == "smoke_passed"
    assert [(run.cell, run.result) for run in booked(bench)] == [
        ("llm", SmokeResult.PASSED),
        ("vision", SmokeResult.PASSED),
    ]
    assert "`llm`: `python -m pytest tests`" in outcome.text
    assert "`vision`: `make check`" in outcome.text
    records = {entry.record.label: entry.record for entry in bench.ledger.entries() if isinstance(entry, Entry)}
    assert set(records) == {"llm:smoke", "vision:smoke"}
    ran = [command for script in machine.smoke for command in ("make check", "pytest tests") if command in script]
    assert sorted(ran) == ["make check", "pytest tests"], "each project has a machine, and each machine its own test"


def test_a_project_whose_file_is_invalid_keeps_no_other_from_its_test(bench: Bench) -> None:
    policy = projects(bench, llm="hardwear: {}\n", vision=SPEC)
    scheduled(bench, policy)
    told = {run.cell: run for run in booked(bench)}
    assert told["vision"].result is SmokeResult.PASSED
    assert told["llm"].result is not SmokeResult.PASSED
    assert "hardwear" in told["llm"].why


def test_a_folder_that_is_gone_or_empty_keeps_no_other_project_from_its_test(bench: Bench) -> None:
    policy = projects(bench, llm=SPEC, vision=OTHER)
    (bench.forge.folder / "pictures").mkdir()
    (bench.forge.folder / "pictures" / "cat.png").write_bytes(b"PNG")
    scheduled(bench, replace(policy, project_folders=("llm", "gone", "pictures", "vision")))
    told = {run.cell: run for run in booked(bench)}
    assert {cell for cell, run in told.items() if run.result is SmokeResult.PASSED} == {"llm", "vision"}
    for cell in ("gone", "pictures"):
        assert (told[cell].reason_code, told[cell].result) == ("unknown_project", SmokeResult.NOT_RUN)
        assert f"no folder `{cell}`" in told[cell].why
    assert len([line for line in bench.cloud.log if line.startswith("launch")]) == 2


def test_a_repository_of_invalid_files_alone_rents_nothing(bench: Bench) -> None:
    scheduled(bench, projects(bench, llm="hardwear: {}\n", vision="hardwear: {}\n"))
    assert [run.cell for run in booked(bench)] == ["llm", "vision"]
    assert not [line for line in bench.cloud.log if line.startswith("launch")]


def test_one_project_of_a_schedule_can_be_named(bench: Bench) -> None:
    scheduled(bench, projects(bench, llm=SPEC, vision=OTHER), project="vision")
    assert [run.cell for run in booked(bench)] == ["vision"]


def test_the_matrix_of_each_project_is_told_apart(bench: Bench) -> None:
    scheduled(bench, projects(bench, llm=TWO, vision=SPEC))
    assert [run.cell for run in booked(bench)] == ["llm, one/image:1", "llm, two/image:2", "vision"]


def test_a_pull_request_tests_its_own_project_alone(bench: Bench) -> None:
    policy = projects(bench, llm=SPEC, vision=OTHER)
    bench.forge.pull = pull_request()
    bench.forge.changed = {"vision/x.py"}
    outcome = handle_smoke(bench.context, bench.order("/gpu-lol smoke", policy=policy))
    assert "`vision`: `make check`" in outcome.text
    assert "pytest tests" not in outcome.text
