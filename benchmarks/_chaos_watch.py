"""What the loopback cloud shows while `chaos.py --real` plays: which machines came when, and two of one name."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gpu_lol_action.rehearsal.stage import Stage


@dataclass
class Watcher:
    """What the cloud showed, every half second."""

    stage: Stage
    first_seen: dict[str, tuple[str, float]] = field(default_factory=dict)
    doubles: set[str] = field(default_factory=set)
    _over: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Look in the background."""
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            with contextlib.suppress(OSError):
                self.look()

    def look(self) -> dict[str, str]:
        """Return id -> name of the machines there are."""
        pods = {str(pod["id"]): name_of(pod) for pod in self.stage.open_cloud().pods()}
        for pod_id, name in pods.items():
            self.first_seen.setdefault(pod_id, (name, time.monotonic()))
        self.doubles |= {name for name, count in Counter(pods.values()).items() if count > 1}
        return pods


def name_of(pod: Mapping[str, object]) -> str:
    """Return a machine's name as the records have it, without the role that the provider lists behind it."""
    return str(pod["name"]).removesuffix("-head")
