"""The journal of one ``up``: every step is in the ledger before it is taken, and in the comment soon after."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from gpu_lol_action.domain.environment import EnvironmentRecord, PhaseTime, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.errors import GpuLolError, LostRace
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.status_comment import StatusComment
from gpu_lol_action.handlers.teardown import reread
from gpu_lol_action.pricing.budget import WorstCase, worst_case
from gpu_lol_action.render import comments

TOMBSTONE_POLL_SECONDS = 8.0


class StoppedError(Exception):
    """Somebody wrote a tombstone: this launch stops itself."""

    def __init__(self, tombstone: Tombstone) -> None:
        """Keep who asked for the end and why."""
        super().__init__(tombstone.reason)
        self.tombstone = tombstone


class Journal:
    """Keeps the record's newest version, the phase's clock, and the status comment of one ``up``."""

    def __init__(self, context: Context, order: Order, entry: Entry, worst_case: WorstCase) -> None:
        """Begin with the claim."""
        self.context = context
        self.order = order
        self.entry = entry
        self._worst_case = worst_case
        self.status = StatusComment(context)
        self._phase = ""

    @property
    def record(self) -> EnvironmentRecord:
        """The record as it was last written."""
        return self.entry.record

    def write(self, **changes: Any) -> None:
        """Write changes of the record. Raises StoppedError where a tombstone has been put there meanwhile."""
        now = self.context.clock.now()
        try:
            self.entry = self.context.ledger.update(
                self.entry, dataclasses.replace(self.record, updated_at=now, **changes)
            )
        except LostRace:
            self.stop_if_buried()
            raise

    def note(self, **changes: Any) -> None:
        """Keep changes of the record that the next write takes along; a machine can be found and ended without them."""
        self.entry = dataclasses.replace(self.entry, record=dataclasses.replace(self.record, **changes))

    def open_status(self) -> None:
        """Post the status comment; where that is refused, the launch goes on without one."""
        body = self.launching()
        posted = answers.reply(self.context, self.order.pull_request.number, body)
        if posted is not None:
            self.status.opened(posted.comment_id, body)
            self.note(status_comment_id=posted.comment_id)

    def stop_if_buried(self) -> None:
        """Read the record anew and raise StoppedError where it carries a tombstone."""
        self.entry = reread(self.context, self.entry)
        if self.record.tombstone is not None:
            raise StoppedError(self.record.tombstone)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a named phase, show it, and keep its seconds in the record (written with the next change)."""
        self.context.progress.phase(name)
        self._phase = name
        self.say()
        started = self.context.clock.now()
        try:
            yield
        finally:
            seconds = (self.context.clock.now() - started).total_seconds()
            self.note(phases=_with_phase(self.record.phases, PhaseTime(name, round(seconds, 1))))

    def say(self, lines: Sequence[str] = ()) -> None:
        """Show phase and last lines in the status comment, as soon as its interval allows."""
        shown = list(lines)
        self.status.show(lambda: self.launching(shown))

    def launching(self, lines: Sequence[str] = ()) -> str:
        """Return the status comment as it is now."""
        return comments.launching(
            record=self.record,
            phase=self._phase or "claimed",
            detail_lines=list(lines),
            policy=self.order.policy,
            now=self.context.clock.now(),
            worst_case_usd=self._worst_case.usd,
            worst_case_at=self._worst_case.ends_by,
            is_swept=self._worst_case.sweep_gap is not None,
        )

    @property
    def worst_case(self) -> WorstCase:
        """What it costs at most, and when the last layer ends it."""
        return self._worst_case

    def count_on(self, price_usd_per_hour: Decimal) -> None:
        """Tell from now on the worst case of this offer, which may cost more than the one that was planned."""
        gap = self._worst_case.sweep_gap
        self._worst_case = worst_case(price_usd_per_hour, self.record.lease, self.order.policy, gap)

    @contextmanager
    def watching_for_tombstone(self) -> Iterator[None]:
        """While a launch blocks this thread, look for a tombstone and cancel the launch for real when one appears."""
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over, self.entry.version), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _watch(self, over: threading.Event, version: str) -> None:
        while not over.wait(TOMBSTONE_POLL_SECONDS):
            try:
                if self.context.ledger.version(self.record.name) == version:
                    continue
            except GpuLolError as error:
                # Not being able to look is no reason to stop a launch: its lease and the sweeper bound it.
                self.context.progress.line(f"could not look for a tombstone: {error.explanation.what}")
                continue
            except Exception as error:  # noqa: BLE001  a thread that died would never look again
                self.context.progress.failure(error)
                continue
            try:
                self.context.cloud().cancel()
            except Exception as error:  # noqa: BLE001  tried again until it works or the launch is over
                self.context.progress.failure(error)
                continue
            self.context.progress.line("the record changed: the launch was cancelled")
            return


def _with_phase(phases: tuple[PhaseTime, ...], newest: PhaseTime) -> tuple[PhaseTime, ...]:
    """Return the phases in the order in which they began; what a wait repeats is one phase, with the sum of its times."""
    if all(each.name != newest.name for each in phases):
        return (*phases, newest)
    return tuple(
        PhaseTime(each.name, round(each.seconds + newest.seconds, 1)) if each.name == newest.name else each
        for each in phases
    )
