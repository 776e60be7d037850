"""Runs inside SkyPilot's API server and its executors: no credential leaves the server, and no server outlives its owner.

By default SkyPilot copies the credential files of all clouds, and its own private key, to every machine (sky/check.py,
``get_cloud_credential_file_mounts``); RunPod, Lambda and Shadeform have no setting against it. Whoever may log in to the
machine would hold the keys to the account.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable

from sky import check
from sky.server import daemons, plugins

from gpu_lol_action.adapters.skypilot_process import OWNER_VARIABLE, started_at

_POLL_SECONDS = 1.0


def no_credential_file_mounts(excluded_clouds: Iterable[object] | None = None) -> dict[str, str]:
    """Return no file at all, in place of SkyPilot's function of the same shape."""
    del excluded_clouds
    return {}


class GpuLolPlugin(plugins.BasePlugin):
    """SkyPilot's server plugin; named in plugins.yaml."""

    @property
    def name(self) -> str:
        """What the server shows."""
        return "gpu-lol"

    def install(self, extension_context: plugins.ExtensionContext) -> None:
        """Take over credential uploads, start no daemon, and watch the owner."""
        del extension_context
        # They look after clusters, volumes and tokens of a server that stays. Ours lives for one launch, whose machine is
        # looked after from outside, and each of them would take a process that imports SkyPilot before that launch begins.
        daemons.INTERNAL_REQUEST_DAEMONS.clear()
        check.get_cloud_credential_file_mounts = no_credential_file_mounts
        _watch_owner()
        # A forked executor keeps the patch but loses the thread.
        os.register_at_fork(after_in_child=_watch_owner)


def _watch_owner() -> None:
    """End this process when the one that owns the server is gone: a launch must not go on that nobody waits for."""
    pid_text, _, born = os.environ.get(OWNER_VARIABLE, "").partition(":")
    if pid_text:
        threading.Thread(target=_end_with, args=(int(pid_text), born), name="gpu-lol-owner", daemon=True).start()


def _end_with(pid: int, born: str) -> None:
    while started_at(pid) == born:
        time.sleep(_POLL_SECONDS)
    # SkyPilot starts its server as a session of its own: the group is the server, its queues and its executors.
    os.killpg(0, signal.SIGKILL)
