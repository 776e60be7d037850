"""The ledger's protocol holds under every order of commands, deaths, lost answers and late machines that is tried here."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from gpu_lol_action.domain.environment import EnvironmentRecord, State, Tombstone
from gpu_lol_action.domain.environment_json import first_page, page_to_json
from tests.support.hands import START
from tests.support.protocol import LedgerProtocol, live_record
from tests.support.protocol_world import Ordered, ProtocolWorld, Rented

TestLedgerProtocol = LedgerProtocol.TestCase
TestLedgerProtocol.settings = settings(
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

NAME = "gl-au-12"
READY = replace(live_record(NAME), state=State.READY, ready_at=START)
MACHINE = Rented(f"{NAME}-c0ffee00", "live", START)


def text_of(record: EnvironmentRecord) -> str:
    return page_to_json(first_page(record))


@pytest.fixture
def world(tmp_path: Path) -> ProtocolWorld:
    """A world in which one machine is ready: what it must notice, it notices."""
    world = ProtocolWorld(tmp_path)
    world.versions[NAME] = [(START, text_of(READY))]
    world.machines.append(MACHINE)
    return world


def test_the_world_notices_a_machine_that_another_run_ends(world: ProtocolWorld) -> None:
    world.end(MACHINE.name, "another")
    assert "without its end being written down" in world.violations[0]


def test_the_world_notices_a_second_machine_of_one_name(world: ProtocolWorld) -> None:
    world.orders.append(Ordered(MACHINE.name, "another", START))
    world.arrive()
    assert "two machines" in world.violations[0]


@pytest.mark.parametrize(
    ("changes", "noticed"),
    [
        ({"state": State.LAUNCHING}, "went from"),
        ({"state": State.CLOSED, "absences": (START, START)}, "was listed"),
        ({"state": State.FAILED}, "without two absences"),
        ({"tombstone": Tombstone("the sweeper", "run_died", START)}, "which had handed it over"),
        ({"tombstone": Tombstone("the sweeper", "lease_over", START)}, "which runs until"),
    ],
)
def test_the_world_notices_what_must_not_be_written(
    world: ProtocolWorld, changes: dict[str, object], noticed: str
) -> None:
    changed = {"state": State.ENDING, **changes}
    world.turns.at = START + timedelta(minutes=1)
    world.written(text_of(READY), text_of(replace(READY, **changed)))  # type: ignore[arg-type]  # keyword bag
    assert any(noticed in violation for violation in world.violations)


def test_the_world_finds_nothing_wrong_with_an_end_that_is_due(world: ProtocolWorld) -> None:
    down = replace(READY, state=State.ENDING, tombstone=Tombstone("ada", "down", START))
    world.written(text_of(READY), text_of(down))
    world.versions[NAME].append((START, text_of(down)))
    world.end(MACHINE.name, "another")
    assert world.violations == []
    assert world.machines == []
