"""A scheduled GPU smoke test with real SkyPilot and real SSH. `benchmarks/smoke_on_loopback.py` plays its other endings."""

from __future__ import annotations

import json
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_lol_action.rehearsal.stage import ActionRun, Stage, StepRun
from tests.end_to_end.conftest import Scene

CRON = "41 3 * * *"
SPEC = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: smoke, workload_type: training}
smoke: {command: sh tests/gpu.sh, timeout_minutes: 2}
"""
# No package is fetched for it: what a runner of tests does, in a few lines of shell.
FAILING = """\
echo running test_shape
cat > "$GPU_LOL_JUNIT" <<END
<testsuites><testsuite name="pytest" tests="2">
<testcase classname="tests.test_gpu" name="test_adds" time="0.1"/>
<testcase classname="tests.test_gpu" name="test_shape" time="0.2"><failure message='assert 3 == 4'/></testcase>
</testsuite></testsuites>
END
exit 1
"""


def nightly(stage: Stage, tests: str) -> StepRun:
    """Commit a test to the default branch, and let the clock strike."""
    files = {".gpu-lol.yaml": SPEC, "tests/gpu.sh": tests}
    stage.hub.commit({**files, ".github/gpu-lol.yml": "smoke: {retry_within: 1m}\n"})
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


def test_a_night_that_fails_says_which_test_did_and_leaves_nothing(nights: Scene) -> None:
    stage = nights.stage
    failed = nightly(stage, FAILING)
    assert failed.exit_code == 1, failed.log
    assert failed.outputs["reason_code"] == "smoke_failed"
    assert "running test_shape" in failed.log, "the log is streamed"
    nights.assert_nothing_left()
    assert [record.bill is not None for record in nights.records] == [True]

    (check,) = stage.hub.repository.record("checks").values()
    assert (check["name"], check["conclusion"]) == ("gpu-lol smoke", "failure")
    (issue,) = [issue for issue in stage.hub.repository.issues.values() if issue.pull is None]
    assert (issue.title, issue.state) == ("GPU smoke test fails on main", "open")
    assert "tests/test_gpu.py::test_shape" in (issue.body or "")
    assert {path.name for path in Path(failed.outputs["report_path"]).iterdir()} >= {"runs.json", "smoke.log"}


def test_a_test_that_somebody_takes_down_was_not_run_and_says_by_whom(scene: Scene) -> None:
    stage, hub = scene.stage, scene.stage.hub
    test = "echo the test has begun\nwhile :; do sleep 1; done\n"
    hub.push(scene.number, "researcher", {".gpu-lol.yaml": SPEC, "tests/gpu.sh": test})
    event = hub.comment(scene.number, hub.maintainer, "/gpu-lol smoke")
    run_id = hub.start_run("issue_comment", hub.maintainer)
    decide = stage.run_step(event, run_id, {"GPU_LOL_PHASE": "decide", "GPU_LOL_CLOUDS": "runpod", "RUNPOD_API_KEY": ""})  # fmt: skip
    assert decide.outputs["needs_cloud"] == "true", decide.log
    names = ("deferred", "pinned_sha")
    handed_on = {f"GPU_LOL_{name.upper()}": decide.outputs.get(name, "") for name in names}
    downs: list[Future[ActionRun]] = []
    with ThreadPoolExecutor(1) as beside:

        def take_down(line: str) -> None:
            if "the test has begun" in line and not downs:
                downs.append(
                    beside.submit(stage.run_action, hub.comment(scene.number, hub.maintainer, "/gpu-lol down"))
                )

        act = stage.start_step(event, run_id, {"GPU_LOL_PHASE": "act", **handed_on}).wait(take_down)
        hub.finish_run(run_id)
        assert downs, act.log
        down = downs[0].result()
    assert (act.exit_code, act.outputs["reason_code"]) == (0, "smoke_not_run"), act.log
    assert (down.last.exit_code, down.last.outputs["reason_code"]) == (0, "torn_down"), down.last.log
    (run,) = json.loads((Path(act.outputs["report_path"]) / "runs.json").read_text())["runs"]
    assert (run["result"], run["reason"]) == ("not run", "stopped")
    assert f"`{hub.maintainer}` took the machine down" in run["why"]
    (check,) = hub.repository.record("checks").values()
    assert check["conclusion"] == "neutral"
    assert any("Nothing is running" in body for body in scene.bodies)
    (record,) = scene.records
    assert record.tombstone is not None
    assert (record.tombstone.by, record.tombstone.reason) == (hub.maintainer, "down")
    assert record.bill is not None
    assert record.bill.usd >= sum(Decimal(str(bill["usd"])) for bill in stage.open_cloud().bills())
    scene.assert_nothing_left()
