"""Several runs of the action that take turns: each is a thread that stops at every call of a port until it is let on.

One thread runs at a time and time is a number, so a schedule is the same each time it is played. A run may be killed
(nothing it says reaches anybody any more) or interrupted (as GitHub's cancellation does it) at any of these calls.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from gpu_lol_action.errors import GpuLolError, TransientError
from tests.support.hands import START

T = TypeVar("T")


class KilledError(BaseException):
    """The process is gone: raised at each call of a port, so that nothing is done on the way out."""


@dataclass(eq=False)
class Turns:
    """The time, and who goes on next: whoever's answer arrives first."""

    at: datetime = START
    dice: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311 - a schedule, no secret
    players: list[Player] = field(default_factory=list)
    before_turn: Callable[[], None] = lambda: None
    on_kill: Callable[[Player], None] = lambda _: None
    taken: int = 0

    def now(self) -> datetime:
        return self.at

    @property
    def alive(self) -> list[Player]:
        return [player for player in self.players if player.is_alive]

    def start(self, run_id: str, job: Callable[[Player], object]) -> Player:
        player = Player(self, run_id, job, self.at)
        self.players.append(player)
        return player

    def take(self, turns: int) -> None:
        """Let this many calls be answered, or as many as there are."""
        for _ in range(turns):
            waiting = self.alive
            if not waiting:
                return
            # Ties go to whoever started first; the dice have spoken when the latencies were drawn.
            player = min(waiting, key=lambda each: each.ready_at)
            self.at = max(self.at, player.ready_at)
            self.taken += 1
            self.before_turn()
            player.go()

    def latency(self) -> timedelta:
        """Mostly a second or so; sometimes an answer takes its time, or a process stands still."""
        draw = self.dice.random()
        if draw < 0.8:
            return timedelta(seconds=2 * self.dice.random())
        return timedelta(seconds=self.dice.uniform(2, 8 if draw < 0.96 else 30))


class Player:
    """One run of the action."""

    def __init__(self, turns: Turns, run_id: str, job: Callable[[Player], object], at: datetime) -> None:
        self.turns, self.run_id, self.ready_at = turns, run_id, at
        self.is_alive = True
        self.fault: BaseException | None = None
        self.outcome: object = None
        self.ended_at: datetime | None = None
        self.was_killed = False
        self.doom: tuple[int, BaseException] | None = None
        self.is_doomed_after_effect = False
        self.asked: list[str] = []
        self.calls = 0
        self.troubles: list[str] = []
        self._pending: BaseException | None = None
        self._go, self._paused = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, args=(job,), daemon=True)
        self._is_started = False

    def call(self, what: str, effect: Callable[[], T]) -> T:
        """Ask the world: the question travels, then it happens, unless one of the two is lost."""
        self.asked.append(what)
        self.sleep(self.turns.latency())
        if what in self.troubles:
            self.troubles.remove(what)
            raise TransientError("unreachable", f"{what}: no answer")
        answer = effect()
        self._meet_doom()
        self._raise_pending()
        if f"lost {what}" in self.troubles:
            self.troubles.remove(f"lost {what}")
            raise TransientError("unreachable", f"{what}: it happened, and the answer is lost")
        return answer

    def sleep(self, duration: timedelta) -> None:
        """Let time pass for this run; others have their turns."""
        if threading.current_thread() is not self._thread:
            raise RuntimeError("a thread of its own asks the world: it would not be the same each time")
        self._raise_pending()
        self.ready_at = self.turns.at + max(duration, timedelta(0))
        self._paused.release()
        self._go.acquire()
        self.calls += 1
        if not self.is_doomed_after_effect:
            self._meet_doom()
        self._raise_pending()

    def go(self) -> None:
        """Go on to the next call of a port, or to the end."""
        if not self._is_started:
            self._is_started = True
            self._thread.start()
        else:
            self._go.release()
        self._paused.acquire()

    def kill(self) -> None:
        """End it at once; what it has asked for goes on."""
        self._hit(KilledError())
        while self.is_alive:
            self.go()

    def interrupt(self) -> None:
        """Cancel it; it is told at its next turn, and may still tidy up."""
        self._hit(KeyboardInterrupt())
        self.ready_at = self.turns.at

    def _meet_doom(self) -> None:
        if self.doom is not None and self.calls >= self.doom[0]:
            self._hit(self.doom[1])
            self.doom = None

    def _hit(self, error: BaseException) -> None:
        if not self.was_killed:
            self.was_killed = isinstance(error, KilledError)
            self._pending = error
            if self.was_killed:
                self.turns.on_kill(self)

    def _raise_pending(self) -> None:
        pending = self._pending
        if pending is not None:
            if not isinstance(pending, KilledError):
                self._pending = None
            raise pending

    def _run(self, job: Callable[[Player], object]) -> None:
        try:
            self._raise_pending()
            self.outcome = job(self)
        except (KilledError, KeyboardInterrupt, GpuLolError) as error:
            self.outcome = error
        except BaseException as error:  # noqa: BLE001 - whoever watches judges it
            self.fault = error
        finally:
            self.is_alive, self.ended_at = False, self.turns.at
            self._paused.release()
