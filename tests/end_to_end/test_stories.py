"""What must be true from the comment to the certificate, with real SkyPilot, real SSH and real HTTP.

Two of these launch a whole machine; the others end before one boots. Each ends with nothing left behind.
"""

from __future__ import annotations

import re
import secrets
import signal
from decimal import Decimal
from pathlib import Path

import pytest

from gpu_lol_action.domain.environment import State
from gpu_lol_action.launch.keys import derive_key_pair
from gpu_lol_action.rehearsal.cloud import API_KEY
from gpu_lol_action.rehearsal.display import Display
from gpu_lol_action.rehearsal.stage import Stage
from gpu_lol_action.rehearsal.story import Story
from tests.end_to_end.conftest import Scene, wait_until
from tests.support.planted import Planted, search_script

SAMPLE = Path(__file__).parents[2] / "examples" / "qwen-lora-sft"
NO_CAPACITY = (
    "There are no longer any instances available with the requested specifications. Please refresh and try again."
)


def fault_of(accelerator: str, times: int = 99) -> dict[str, object]:
    """The provider has no machine with this GPU."""
    return {
        "op": "podFindAndDeployOnDemand",
        "message": NO_CAPACITY,
        "times": times,
        "gpu_type_id": accelerator,
    }


def test_the_whole_story_with_the_next_offer_when_the_first_has_no_capacity(stage: Stage, display: Display) -> None:
    planted = Planted()
    stage.furnish = planted.furnish
    story = Story(stage, display, lambda _tell: None)
    story.set_the_scene(SAMPLE)
    story.open_pull_request(SAMPLE)
    first = story.cheapest_gpu_type()
    stage.open_cloud().post("fault", fault_of(first))
    story.bring_up(story.start_preparing())
    stage.open_cloud().post("clear", {})
    assert "no capacity" in story.ready.lower()
    story.log_in()
    assert_no_credential_on_machine(story, planted)
    story.ask_status()
    story.ask_for_time()
    story.tear_down()
    story.look_back()
    scene = Scene(stage, story.number)
    record = scene.records[0]
    assert record.state is State.CLOSED
    assert [attempt.answer for attempt in record.attempts] == ["no_capacity", "launched"]
    assert record.bill is not None
    assert f"${record.bill.usd:.2f}" in scene.bodies[-1]
    billed = [Decimal(str(bill["usd"])) for bill in bills_of(stage)]
    assert record.bill.usd >= sum(billed), "the certificate never understates what the provider bills"
    page = stage.folder / "page.html"
    story.write_page(page)
    assert record.bill.from_at.strftime("%Y") in page.read_text(encoding="utf-8")
    scene.assert_nothing_left()


def assert_no_credential_on_machine(story: Story, planted: Planted) -> None:
    """Look for everything secret that the runners held in every file and process of the machine; the search must work."""
    stage, control = story.stage, "control" + secrets.token_hex(16)
    record = Scene(stage, story.number).records[0]
    pair = derive_key_pair(API_KEY, record.repository_id, record.key_version)
    # The first lines of all OpenSSH keys are alike, and the next holds random numbers; what follows is this key's own.
    shared = pair.private_pem.decode().splitlines()[3:-1]
    assert len(planted.places) > 80
    values = {*planted.places, *shared, API_KEY, stage.hub.bot_token, control}
    place = "/opt/control"
    story._ssh(f"echo {control} > {place}; CONTROL={control} nohup sleep 600 > /dev/null 2>&1 &")
    found = story._ssh(search_script(values), seconds=400)
    # 2: all was looked at but what could not be opened, such as a socket; 124 would be: time was up.
    assert "files: 0" in found or "files: 2" in found, found[-2000:]
    unread = [line for line in found.splitlines() if line.startswith("unread: ")]
    assert [line for line in unread if re.search(r" /(?:root|home|etc|opt|tmp|var|usr|workspace)/", line)] == []
    seen = [line for line in found.splitlines() if not line.startswith(("files: ", "processes: ", "unread: "))]
    assert f"{place}:{control}" in seen, "the search finds what is in a file"
    assert any(line.startswith("/proc/") and line.endswith(f"environ:{control}") for line in seen), (
        "the search finds what is in a process"
    )
    leaked = [line for line in seen if not line.endswith(f":{control}")]
    assert leaked == [], [(line, planted.places.get(line.rpartition(":")[2])) for line in leaked]


def bills_of(stage: Stage) -> list[dict[str, object]]:
    bills = stage.open_cloud().get("bills")
    assert isinstance(bills, list)
    return bills


