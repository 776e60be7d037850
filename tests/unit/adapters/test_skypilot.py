"""What the adapter does around its worker, with a worker that is scripted; SkyPilot itself is tried end to end."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gpu_lol_action.adapters import skypilot
from gpu_lol_action.adapters.skypilot import SkyPilotCloud
from gpu_lol_action.adapters.skypilot_home import SkyPilotSettings
from gpu_lol_action.errors import TransientError

Events = queue.SimpleQueue[dict[str, object] | None]


class ScriptedWorker:
    """A worker whose answers stand in a table, and whose end may fail or wait."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        self.answers = answers
        self.is_alive = True
        self.ended = 0
        self.end_raises: list[BaseException] = []
        self.may_end = threading.Event()
        self.may_end.set()
        self.is_ending = threading.Event()

    def ask(self, op: str, order: Mapping[str, object]) -> Events:
        events: Events = queue.SimpleQueue()
        events.put({"answer": self.answers.get(op)})
        return events

    def end(self, grace: timedelta) -> None:
        self.is_ending.set()
        assert self.may_end.wait(60)
        if self.end_raises:
            raise self.end_raises.pop(0)
        self.ended += 1


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[ScriptedWorker]:
    made: list[ScriptedWorker] = []

    def make(environment: Mapping[str, str], log: Path) -> ScriptedWorker:
        made.append(ScriptedWorker({"machines": {"not": "a list"}}))
        return made[-1]

    monkeypatch.setattr(skypilot, "WorkerProcess", make)
    return made


@pytest.fixture
def cloud(tmp_path: Path) -> SkyPilotCloud:
    settings = SkyPilotSettings(tmp_path / "home", "c0ffee00", {"runpod": "rpa_key"}, b"pem", "ssh-ed25519 AAAA")
    return SkyPilotCloud(settings, {}, lambda: datetime.now(timezone.utc))


def test_a_list_that_cannot_be_read_is_not_an_empty_one(cloud: SkyPilotCloud, workers: list[ScriptedWorker]) -> None:
    with pytest.raises(TransientError):
        cloud.machines("runpod", "gl-x-1-c0ffee00")
    assert len(workers) == 1


@pytest.mark.parametrize("trouble", [RuntimeError("processes that cannot be ended"), KeyboardInterrupt()])
def test_an_end_that_failed_is_done_by_the_next_cancel(
    cloud: SkyPilotCloud, workers: list[ScriptedWorker], trouble: BaseException
) -> None:
    cloud.warm()
    workers[0].end_raises = [trouble]
    with pytest.raises(type(trouble)):
        cloud.cancel()
    cloud.teardown("runpod", "gl-x-1-c0ffee00", {})  # a machine can be ended all the same, by a worker of its own
    assert len(workers) == 2
    cloud.cancel()
    assert [worker.ended for worker in workers] == [1, 1]


def test_a_second_cancel_returns_only_when_the_first_is_done(
    cloud: SkyPilotCloud, workers: list[ScriptedWorker]
) -> None:
    cloud.warm()
    workers[0].may_end.clear()
    watcher = threading.Thread(target=cloud.cancel)
    watcher.start()
    assert workers[0].is_ending.wait(60)
    ended: list[int] = []

    def cancel() -> None:
        cloud.cancel()
        ended.append(workers[0].ended)

    second = threading.Thread(target=cancel)
    second.start()
    second.join(0.05)
    assert ended == [], "what the watcher is still ending was taken for ended"
    workers[0].may_end.set()
    watcher.join(60)
    second.join(60)
    assert ended == [1]


def test_secrets_go_away_although_the_end_failed(
    cloud: SkyPilotCloud, workers: list[ScriptedWorker], tmp_path: Path
) -> None:
    cloud.warm()
    key = tmp_path / "home" / ".runpod" / "config.toml"
    assert key.exists()
    workers[0].end_raises = [RuntimeError("processes that cannot be ended")]
    with pytest.raises(RuntimeError):
        cloud.close()
    assert not key.exists()
