"""A ledger, a provider and a GitHub in memory for runs that take turns, and what must never come to be in them.

The ledger's rules and every handler are the real ones. The world keeps a list of violations: of two machines for one
environment, a closed record whose machine was there, an ended machine that was somebody's, an illegal transition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.domain.environment import EnvironmentRecord, SshEndpoint, State, Tombstone, may_move
from gpu_lol_action.domain.environment_json import page_from_json
from gpu_lol_action.domain.machine import Launched, LaunchRequest, Machine, NotLaunched, RemoteOutput
from gpu_lol_action.domain.request import Posted, PullRequest
from tests.support.hands import KEY, ScriptedForge, pull_request
from tests.support.machine import GoodMachine
from tests.support.turns import Player, Turns

POLL = timedelta(seconds=8)
LATEST_ARRIVAL = timedelta(minutes=4)
"""How long after its asker's death a machine may still appear: much longer than a request that travels takes."""

ABSENCE_COVERS = timedelta(seconds=30)
"""Two absences this far apart see every machine that comes no later. One that comes later may meet a newer claim's: then
there are two of one name until that claim ends, which ends both. Such doubles are counted, not forbidden; a leak is."""

STALENESS = timedelta(seconds=5)
NOTICE = timedelta(minutes=2)
"""How long GitHub may call a run alive whose runner is gone."""


@dataclass
class Rented:
    """A machine at the provider; ``run_id`` asked for it."""

    name: str
    run_id: str
    created_at: datetime


@dataclass
class Ordered:
    """A machine that was asked for and is not there yet."""

    name: str
    run_id: str
    due: datetime
    is_late: bool = False
    is_covered: bool = True


@dataclass
class ProtocolWorld:
    """Everything outside of the runs."""

    folder: Path
    turns: Turns = field(default_factory=Turns)
    versions: dict[str, list[tuple[datetime, str]]] = field(default_factory=dict)
    note: str | None = None
    machines: list[Rented] = field(default_factory=list)
    orders: list[Ordered] = field(default_factory=list)
    comments: list[Posted] = field(default_factory=list)
    closed_pulls: set[int] = field(default_factory=set)
    uncovered: list[Rented] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    late: int = 0
    late_doubles: int = 0
    rented: int = 0
    closed: int = 0

    def __post_init__(self) -> None:
        self.turns.before_turn = self.arrive
        # Whoever dies takes the request with it, or its machine comes late.
        self.turns.on_kill = lambda player: self.abandon(player.run_id, missed=lambda: self.turns.dice.random() > 0.5)

    # --- what the invariants look at ------------------------------------------------------------------------
    def record(self, name: str) -> EnvironmentRecord | None:
        versions = self.versions.get(name)
        return page_from_json(versions[-1][1]).record if versions else None

    def written(self, old: str | None, new: str) -> None:
        """Look at a change of the ledger as it is made."""
        record = page_from_json(new).record
        if old is not None and not may_move(page_from_json(old).record.state, record.state):
            self.violations.append(f"{record.name} went from {page_from_json(old).record.state} to {record.state}")
        self.closed += not record.is_open
        if not record.is_open and record.absences:
            there = [m for m in self.machines if m.name == record.name_on_cloud and m.created_at <= record.absences[-1]]
            if there:
                self.violations.append(f"{record.name} was closed while {there} was listed")
        before = page_from_json(old).record if old is not None else None
        if before is not None and record.tombstone is not None and before.tombstone is None:
            self._buried(before, record.tombstone)
        if record.state in (State.CLOSED, State.FAILED) and record.launch_asked_at and len(record.absences) < 2:
            self.violations.append(f"{record.name} was closed without two absences")

    def _buried(self, before: EnvironmentRecord, tombstone: Tombstone) -> None:
        """Look at an end as it is decided: a reason that holds no more ends what somebody works on."""
        is_over = before.lease.is_over(self.turns.at)
        if tombstone.reason == "lease_over" and not is_over:
            self.violations.append(f"{before.name} was ended for its lease, which runs until {before.lease.expires_at}")
        if tombstone.reason == "run_died" and before.state is State.READY:
            self.violations.append(f"{before.name} was ended for its run, which had handed it over")

    def arrive(self) -> None:
        """Let every machine appear whose time has come."""
        for order in [order for order in self.orders if order.due <= self.turns.at]:
            self.orders.remove(order)
            self.late += order.is_late
            self.rented += 1
            is_double = any(machine.name == order.name for machine in self.machines)
            is_covered = order.is_covered and not any(late.name == order.name for late in self.uncovered)
            self.late_doubles += is_double and not is_covered
            if is_double and is_covered:
                self.violations.append(f"two machines for {order.name}: {order} beside {self.machines}")
            rented = Rented(order.name, order.run_id, self.turns.at)
            self.machines.append(rented)
            if not order.is_covered:
                self.uncovered.append(rented)

    def end(self, name: str, by: str) -> None:
        """End the machines of that name, as a provider does on anybody's word."""
        for machine in [machine for machine in self.machines if machine.name == name]:
            record = self.record(name.removesuffix("-c0ffee00"))
            is_anothers = record is not None and record.is_open and record.run_id == machine.run_id != by
            if (
                record is not None
                and is_anothers
                and record.tombstone is None
                and not record.lease.is_over(self.turns.at)
            ):
                self.violations.append(f"{by} ended {machine}, of {record.state}, without its end being written down")
            self.machines.remove(machine)
            self.uncovered = [late for late in self.uncovered if late is not machine]

    def abandon(self, run_id: str, *, missed: Callable[[], bool]) -> None:
        """Take back what a run has asked for; what has reached the provider comes late all the same."""
        for order in [order for order in self.orders if order.run_id == run_id and not order.is_late]:
            if missed():
                order.is_late = True
                travels = LATEST_ARRIVAL * self.turns.dice.random() ** 2
                order.is_covered = travels <= ABSENCE_COVERS
                order.due = self.turns.at + travels
            else:
                self.orders.remove(order)

    def is_run_alive(self, run_id: str) -> bool:
        of_run = [player for player in self.turns.players if player.run_id == run_id]
        return any(
            player.is_alive
            or (player.ended_at is not None and player.was_killed and self.turns.at - player.ended_at < NOTICE)
            for player in of_run
        )

    def orphans(self) -> list[Rented]:
        """Return the machines that no open record names."""
        records = [self.record(name) for name in self.versions]
        named = {record.name_on_cloud for record in records if record is not None and record.is_open}
        named |= {f"{record.name}-c0ffee00" for record in records if record is not None and record.is_open}
        return [machine for machine in self.machines if machine.name not in named]