def test_down_during_up_ends_the_launch_and_the_machine(scene: Scene) -> None:
    stage, hub = scene.stage, scene.stage.hub
    event = hub.comment(scene.number, hub.maintainer, "/gpu-lol up")
    run_id = hub.start_run("issue_comment", hub.maintainer)
    decide = stage.run_step(event, run_id, {"GPU_LOL_PHASE": "decide"})
    assert decide.outputs["needs_cloud"] == "true"
    handed_on = {
        "GPU_LOL_PHASE": "act",
        "GPU_LOL_DEFERRED": decide.outputs["deferred"],
        "GPU_LOL_PINNED_SHA": decide.outputs["pinned_sha"],
    }
    launching = stage.start_step(event, run_id, handed_on)
    wait_until(lambda: len(stage.open_cloud().pods()) == 1, "the cloud has a machine")
    down = stage.run_action(hub.comment(scene.number, hub.maintainer, "/gpu-lol down"))
    up = launching.wait()
    hub.finish_run(run_id)
    assert down.last.exit_code == 0, down.last.log
    assert up.exit_code == 0, up.log
    assert up.outputs["reason_code"] == "stopped"
    assert down.last.outputs["reason_code"] == "torn_down"
    assert any("Nothing is running" in body for body in scene.bodies)
    record = scene.records[0]
    assert record.launcher_stopped_at is not None
    assert record.launcher_stopped_at < min(record.absences), "nothing is certified while something may launch"
    scene.assert_nothing_left()


def test_no_capacity_anywhere_is_said_with_every_offer_tried_and_costs_nothing(scene: Scene) -> None:
    stage, hub = scene.stage, scene.stage.hub
    stage.open_cloud().post("fault", {"op": "podFindAndDeployOnDemand", "message": NO_CAPACITY, "times": 999})
    run = stage.run_action(hub.comment(scene.number, hub.maintainer, "/gpu-lol up"))
    assert run.last.exit_code == 0, run.last.log
    assert run.last.outputs["reason_code"] == "no_capacity"
    record = scene.records[0]
    assert record.state is State.FAILED
    assert {attempt.answer for attempt in record.attempts} == {"no_capacity"}
    assert record.bill is None or record.bill.usd == 0
    assert bills_of(stage) == []
    stage.open_cloud().post("clear", {})
    scene.assert_nothing_left()


def test_a_machine_that_fails_its_checks_is_ended_and_billed_and_the_comment_says_what_was_wrong(scene: Scene) -> None:
    stage, hub = scene.stage, scene.stage.hub
    stage.open_cloud().post("stand_in", {"driver_version": "470.57", "cuda_version": "11.4"})
    run = stage.run_action(hub.comment(scene.number, hub.maintainer, "/gpu-lol up"))
    assert run.last.exit_code == 4, run.last.log
    assert run.last.outputs["reason_code"] == "validation_failed"
    assert "470.57" in scene.bodies[-1]
    assert "Nothing is running" in scene.bodies[-1]
    record = scene.records[0]
    assert record.state is State.FAILED
    assert record.bill is not None
    assert record.bill.usd >= sum(Decimal(str(bill["usd"])) for bill in bills_of(stage)) > 0
    scene.assert_nothing_left()


def test_a_cancelled_run_tears_down_what_it_launched(scene: Scene) -> None:
    stage, hub = scene.stage, scene.stage.hub
    event = hub.comment(scene.number, hub.maintainer, "/gpu-lol up")
    run_id = hub.start_run("issue_comment", hub.maintainer)
    launching = stage.start_step(event, run_id, {"GPU_LOL_PHASE": "all"})
    wait_until(lambda: len(stage.open_cloud().pods()) == 1, "the cloud has a machine")
    launching.process.send_signal(signal.SIGINT)
    run = launching.wait()
    hub.finish_run(run_id, "cancelled")
    assert run.exit_code == 130, run.log
    scene.assert_nothing_left()


def test_a_wrong_cloud_key_is_for_the_maintainer_and_names_no_value(scene: Scene) -> None:
    stage, hub = scene.stage, scene.stage.hub
    event = hub.comment(scene.number, hub.maintainer, "/gpu-lol up")
    run_id = hub.start_run("issue_comment", hub.maintainer)
    run = stage.run_step(event, run_id, {"GPU_LOL_PHASE": "all", "RUNPOD_API_KEY": "rpa_wrong_key_of_a_maintainer"})
    hub.finish_run(run_id)
    assert run.exit_code == 2, run.log
    assert "rpa_wrong" not in "".join(scene.bodies)
    assert "maintainer" in scene.bodies[-1].lower()
    assert scene.records[0].state is State.FAILED, "nothing was rented, so nothing may still run"
    scene.assert_nothing_left()


@pytest.mark.parametrize("command", ["/gpu-lol upp", "/gpu-lol up --gpu A10O", "/gpu-lol up --hours 99"])
def test_bad_commands_launch_nothing_and_load_no_skypilot(scene: Scene, command: str) -> None:
    run = scene.stage.run_action(scene.stage.hub.comment(scene.number, scene.stage.hub.maintainer, command))
    assert run.act is None
    assert run.decide.outputs["decision"] == "denied"
    assert "Nothing was launched" in scene.bodies[-1]
    scene.assert_nothing_left()
