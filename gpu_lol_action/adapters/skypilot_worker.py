"""The child process in which SkyPilot lives: the only module, with skypilot_listers and sky_plugin, that imports it.

``python -m gpu_lol_action.adapters.skypilot_worker`` reads one JSON order per line from stdin and writes one JSON event per
line to what was its stdout; everything SkyPilot prints goes to stderr. When stdin ends (the parent is gone, however it went)
it cancels what is launching, ends the server and leaves.

Orders: ``{"id", "op", ...}`` with op ``warm``, ``launch``, ``cancel``, ``teardown``, ``machines``. Events: ``{"id", "progress"}``
for each line that SkyPilot streams, and at the end ``{"id", "answer"}`` or ``{"id", "problem": {"types", "text", "history", "is_asked"}}``.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Protocol

from gpu_lol_action.adapters.skypilot_listers import LISTERS
from gpu_lol_action.adapters.skypilot_process import OWNER_VARIABLE, started_at

Order = Mapping[str, object]
_HISTORY_LIMIT = 20
_SECRET_PROVIDER_KEYS = frozenset({"docker_login_config"})


class Worker:
    """Answers orders, each in a thread of its own; knows which launch is under way."""

    def __init__(self, out: IO[str]) -> None:
        """Write events to ``out``."""
        self._out = out
        self._out_lock = threading.Lock()
        self._server_lock = threading.Lock()
        self._request_id: str | None = None
        self._asked: set[object] = set()
        self._is_cancelled = False
        self._is_warm = False

    def say(self, event: Mapping[str, object]) -> None:
        """Write one event."""
        with self._out_lock:
            self._out.write(json.dumps(event) + "\n")
            self._out.flush()

    def obey(self, order: Order) -> None:
        """Carry out an order and say how it ended; no exception leaves."""
        operations: Mapping[str, Callable[[Order], object]] = {
            "warm": self.warm,
            "launch": self.launch,
            "cancel": self.cancel,
            "teardown": self.teardown,
            "machines": self.machines,
        }
        try:
            answer = operations[str(order["op"])](order)
        except BaseException as problem:  # noqa: BLE001 -- SystemExit too: SkyPilot raises it, and the parent must hear of it
            is_asked = order.get("id") in self._asked
            self.say({"id": order.get("id"), "problem": {**_describe(problem), "is_asked": is_asked}})
        else:
            self.say({"id": order.get("id"), "answer": answer})

    def warm(self, order: Order) -> object:
        """Import SkyPilot, start its API server, with our plugin, on our port, and let it find out which clouds answer."""
        import sky

        with self._server_lock:
            if self._is_warm or self._is_cancelled:
                return {}
            sky.api_start()
            if not self._is_cancelled:
                self._rehearse(_sequence(order.get("clouds")))
            self._is_warm = True
        return {}

    def _rehearse(self, clouds: list[object]) -> None:
        """Have the server do now, without a cloud order, what its first launch does before it asks a cloud.

        Its long-lived executor starts, reads the catalogs and asks each cloud whether its key works: 6 s become 1 s.
        """
        import sky

        try:
            task = sky.Task.from_yaml_config({"resources": {"infra": str(clouds[0])} if clouds else {}})
            sky.get(sky.launch(task, cluster_name="gl-dry-run", dryrun=True))
        except Exception as problem:  # noqa: BLE001 -- the launch itself asks again, and says what is wrong
            print(f"dry run: {problem!r}", file=sys.stderr)

    def launch(self, order: Order) -> object:
        """Launch one task on one cluster; returns where the machine is."""
        self.warm(order)
        import sky
        from sky import global_user_state

        task = sky.Task.from_yaml_config(dict(_mapping(order["task"])))
        cluster = str(order["cluster_name"])
        if self._is_cancelled:
            raise InterruptedError("cancelled before the launch began")
        self._asked.add(order["id"])
        request = sky.launch(task, cluster_name=cluster)
        self._request_id = str(request)
        if self._is_cancelled:
            raise InterruptedError("cancelled before the launch began")
        streamed: list[str] = []

        def pass_on(line: str) -> None:
            streamed.append(line)
            self.say({"id": order["id"], "progress": line})

        try:
            _, handle = sky.stream_and_get(request, output_stream=LineStream(pass_on))
        except Exception:
            # The server may end the stream before the last lines, in which a cloud's own words stand.
            for line in unheard(self._whole_log(request), streamed):
                pass_on(line)
            raise
        self._request_id = None
        if handle is None:
            raise RuntimeError("SkyPilot launched nothing and said no reason")
        config = global_user_state.get_cluster_yaml_dict(handle.cluster_yaml)
        resources = handle.launched_resources
        return {
            "name_on_cloud": handle.cluster_name_on_cloud,
            "region": resources.region,
            "host": handle.head_ip,
            "port": (handle.cached_external_ssh_ports or [22])[0],
            "user": handle.ssh_user or config["auth"]["ssh_user"],
            "provider_config": flatten_provider_config(config.get("provider") or {}),
            "price": catalog_price(resources),
        }

    def _whole_log(self, request: object) -> list[str]:
        """Return every line that a request has logged; nothing after a cancel, or where the server does not answer."""
        import sky

        lines: list[str] = []
        if self._is_cancelled:
            return lines
        try:
            sky.stream_and_get(request, follow=False, output_stream=LineStream(lines.append))
        except Exception as problem:  # noqa: BLE001 -- what the launch raised is what counts
            print(f"log: {problem!r}", file=sys.stderr)
        return lines

    def cancel(self, order: Order) -> object:
        """Cancel the launch that is under way and end the API server; processes are swept by the parent afterwards."""
        del order
        self._is_cancelled = True
        import sky

        if self._request_id is not None:
            try:
                sky.get(sky.api_cancel([self._request_id], silent=True))
            except Exception as problem:  # noqa: BLE001 -- the server ends next, and with it the request
                print(f"cancel: {problem!r}", file=sys.stderr)
        sky.api_stop()  # without the lock: a server that is starting is ended too
        return {}

    def teardown(self, order: Order) -> object:
        """End a machine by its name on the cloud, with no server and no state."""
        from sky import provision

        provider = {key: json.loads(str(value)) for key, value in _mapping(order["provider_config"]).items()}
        provision.terminate_instances(str(order["cloud"]), str(order["name_on_cloud"]), provider)
        return {}

    def machines(self, order: Order) -> object:
        """List a cloud's machines whose name starts with a prefix, as the provider shows them."""
        prefix = str(order["prefix"])
        return [machine for machine in LISTERS[str(order["cloud"])]() if str(machine["name"]).startswith(prefix)]