@dataclass
class Store:
    """The ledger's texts as one run sees them: late where a replica has not heard of the last change."""

    world: ProtocolWorld
    player: Player

    def tip(self, name: str) -> str | None:
        return self.player.call("read", lambda: self._shown(name))

    def tips(self) -> Mapping[str, str]:
        return self.player.call("read", self._all)

    def survey(self) -> tuple[Mapping[str, str], str | None]:
        return self.player.call("read", lambda: (self._all(), self.world.note))

    def texts(self, versions: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str | None]:
        return {(name, version): self.world.versions[name][int(version)][1] for name, version in versions}

    def create(self, name: str, text: str, summary: str) -> str | None:
        return self.player.call("write", lambda: self._write(name, 0, text))

    def append(self, name: str, parent: str, text: str, summary: str) -> str | None:
        return self.player.call("write", lambda: self._write(name, int(parent) + 1, text))

    def history(self, name: str) -> Sequence[str]:
        return self.player.call("read", lambda: [str(n) for n in reversed(range(len(self.world.versions[name])))])

    def write_note(self, text: str) -> None:
        self.player.call("write", lambda: setattr(self.world, "note", text))

    def read_note(self) -> str | None:
        return self.player.call("read", lambda: self.world.note)

    def _all(self) -> dict[str, str]:
        shown = {name: self._shown(name) for name in self.world.versions}
        return {name: version for name, version in shown.items() if version is not None}

    def _shown(self, name: str) -> str | None:
        versions = self.world.versions.get(name, [])
        newest = len(versions) - 1
        if newest < 0:
            return None
        if "stale" in self.player.troubles and self.world.turns.at - versions[-1][0] < STALENESS:
            self.player.troubles.remove("stale")
            newest -= 1
        return str(newest) if newest >= 0 else None

    def _write(self, name: str, number: int, text: str) -> str | None:
        versions = self.world.versions.setdefault(name, [])
        if number != len(versions):
            return None
        self.world.written(versions[-1][1] if versions else None, text)
        versions.append((self.world.turns.at, text))
        return str(number)


