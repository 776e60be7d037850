"""A job that dies in the middle of a launch: the finishing job ends the machine that nobody else knows of."""

from __future__ import annotations

from tests.end_to_end.conftest import Scene, wait_until


def test_a_killed_launch_is_ended_by_the_finishing_job(scene: Scene) -> None:
    stage, hub = scene.stage, scene.stage.hub
    event = hub.comment(scene.number, hub.maintainer, "/gpu-lol up")
    run_id = hub.start_run("issue_comment", hub.maintainer)
    decide = stage.run_step(
        event, run_id, {"GPU_LOL_PHASE": "decide", "GPU_LOL_CLOUDS": "runpod", "RUNPOD_API_KEY": ""}
    )
    assert decide.outputs["needs_cloud"] == "true", decide.log
    assert decide.outputs["lane"] == "spend"
    handed_on = {
        "GPU_LOL_PHASE": "act",
        "GPU_LOL_DEFERRED": decide.outputs["deferred"],
        "GPU_LOL_PINNED_SHA": decide.outputs["pinned_sha"],
    }
    launching = stage.start_step(event, run_id, handed_on)
    wait_until(lambda: len(stage.open_cloud().pods()) == 1, "the cloud has a machine")
    launching.process.kill()
    dead = launching.wait()
    assert "decision" not in dead.outputs
    finishing = {"GPU_LOL_FINISHING": "true", "GPU_LOL_DEFERRED": decide.outputs["deferred"]}
    light = stage.run_step(event, run_id, {**finishing, "GPU_LOL_PHASE": "decide"})
    assert light.outputs["needs_cloud"] == "true", light.log
    last = stage.run_step(event, run_id, {**finishing, "GPU_LOL_PHASE": "act"})
    hub.finish_run(run_id, "failure")
    assert last.exit_code == 0, last.log
    assert last.outputs["reason_code"] == "left_over_ended"
    assert "Nothing is running" in scene.bodies[-1]
    scene.assert_nothing_left()
