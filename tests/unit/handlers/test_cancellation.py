"""GitHub cancels a run: SIGINT, SIGTERM 7.5 s later, the end 2.5 s after that.

At each call that `up` makes, before it took effect and after, what is left is nothing, or a record that the finishing job
and the sweeper know how to end.
"""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

import pytest

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.names import environment_name
from gpu_lol_action.handlers import journal
from gpu_lol_action.handlers.sweep import handle_sweep
from tests.support.hands import QuietProgress
from tests.support.protocol import POLICY, REPOSITORY_ID, SPEC, context_of, finish, obey
from tests.support.protocol_world import ProtocolWorld
from tests.support.turns import Player

NUMBER = 12
SIGINT_TO_END = timedelta(seconds=7.5 + 2.5)
"""actions/runner ProcessInvoker: 7,500 ms after SIGINT comes SIGTERM (which the action ignores by then), 2,500 ms later the end."""

NOTHING, CLAIMED, MARKED, CLOSED = "no record", "claimed, nothing asked for", "marked for its end", "closed"
EXPECTED = {
    "before the claim": {NOTHING, CLAIMED},
    "claimed": {MARKED, CLOSED},
    "launching": {MARKED},
    "installing": {MARKED},
    "handed over": {MARKED},
}
"""Two absences need half a minute, so what was rented is marked for its end at best when the process is taken away."""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProtocolWorld:
    monkeypatch.setattr(journal, "TOMBSTONE_POLL_SECONDS", 10.0**6)
    (tmp_path / ".gpu-lol.yaml").write_text(SPEC)
    return ProtocolWorld(tmp_path)


def start_up(world: ProtocolWorld) -> Player:
    """A world of its own for each trial, whose dice fall as in the one before."""
    world.__init__(world.folder)  # type: ignore[misc]  # nothing of the last trial is left
    world.turns.dice = random.Random(3)  # noqa: S311 - an offer that is granted; no secret
    world.turns.latency = lambda: timedelta(seconds=0.5)  # type: ignore[method-assign]  # as long in each trial
    return world.turns.start(
        "77", lambda player: obey(context_of(world, player, NUMBER, QuietProgress()), NUMBER, "up")
    )


def record_of(world: ProtocolWorld) -> EnvironmentRecord | None:
    return world.record(environment_name(REPOSITORY_ID, NUMBER))


def moment_of(record: EnvironmentRecord | None) -> str:
    """The phase in which `up` is, by what it has written down."""
    if record is None:
        return "before the claim"
    return {"claimed": "claimed", "launching": "launching", "validating": "installing"}.get(
        record.state.value, "handed over"
    )


def what_is_left(world: ProtocolWorld) -> str:
    record = record_of(world)
    if record is None:
        return NOTHING
    if not record.is_open:
        return CLOSED
    if record.tombstone is not None:
        return MARKED
    return CLAIMED if record.launch_asked_at is None else record.state.value


def cancel_at(world: ProtocolWorld, call: int, *, is_after_effect: bool) -> tuple[str, str] | None:
    """Cancel `up` at its n-th call as GitHub does; return the phase and what is left, None when it had ended before."""
    player = start_up(world)
    player.doom, player.is_doomed_after_effect = (call, KeyboardInterrupt()), is_after_effect
    while player.doom is not None and player.is_alive:
        phase = moment_of(record_of(world))
        world.turns.take(1)
    if player.doom is not None:
        return None
    end = world.turns.at + SIGINT_TO_END
    while player.is_alive and player.ready_at <= end:
        world.turns.take(1)
    world.turns.at = max(world.turns.at, min(end, player.ready_at))
    if player.is_alive:
        player.kill()
    assert player.fault is None
    return phase, what_is_left(world)


def tie_up(world: ProtocolWorld) -> None:
    """The finishing job, and where something came later than that, two sweeps."""
    finisher = world.turns.start(
        "77", lambda player: finish(context_of(world, player, NUMBER, QuietProgress()), NUMBER)
    )
    world.turns.take(10**4)
    assert finisher.fault is None
    record = record_of(world)
    assert record is None or not record.is_open, f"the finishing job left {record}"
    assert world.violations == []
    world.turns.at += timedelta(hours=1)
    world.arrive()
    for number in (1, 2):
        world.turns.start(
            f"sweep {number}",
            lambda player: handle_sweep(context_of(world, player, NUMBER, QuietProgress()), REPOSITORY_ID, POLICY),
        )
        world.turns.take(10**4)
    assert world.machines == []


@pytest.mark.parametrize("is_after_effect", [False, True])
def test_up_cancelled_at_any_call_leaves_nothing_or_what_the_finishing_job_ends(
    world: ProtocolWorld, is_after_effect: bool
) -> None:
    table: dict[str, set[str]] = defaultdict(set)
    call = 1
    while found := cancel_at(world, call, is_after_effect=is_after_effect):
        phase, left = found
        table[phase].add(left)
        tie_up(world)
        call += 1
    assert call > 20
    assert set(table) == set(EXPECTED)
    assert all(found <= EXPECTED[phase] for phase, found in table.items()), dict(table)