@dataclass
class Provider:
    """SkyPilot and the provider behind it, as one run sees them."""

    world: ProtocolWorld
    player: Player
    is_cancelled: bool = False

    def warm(self) -> None:
        return

    def launch(self, request: LaunchRequest, on_progress: Callable[[str], None]) -> Launched | NotLaunched:
        turns, name = self.world.turns, self.name_on_cloud(request.cluster_name)
        seen = len(self.world.versions.get(request.cluster_name, ()))
        until = turns.at + request.time_box
        if not self.player.call("launch", lambda: self._order(name)):
            return NotLaunched("no_capacity", "no machine now", is_certain=True)
        while turns.at < until:
            self.player.sleep(POLL)
            if len(self.world.versions[request.cluster_name]) != seen:
                # What the journal's watcher does beside a launch, here in the launch's own thread.
                self.cancel()
                return NotLaunched("cancelled", "it was cancelled")
            if any(machine.name == name for machine in self.world.machines):
                on_progress("booting")
                return Launched(name, "US", SshEndpoint("203.0.113.7", 22, "root"), {})
        self.cancel()
        return NotLaunched("timed_out", "time was up")

    def _order(self, name: str) -> bool:
        dice = self.world.turns.dice
        standing = [machine for machine in self.world.machines if machine.name == name]
        if standing:
            standing[0].run_id = self.player.run_id  # SkyPilot takes over what it finds under its cluster's name
            return True
        if dice.random() > 0.85:
            return False
        due = self.world.turns.at + timedelta(seconds=20 + 160 * dice.random())
        self.world.orders.append(Ordered(name, self.player.run_id, due))
        return True

    def cancel(self) -> None:
        dice = self.world.turns.dice
        self.player.call("cancel", lambda: self.world.abandon(self.player.run_id, missed=lambda: dice.random() > 0.7))

    def name_on_cloud(self, cluster_name: str) -> str:
        return f"{cluster_name}-c0ffee00"

    def teardown(self, cloud: str, name_on_cloud: str, provider_config: Mapping[str, str]) -> None:
        self.player.call("end", lambda: self.world.end(name_on_cloud, self.player.run_id))

    def machines(self, cloud: str, prefix: str) -> Sequence[Machine]:
        def listed() -> list[Machine]:
            found = [machine for machine in self.world.machines if machine.name.startswith(prefix)]
            return [Machine(cloud, m.name, "RUNNING", created_at=m.created_at) for m in found]

        return self.player.call("list", listed)

    def close(self) -> None:
        return


class Forge(ScriptedForge):
    """GitHub as one run sees it. Progress is not shown: its timer is a thread of its own."""

    world: ProtocolWorld
    player: Player

    def pull_request(self, number: int) -> PullRequest:
        return self.player.call("ask", lambda: self.world_pull(number))

    def world_pull(self, number: int) -> PullRequest:
        return pull_request(number=number, state="closed" if number in self.world.closed_pulls else "open")

    def post_comment(self, number: int, body: str) -> Posted:
        def post() -> Posted:
            self.world.comments.append(Posted(len(self.world.comments) + 1, body, "github-actions[bot]"))
            return self.world.comments[-1]

        return self.player.call("post", post)

    def edit_comment(self, comment_id: int, body: str) -> None:
        def edit() -> None:
            self.world.comments[comment_id - 1] = Posted(comment_id, body, "github-actions[bot]")

        self.player.call("post", edit)

    def find_comments(self, number: int, marker_prefix: str) -> Sequence[Posted]:
        return self.player.call("ask", lambda: [c for c in self.world.comments if c.body.startswith(marker_prefix)])

    def is_run_alive(self, run_id: str) -> bool:
        return self.player.call("ask", lambda: self.world.is_run_alive(run_id))

    def is_short_of_requests(self) -> bool:
        return True


@dataclass
class Shell(GoodMachine):
    """SSH to a machine that answers as a good one does, in its time."""

    player: Player | None = None

    def answers_as_before(self, endpoint: SshEndpoint) -> bool:
        return False

    def host_key(self, endpoint: SshEndpoint) -> str:
        return KEY

    def run(self, endpoint: SshEndpoint, script: str, **given: object) -> RemoteOutput:  # type: ignore[override]  # passed on as they are
        answer = super().run
        if self.player is None:
            raise LookupError("nobody's shell")
        return self.player.call("ssh", lambda: answer(endpoint, script, **given))  # type: ignore[arg-type]  # passed on


def ledger_of(world: ProtocolWorld, player: Player) -> RecordLedger:
    """Return the real ledger as this run sees it."""
    return RecordLedger(Store(world, player))