def unheard(logged: Iterable[str], streamed: Iterable[str]) -> list[str]:
    """Return the logged lines that were not streamed; a line that stands twice in the log has to be streamed twice."""
    heard = Counter(streamed)
    lines: list[str] = []
    for line in logged:
        if heard[line] > 0:
            heard[line] -= 1
        else:
            lines.append(line)
    return lines


class _Costed(Protocol):
    def get_cost(self, seconds: float) -> object: ...


def catalog_price(resources: _Costed) -> str | None:
    """Return the dollars an hour of launched resources by SkyPilot's catalog; None where it has no price for them."""
    try:
        return str(resources.get_cost(3600))
    except Exception as problem:  # noqa: BLE001 -- the machine runs; what it costs may be told by its provider
        print(f"price: {problem!r}", file=sys.stderr)
        return None


class LineStream(io.TextIOBase):
    """A text stream that calls back for each whole line; SkyPilot's spinners use a bare return as a line end."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        """Call ``on_line`` for each line."""
        self._on_line, self._rest = on_line, ""

    def write(self, text: str) -> int:
        """Take some text."""
        *lines, self._rest = (self._rest + text).replace("\r", "\n").split("\n")
        for line in filter(str.strip, lines):
            self._on_line(line)
        return len(text)

    def flush(self) -> None:
        """Do nothing: an unfinished line waits for its end."""


def flatten_provider_config(config: Mapping[str, object]) -> dict[str, str]:
    """Return SkyPilot's provider section as text values (JSON), without what is secret in it."""
    return {
        key: json.dumps(value)
        for key, value in config.items()
        if key not in _SECRET_PROVIDER_KEYS and value is not None
    }


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"expected a mapping, got {type(value).__name__}")
    return value


def _sequence(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _describe(problem: BaseException) -> dict[str, object]:
    """Return an exception as data: its class names from its own up, its text, and SkyPilot's failover history."""
    history = getattr(problem, "failover_history", None) or []
    return {
        "types": [kind.__name__ for kind in type(problem).__mro__],
        "text": str(problem),
        "history": [
            {"types": [kind.__name__ for kind in type(item).__mro__], "text": str(item)}
            for item in history[:_HISTORY_LIMIT]
        ],
    }


def main() -> None:
    """Obey until stdin ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever SkyPilot prints must not be taken for an event
    orders = os.fdopen(os.dup(0), "r", encoding="utf-8")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.environ[OWNER_VARIABLE] = f"{os.getpid()}:{started_at(os.getpid())}"
    worker = Worker(out)
    for line in orders:
        threading.Thread(target=worker.obey, args=(json.loads(line),), daemon=True).start()
    # The parent closed our stdin or is dead: nothing may go on launching.
    ending = threading.Thread(target=worker.obey, args=({"id": None, "op": "cancel"},), daemon=True)
    ending.start()
    ending.join(timeout=20)
    os._exit(0)  # the plugin's watch ends what is left of the server


if __name__ == "__main__":
    main()
