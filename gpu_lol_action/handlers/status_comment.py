"""The comment that shows how a launch goes on: edited no faster than every five seconds, and only where it changed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context

EDIT_INTERVAL = timedelta(seconds=5)
"""GitHub allows a bot 80 writes of content a minute and 500 an hour, over all runs of a repository together."""


class StatusComment:
    """One comment. What comes too early waits for its turn; the newest text wins, and nothing follows the last word."""

    def __init__(self, context: Context) -> None:
        """Know of no comment yet."""
        self._context = context
        self._lock = threading.Lock()
        self._edited_at: datetime | None = None
        self._shown = ""
        self._waiting: Callable[[], str] | None = None
        self._timer: threading.Timer | None = None
        self._is_over = False
        self.comment_id: int | None = None

    def opened(self, comment_id: int, body: str) -> None:
        """Take the comment as it was posted: the first edit is five seconds later at the earliest."""
        self.comment_id, self._shown, self._edited_at = comment_id, body, self._context.clock.now()

    def show(self, text: Callable[[], str]) -> None:
        """Show this now, or as soon as the interval is over; short of requests, progress is the first to go without."""
        with self._lock:
            if self._is_over or self.comment_id is None or self._context.forge.is_short_of_requests():
                return
            early = self._remaining()
            if early > timedelta(0):
                self._wait(text, early)
                return
            self._edit(text())

    def close_with(self, body: str) -> None:
        """Show the last word, whatever waited."""
        self.end()
        answers.edit(self._context, self.comment_id, body)

    def end(self) -> None:
        """Show nothing more: somebody else shows the last word."""
        with self._lock:
            self._is_over, self._waiting = True, None
            if self._timer is not None:
                self._timer.cancel()

    def _remaining(self) -> timedelta:
        if self._edited_at is None:
            return timedelta(0)
        return self._edited_at + EDIT_INTERVAL - self._context.clock.now()

    def _wait(self, text: Callable[[], str], early: timedelta) -> None:
        self._waiting = text
        if self._timer is None or not self._timer.is_alive():
            # Real time: a phase that says nothing more must show all the same.
            self._timer = threading.Timer(early.total_seconds(), self._catch_up)
            self._timer.daemon = True
            self._timer.start()

    def _catch_up(self) -> None:
        with self._lock:
            if not self._is_over and self._waiting is not None:
                try:
                    self._edit(self._waiting())
                except Exception as error:  # noqa: BLE001  a thread of its own: nobody else would hear of it
                    self._context.progress.failure(error)

    def _edit(self, body: str) -> None:
        self._waiting = None
        if body != self._shown:
            self._shown, self._edited_at = body, self._context.clock.now()
            answers.edit(self._context, self.comment_id, body)
