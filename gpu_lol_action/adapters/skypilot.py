"""SkyPilot as handlers know it: launch one offer in a time box, stop for real, end and list machines by name.

SkyPilot itself is in a child process (``skypilot_worker``) with a home, a server port and an environment of its own; this
module never imports it. After ``cancel`` no process of it is left, so that what is certified ended cannot come back.

What remains possible: if this process and its worker are both killed at once, the server notices within about two seconds
and ends itself (``sky_plugin``); an order that had reached the cloud by then leaves a machine, which the sweeper finds by name.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from gpu_lol_action.adapters.skypilot_answers import (
    classify_problem,
    clean_line,
    describe_progress,
    find_answer,
    parse_machine,
    parse_price,
    shorten,
)
from gpu_lol_action.adapters.skypilot_home import SkyPilotSettings, forget_secrets, prepare_home, worker_environment
from gpu_lol_action.adapters.skypilot_process import WorkerProcess, free_port
from gpu_lol_action.domain.environment import SshEndpoint
from gpu_lol_action.domain.machine import Launched, LaunchRequest, Machine, NotLaunched
from gpu_lol_action.errors import GpuLolError, OperatorError, TransientError

_HEARTBEAT = timedelta(seconds=5)
_CANCEL_GRACE = timedelta(seconds=15)
_CALL_TIME_BOX = timedelta(seconds=90)
_LONGEST_CLUSTER_NAME = 26


class SkyPilotCloud:
    """The cloud port, fulfilled by SkyPilot 0.14.1. State: the worker process, when there is one."""

    def __init__(self, settings: SkyPilotSettings, environ: Mapping[str, str], now: Callable[[], datetime]) -> None:
        """Start nothing yet. ``environ`` is this process's environment, of which SkyPilot gets the harmless part."""
        self._settings, self._environ, self._now = settings, environ, now
        self._worker: WorkerProcess | None = None
        # A watcher cancels from a thread of its own: whoever comes second returns only when nothing is left either.
        self._lock = threading.RLock()
        # Workers of which something may live on: an end that failed or was interrupted is done again by the next cancel.
        self._unended: list[WorkerProcess] = []
        self._warming: queue.SimpleQueue[dict[str, object] | None] | None = None

    def warm(self) -> None:
        """Start loading SkyPilot and its server in the background; a launch that follows finds them started."""
        worker = self._running_worker()
        if self._warming is None:
            self._warming = worker.ask("warm", self._clouds)

    def launch(self, request: LaunchRequest, on_progress: Callable[[str], None]) -> Launched | NotLaunched:
        """Try one offer within its time box; afterwards nothing of this try goes on launching.

        ``on_progress`` hears a short line at each step and every five seconds between; an exception it raises (a tombstone
        was seen, say) cancels the launch for real and passes on.
        """
        if len(request.cluster_name) > _LONGEST_CLUSTER_NAME:
            return NotLaunched(
                "invalid",
                f"the cluster name has {len(request.cluster_name)} characters, at most {_LONGEST_CLUSTER_NAME} are kept by every cloud",
                is_certain=True,
            )
        order = {**self._clouds, "task": dict(request.task), "cluster_name": request.cluster_name}
        if self._unended:
            self.cancel()
        answers: list[str] = []
        try:
            event = self._ask_to_launch(order, request.time_box, on_progress, answers)
            if event is not None and _is_unstarted(event):
                # Somebody may have taken the server's port since it was chosen. Nothing was asked of a cloud, so once more.
                self.cancel()
                event = self._ask_to_launch(order, request.time_box, on_progress, answers)
        except TimeoutError:
            self.cancel()
            minutes = request.time_box.total_seconds() / 60
            return NotLaunched("timed_out", f"no machine answered within {minutes:.3g} min", is_certain=False)
        except BaseException:
            self.cancel()
            raise
        if event is None:
            return NotLaunched("cancelled", "the launch was stopped", is_certain=False)
        problem = event.get("problem")
        if isinstance(problem, Mapping):
            return classify_problem(problem, answers, self._secrets())
        return _launched(event["answer"])

    def _ask_to_launch(
        self,
        order: Mapping[str, object],
        time_box: timedelta,
        on_progress: Callable[[str], None],
        answers: list[str],
    ) -> dict[str, object] | None:
        # One worker, which warms itself first: a cancel that comes between two looks must not meet another one's launch.
        return self._wait(self._running_worker().ask("launch", order), time_box, on_progress, answers)

    def _wait(
        self,
        events: queue.SimpleQueue[dict[str, object] | None],
        time_box: timedelta,
        on_progress: Callable[[str], None],
        answers: list[str],
    ) -> dict[str, object] | None:
        """Return the order's last event (None: the worker is gone) and put what the cloud answered into ``answers``.

        Raises TimeoutError at the end of the time box.
        """
        began = self._now()
        said = "starting SkyPilot"
        while True:
            left = time_box - (self._now() - began)
            if left <= timedelta(0):
                raise TimeoutError
            try:
                event = events.get(timeout=min(left, _HEARTBEAT).total_seconds())
            except queue.Empty:
                on_progress(f"{said} ({(self._now() - began).total_seconds():.0f} s)")
                continue
            if event is None or "progress" not in event:
                return event
            line = str(event["progress"])
            answer = find_answer(line)
            if answer is not None:
                answers.append(answer)
            words = describe_progress(line, self._secrets())
            if words is not None and words != said:
                said = words
                on_progress(said)

    def cancel(self) -> None:
        """Stop any launch for real: cancel the request, end the server; returns when no process of either is left."""
        with self._lock:
            if self._worker is not None:
                self._unended.append(self._worker)
                self._worker = self._warming = None
            while self._unended:
                worker = self._unended[-1]
                events = worker.ask("cancel", {})
                with contextlib.suppress(queue.Empty):  # the processes are killed next, which ends a request too
                    events.get(timeout=_CANCEL_GRACE.total_seconds())
                worker.end(timedelta(seconds=1))
                self._unended.pop()

    def name_on_cloud(self, cluster_name: str) -> str:
        """Return the name under which the provider will list that cluster (its role, ``-head``, is not part of it)."""
        return f"{cluster_name}-{self._settings.user_hash}"

    def teardown(self, cloud: str, name_on_cloud: str, provider_config: Mapping[str, str]) -> None:
        """End the machine by name; no server and no state needed. No such machine is not an error."""
        self._call(
            "teardown",
            {"cloud": cloud, "name_on_cloud": name_on_cloud, "provider_config": dict(provider_config)},
            cloud,
        )

    def machines(self, cloud: str, prefix: str) -> Sequence[Machine]:
        """List machines whose name starts with ``prefix``, whatever their status.

        Raises TransientError when the cloud does not answer, OperatorError when it refuses our key or cannot be listed.
        """
        if cloud not in ("runpod", "lambda", "vast"):
            raise OperatorError(
                "cloud_cannot_list",
                f"machines on {cloud} cannot be listed by name; the ledger is all that is known there",
            )
        listed = self._call("machines", {"cloud": cloud, "prefix": prefix}, cloud)
        if not isinstance(listed, list) or not all(isinstance(item, Mapping) for item in listed):
            # An answer that cannot be read must not be taken for an empty list: absences are proven by it.
            raise TransientError("cloud_unreachable", f"what {cloud} lists cannot be read")
        return [parse_machine(cloud, item) for item in listed]

    def close(self) -> None:
        """End server and child processes, and remove what is secret from SkyPilot's home."""
        try:
            self.cancel()
        finally:
            forget_secrets(self._settings)

    def _running_worker(self) -> WorkerProcess:
        with self._lock:
            if self._worker is None or not self._worker.is_alive:
                if self._worker is not None:  # it died of itself: its server must not live on beside the next one
                    self.cancel()
                prepare_home(self._settings)
                environment = worker_environment(self._settings, free_port(), self._environ)
                self._worker = WorkerProcess(environment, self._settings.home / "worker.log")
            return self._worker

    def _call(self, op: str, order: Mapping[str, object], cloud: str) -> object:
        """Ask for something short; translate its failure into an error that says whose turn it is."""
        events = self._running_worker().ask(op, order)
        try:
            event = events.get(timeout=_CALL_TIME_BOX.total_seconds())
        except queue.Empty:
            self.cancel()
            raise TransientError(
                "cloud_unreachable", f"{cloud} did not answer within {_CALL_TIME_BOX.total_seconds():.0f} s"
            ) from None
        if event is None:
            raise TransientError("cloud_unreachable", f"SkyPilot's process ended while it asked {cloud}")
        problem = event.get("problem")
        if isinstance(problem, Mapping):
            raise self._error(problem, cloud)
        return event.get("answer")

    def _error(self, problem: Mapping[str, object], cloud: str) -> GpuLolError:
        found = classify_problem(problem, secrets=self._secrets())
        if found.kind == "credentials":
            return OperatorError(
                "cloud_credentials_refused",
                f"{cloud} refused our key",
                why=found.detail,
                fix=f"check the secret that holds the {cloud} API key",
            )
        text = shorten(clean_line(str(problem.get("text") or ""), self._secrets()))
        return TransientError(
            "cloud_unreachable", f"{cloud} did not answer as it should", why=text, fix="try again in a few minutes"
        )

    @property
    def _clouds(self) -> dict[str, object]:
        return {"clouds": list(self._settings.allowed_clouds)}

    def _secrets(self) -> Sequence[str]:
        return [key for key in self._settings.cloud_keys.values() if key]


def _is_unstarted(event: Mapping[str, object]) -> bool:
    """Whether SkyPilot's server did not come up, so that no cloud heard of the launch."""
    problem = event.get("problem")
    if not isinstance(problem, Mapping) or problem.get("is_asked") is not False:
        return False
    return "RuntimeError" in problem.get("types", ())


def _launched(answer: object) -> Launched:
    if not isinstance(answer, Mapping):
        raise TransientError("cloud_unreachable", "SkyPilot's answer to a launch cannot be read")
    endpoint = SshEndpoint(host=str(answer["host"]), port=int(answer["port"]), user=str(answer["user"]))
    provider_config = {str(key): str(value) for key, value in dict(answer["provider_config"]).items()}
    return Launched(
        str(answer["name_on_cloud"]), answer["region"], endpoint, provider_config, parse_price(answer.get("price"))
    )
