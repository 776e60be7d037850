"""The ledger's protocol as a state machine: commands, deaths and lost answers in any order, then two sweeps.

`tests/unit/handlers/test_ledger_protocol.py` plays a bounded number of them, `benchmarks/ledger_protocol.py` as many as
are asked for.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, Requester, State
from gpu_lol_action.domain.names import environment_name, user_hash
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.domain.request import Command, CommentCreated
from gpu_lol_action.errors import Door
from gpu_lol_action.handlers import journal
from gpu_lol_action.handlers.context import Context, Order, Settings
from gpu_lol_action.handlers.down import handle_down, mark_down
from gpu_lol_action.handlers.extend import handle_extend
from gpu_lol_action.handlers.finish import DeadJob, end_left_over, tie_up
from gpu_lol_action.handlers.obey import DEFERRED
from gpu_lol_action.handlers.sweep import BOOT_GRACE, handle_sweep
from gpu_lol_action.handlers.up import handle_up
from tests.support.hands import HEAD, START, QuietProgress, pull_request
from tests.support.protocol_world import Forge, ProtocolWorld, Provider, Rented, Shell, ledger_of
from tests.support.turns import KilledError, Player

SPEC = """\
hardware: {gpu_type: RTX4090, gpu_count: 1, vram_required_gb: 20}
dependencies: {requirements: [packaging]}
meta: {name: protocol, workload_type: training}
"""
REPOSITORY_ID = 5
PULLS = (12, 13)
LIVE = 9001
POLICY = Policy(
    lease=timedelta(hours=1),
    max_lease=timedelta(days=90),
    environments_per_person=10**6,
    environments_per_repository=10**6,
    month_usd=Decimal(10**9),
    requires_recent_sweep=False,
)
MOST_AT_ONCE = 4
Harm = tuple[int, "type[BaseException] | None"]
TROUBLES = ("read", "write", "lost write", "stale", "ask", "post", "list", "end", "lost end", "cancel", "ssh", "launch")
TURNS = st.integers(0, 50)
HARM = st.tuples(st.integers(1, 60), st.sampled_from((None, None, KilledError, KilledError, KeyboardInterrupt)))
"""At which of its calls a run is killed or cancelled, if at all."""

steps: Counter[str] = Counter()
"""How many rules were played and calls answered so far, for whoever prints it."""


class LedgerProtocol(RuleBasedStateMachine):
    """Two pull requests, up to four runs at once, and one live machine of somebody else beside them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="gpu-lol-protocol-"))
        (self.folder / ".gpu-lol.yaml").write_text(SPEC)
        self.world = ProtocolWorld(self.folder)
        self.turns = self.world.turns
        self.progress = QuietProgress()
        self.events: dict[str, int] = {}
        self.is_asked_to_close = True
        # Its watcher is a thread of its own; the provider of this world looks for a tombstone itself.
        self.poll, journal.TOMBSTONE_POLL_SECONDS = journal.TOMBSTONE_POLL_SECONDS, 10.0**6

    # --- what people and machines do --------------------------------------------------------------------------
    @initialize()
    def rent_the_live_machine(self) -> None:
        def rent(player: Player) -> None:
            ledger, name = ledger_of(self.world, player), environment_name(REPOSITORY_ID, LIVE)
            entry = ledger.claim(live_record(name))
            for state in (State.LAUNCHING, State.VALIDATING, State.READY):
                entry = ledger.update(entry, replace(entry.record, state=state, ready_at=START))

        self.turns.start("live", rent)
        self.turns.take(100)
        record = self.world.record(environment_name(REPOSITORY_ID, LIVE))
        assert record is not None
        assert record.name_on_cloud is not None
        self.live = Rented(record.name_on_cloud, "live", START)
        self.world.machines.append(self.live)

    @precondition(lambda self: len(self.turns.alive) < MOST_AT_ONCE)
    @rule(
        number=st.sampled_from(PULLS),
        what=st.sampled_from(("up", "up", "up", "down", "extend")),
        harm=HARM,
        turns=TURNS,
    )
    def command(self, number: int, what: str, harm: Harm, turns: int) -> None:
        self._start(number, lambda context: obey(context, number, what), harm)
        self.turns.take(turns)

    @precondition(lambda self: len(self.turns.alive) < MOST_AT_ONCE)
    @rule(harm=HARM, turns=TURNS)
    def sweep(self, harm: Harm, turns: int) -> None:
        self._start(0, lambda context: handle_sweep(context, REPOSITORY_ID, POLICY), harm)
        self.turns.take(turns)

    @precondition(lambda self: any(self._is_unfinished(player) for player in self.turns.players))
    @rule(which=st.integers(0, 9), harm=HARM, turns=TURNS)
    def finish(self, which: int, harm: Harm, turns: int) -> None:
        dead = [player for player in self.turns.players if self._is_unfinished(player)]
        player = dead[which % len(dead)]
        number = self.events[player.run_id]
        self._start(number, lambda context: finish(context, number), harm, player.run_id)
        self.turns.take(turns)

    @rule(turns=st.integers(1, 150), seed=st.integers(0, 2**32))
    def go_on(self, turns: int, seed: int) -> None:
        self.turns.dice = random.Random(seed)  # noqa: S311 - a schedule, no secret
        self.turns.take(turns)
        steps["rules"] += 1

    @precondition(lambda self: self.turns.alive)
    @rule(which=st.integers(0, 3), turns=TURNS)
    def kill(self, which: int, turns: int) -> None:
        self.turns.take(turns)
        if not self.turns.alive:
            return
        self._one(which).kill()

    @precondition(lambda self: self.turns.alive)
    @rule(which=st.integers(0, 3), turns=TURNS)
    def cancel(self, which: int, turns: int) -> None:
        self.turns.take(turns)
        if not self.turns.alive:
            return
        self._one(which).interrupt()

    @precondition(lambda self: self.turns.alive)
    @rule(which=st.integers(0, 3), troubles=st.lists(st.sampled_from(TROUBLES), min_size=1, max_size=4))
    def trouble(self, which: int, troubles: list[str]) -> None:
        self._one(which).troubles.extend(troubles)
        steps["troubled"] += len(troubles)

    @rule(number=st.sampled_from(PULLS))
    def close_or_reopen(self, number: int) -> None:
        """Sometimes; most pull requests stay open while a machine is wanted."""
        self.is_asked_to_close = not self.is_asked_to_close
        if self.is_asked_to_close:
            self.world.closed_pulls ^= {number}

    @precondition(lambda self: not self.turns.alive)
    @rule(minutes=st.sampled_from((1, 3, 25, 61)))
    def wait(self, minutes: int) -> None:
        self.turns.at += timedelta(minutes=minutes)
        self.world.arrive()

    # --- what must hold ---------------------------------------------------------------------------------------
    @invariant()
    def nothing_forbidden_happened(self) -> None:
        for player in self.turns.players:
            if player.fault is not None:
                raise player.fault
        if self.progress.failures:
            raise self.progress.failures[0]
        assert not self.world.violations, self.world.violations

    def teardown(self) -> None:
        try:
            if hasattr(self, "live"):
                self._settle()
                self.nothing_forbidden_happened()
        finally:
            for player in self.turns.alive:
                player.kill()
            steps["calls"] += self.turns.taken
            steps["late"] += self.world.late
            steps["late doubles"] += self.world.late_doubles
            steps["rented"] += self.world.rented
            steps["closed"] += self.world.closed
            for player in self.turns.players:
                outcome = player.outcome
                steps[f"= {getattr(outcome, 'reason_code', type(outcome).__name__)}"] += 1
            steps["runs"] += len(self.turns.players)
            journal.TOMBSTONE_POLL_SECONDS = self.poll
            shutil.rmtree(self.folder)

    def _settle(self) -> None:
        """Every run dies, everything late arrives, and two sweeps an hour apart find what is left."""
        for player in self.turns.alive:
            player.kill()
        lives = [self.world.record(environment_name(REPOSITORY_ID, number)) for number in PULLS]
        ends = [record.lease.expires_at for record in lives if record is not None]
        self.turns.at = max([self.turns.at, *ends]) + timedelta(hours=1)
        self.world.arrive()
        for _ in range(2):
            self._start(0, lambda context: handle_sweep(context, REPOSITORY_ID, POLICY))
            self.turns.take(10**5)
            self.turns.at += max(timedelta(hours=1), BOOT_GRACE)
        assert self.world.machines == [self.live], f"two sweeps left {self.world.machines}"
        is_open = [name for name in self.world.versions if (record := self.world.record(name)) and record.is_open]
        assert is_open == [environment_name(REPOSITORY_ID, LIVE)], f"two sweeps left {is_open} open"

    # --- underneath -------------------------------------------------------------------------------------------
    def _start(self, number: int, job: Callable[[Context], object], harm: Harm = (0, None), run_id: str = "") -> None:
        run_id = run_id or str(len(self.turns.players))
        self.events[run_id] = number
        player = self.turns.start(run_id, lambda player: job(context_of(self.world, player, number, self.progress)))
        player.doom = (harm[0], harm[1]()) if harm[1] else None
        steps["rules"] += 1

    def _is_unfinished(self, player: Player) -> bool:
        """Whether a run is over that did not come to its end by itself, and nobody ties it up already."""
        is_over = not any(other.is_alive for other in self.turns.players if other.run_id == player.run_id)
        return (
            is_over
            and bool(self.events.get(player.run_id))
            and isinstance(player.outcome, KilledError | KeyboardInterrupt)
        )

    def _one(self, which: int) -> Player:
        alive = self.turns.alive
        return alive[which % len(alive)]


