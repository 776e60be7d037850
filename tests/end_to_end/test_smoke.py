"""Scheduled GPU smoke tests with real SkyPilot and real SSH: each ending leaves no machine, and says what happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_lol_action.rehearsal.stage import Stage, StepRun
from tests.end_to_end.conftest import Scene

CRON = "41 3 * * *"
SPEC = """\
hardware: {{gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}}
dependencies: {{requirements: [pytest]}}
meta: {{name: smoke, workload_type: training}}
smoke: {{command: "{command}", timeout_minutes: 2{more}}}
"""
TESTS = """\
def test_adds(): assert 1 + 1 == 2
def test_shape(): assert (3, 4) == WANTED
WANTED = (3, 4)
"""


def nightly(stage: Stage, command: str, tests: str = TESTS, more: str = "", policy: str = "") -> StepRun:
    """Commit a spec with this command to the default branch, and let the clock strike."""
    files = {".gpu-lol.yaml": SPEC.format(command=command, more=more), "tests/test_gpu.py": tests}
    stage.hub.commit({**files, ".github/gpu-lol.yml": policy or "smoke: {retry_within: 1m}\n"})
    run_id = stage.hub.start_run("schedule", stage.hub.maintainer)
    event = stage.hub.schedule(cron=CRON)
    schedule = {"GPU_LOL_SMOKE_SCHEDULE": CRON}
    decide = stage.run_step(event, run_id, {"GPU_LOL_PHASE": "decide", "GPU_LOL_CLOUDS": "runpod", "RUNPOD_API_KEY": "", **schedule})  # fmt: skip
    assert decide.outputs["needs_cloud"] == "true", decide.log
    assert decide.outputs["lane"] == "smoke"
    handed_on = {"GPU_LOL_PHASE": "act", "GPU_LOL_DEFERRED": decide.outputs["deferred"]}
    done = stage.run_step(event, run_id, {**handed_on, **schedule})
    stage.hub.finish_run(run_id)
    return done


@pytest.fixture
def nights(stage: Stage) -> Scene:
    """A repository without any pull request."""
    return Scene(stage, 0)


def test_a_night_passes_and_the_next_fails_with_the_test_that_did(nights: Scene) -> None:
    stage = nights.stage
    passed = nightly(stage, "python -m pytest -q tests")
    assert passed.exit_code == 0, passed.log
    assert passed.outputs["reason_code"] == "smoke_passed"
    assert "2 passed" in passed.summary
    assert "test_gpu.py" in passed.log, "the log is streamed"
    nights.assert_nothing_left()

    failed = nightly(stage, "python -m pytest -q tests", TESTS.replace("WANTED = (3, 4)", "WANTED = (4, 3)"))
    assert failed.exit_code == 1, failed.log
    assert failed.outputs["reason_code"] == "smoke_failed"
    assert "test_shape" in failed.summary
    nights.assert_nothing_left()
    assert [record.bill is not None for record in nights.records] == [True]
    Path("/tmp/smoke_summary.md").write_text(failed.summary)