def context_of(world: ProtocolWorld, player: Player, number: int, progress: QuietProgress) -> Context:
    """Return the hands of one run on that pull request; the world's folder is its checkout."""
    forge = Forge(world.folder, pull_request(number=number))
    forge.world, forge.player = world, player
    provider, shell = Provider(world, player), Shell(player=player)
    return Context(
        forge=forge,
        ledger=ledger_of(world, player),
        clock=PlayersClock(player),
        progress=progress,
        cloud=lambda: provider,
        shell=lambda: shell,
        redact=redact,
        settings=Settings(Door.JOB, player.run_id, None, "https://github.com", ("runpod",)),
    )


class PlayersClock:
    """Time as one run spends it."""

    def __init__(self, player: Player) -> None:
        self.now, self.sleep = player.turns.now, player.sleep


def obey(context: Context, number: int, what: str) -> object:
    """Carry out a command in its two steps, as the action does."""
    line = f"/gpu-lol {what}"
    lease = timedelta(hours=1) if what in ("up", "extend") else None
    forge = context.forge
    order = Order(
        Command(what, line, lease=lease),
        Requester("ada", 7),
        forge.repository(),
        forge.pull_request(number),
        POLICY,
        5,
    )
    if what == "up":
        return handle_up(context, order)
    if what == "extend":
        return handle_extend(context, order)
    mark_down(context, order)
    return handle_down(context, order)


def finish(context: Context, number: int) -> object:
    """Tie up a dead job, in the two steps of the finishing job."""
    event = CommentCreated(context.forge.repository(), number, 5, "/gpu-lol up", Requester("ada", 7), False, "MEMBER")
    if tie_up(context, event, POLICY, DeadJob((0,))) is DEFERRED:
        return end_left_over(context, event, POLICY)
    return None


def live_record(name: str) -> EnvironmentRecord:
    """Return the claim of a machine that nobody wants ended."""
    return EnvironmentRecord(
        name=name,
        state=State.CLAIMED,
        repository="acme/train",
        repository_id=REPOSITORY_ID,
        pull_request=LIVE,
        profile="",
        sha=HEAD,
        requester=Requester("bob", 8),
        run_id="live",
        claimed_at=START,
        lease=Lease(START, START + timedelta(days=80)),
        updated_at=START,
        user_hash=user_hash(REPOSITORY_ID),
        cloud="runpod",
        accelerator="A40",
        accelerator_count=1,
        price_usd_per_hour=Decimal("0.44"),
        name_on_cloud=f"{name}-c0ffee00",
        launch_asked_at=START,
        launcher_stopped_at=START,
    )
