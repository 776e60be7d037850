"""SSH to one machine with the system's OpenSSH client; fulfils the ``Shell`` port.

The user's own SSH configuration, agent and known hosts never take part: key, options and pinned host key are ours.
A script travels in front of its data on one standard input, so that a run is one round trip, whatever its size.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from gpu_lol_action.adapters.ssh_streams import Call, converse, kill
from gpu_lol_action.domain.environment import SshEndpoint
from gpu_lol_action.domain.machine import RemoteOutput
from gpu_lol_action.domain.redaction import redact
from gpu_lol_action.errors import OperatorError, TransientError

_HOST_ALIAS = "gpu-lol-machine"
_HOST = re.compile(r"[A-Za-z0-9\[][A-Za-z0-9.:_%\[\]-]{0,252}")
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}")
_HOST_KEY = re.compile(r"ssh-ed25519 [A-Za-z0-9+/]+={0,2}")

# The script's length in bytes comes first, then the script, then its data: `read` on a pipe takes no byte too many.
# `timeout` ends what we left behind there; it comes second, so that its own exit status is never taken for the script's.
_REMOTE_GRACE_SECONDS = 15
_BOOTSTRAP = (
    "exec timeout -k 10 {seconds} bash -c "
    '\'IFS= read -r n && IFS= LC_ALL=C read -r -N "$n" s || exit 125; eval "unset n s; $s"\''
)
_READ_HOST_KEYS = "cat /etc/ssh/ssh_host_*_key.pub 2>/dev/null; true"

_KEY_REFUSED = (
    "It is derived from the cloud's key (or `GPU_LOL_SECRET`): was that changed since `up`? Then `run`, `logs`, `validate`, "
    "`sync`, `share`, `unshare`, `extend` and saving its work do not work on this machine any more. Your own login does; "
    "save what matters. It can still be ended:\n/gpu-lol down"
)
_KEYSCAN_SECONDS = 8

_REMOTE_ENDED = re.compile(r"client_input_channel_req: channel \d+ rtype exit-")


class OpenSsh:
    """One private key and the host keys pinned with it. ``close`` removes the key from disk."""

    def __init__(self, private_key: bytes) -> None:
        """Keep the key (OpenSSH or PEM format) in a private file for the time of this object's life."""
        program = shutil.which("ssh")
        if program is None:
            raise OperatorError(
                "ssh_missing",
                "The program `ssh` is not installed where gpu-lol runs.",
                why="gpu-lol reaches machines with the system's OpenSSH client.",
                fix="apt-get install openssh-client",
            )
        self._program = program
        self._folder = tempfile.TemporaryDirectory(prefix="gpu-lol-ssh-")
        self._key = Path(self._folder.name, "key")
        with open(os.open(self._key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123 - mode from the start
            file.write(private_key if private_key.endswith(b"\n") else private_key + b"\n")
        self._pins: dict[tuple[str, int], str] = {}

    def close(self) -> None:
        """Remove the private key from disk."""
        self._folder.cleanup()

    def host_key(self, endpoint: SshEndpoint) -> str:
        """Return the machine's ed25519 host key, read over the first connection and pinned from then on.

        The key that the connection used must be among those that the machine itself has in ``/etc/ssh``: another
        one means that somebody stands between, or that the port leads elsewhere. A key already known is only checked.
        """
        pin = endpoint.host_key or self._pins.get((endpoint.host, endpoint.port))
        with tempfile.TemporaryDirectory(dir=self._folder.name) as folder:
            known_hosts = Path(folder, "known_hosts")
            self._write_pin(known_hosts, pin)
            output = self._run(
                Call(endpoint, _READ_HOST_KEYS, None, timedelta(minutes=1), None),
                known_hosts,
                checking="yes" if pin else "accept-new",
            )
            presented = " ".join(known_hosts.read_text("ascii", "replace").split()[1:3])
        if not _HOST_KEY.fullmatch(presented):
            raise TransientError(
                "machine_unreachable", "The machine showed no ed25519 host key.", fix="Try again in a minute."
            )
        own = {" ".join(line.split()[:2]) for line in output.stdout.splitlines() if line.startswith("ssh-")}
        if own and presented not in own:
            raise OperatorError(
                "host_key_changed",
                f"The machine answers with the host key {fingerprint(presented)}, which is not its own.",
                why="The machine's /etc/ssh holds other keys: somebody may stand between us and it.",
                fix="End this environment and start another one.",
            )
        self._pins[endpoint.host, endpoint.port] = presented
        return presented

    def run(
        self,
        endpoint: SshEndpoint,
        script: str,
        *,
        stdin: Path | bytes | None = None,
        timeout: timedelta = timedelta(minutes=5),
        on_line: Callable[[str], None] | None = None,
        into: Path | None = None,
    ) -> RemoteOutput:
        """Run a bash script there, with ``stdin`` as its data, and return what it said; each stream keeps its tail.

        ``into``: standard output goes into this file byte by byte, ``MAX_FILE_BYTES`` of it at most, and not into the
        answer. ``on_line`` gets each line of both streams as it comes, made safe to print. Raises TransientError when the
        machine cannot be reached or time is up, OperatorError when it refuses our key or shows another host key.
        """
        pin = endpoint.host_key or self._pins.get((endpoint.host, endpoint.port)) or self.host_key(endpoint)
        with tempfile.TemporaryDirectory(dir=self._folder.name) as folder:
            known_hosts = Path(folder, "known_hosts")
            self._write_pin(known_hosts, pin)
            return self._run(Call(endpoint, script, stdin, timeout, on_line, into), known_hosts, checking="yes")

    def answers_as_before(self, endpoint: SshEndpoint) -> bool:
        """Whether the address still shows the host key that was pinned; no login is tried. False where none was pinned."""
        program = shutil.which("ssh-keyscan")
        if program is None or endpoint.host_key is None or not _HOST.fullmatch(endpoint.host):
            return False
        arguments = [program, "-T", str(_KEYSCAN_SECONDS), "-t", "ed25519", "-p", str(endpoint.port), endpoint.host]
        try:
            done = subprocess.run(
                arguments, capture_output=True, timeout=2 * _KEYSCAN_SECONDS, env={"PATH": os.defpath}, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        shown = {line.partition(" ")[2].strip() for line in done.stdout.decode("ascii", "replace").splitlines()}
        return endpoint.host_key in shown

    def _write_pin(self, known_hosts: Path, pin: str | None) -> None:
        if pin is not None and not _HOST_KEY.fullmatch(pin):
            raise OperatorError(
                "host_key_invalid", "The recorded host key is not an ed25519 key.", fix="End this environment."
            )
        known_hosts.write_text(f"{_HOST_ALIAS} {pin}\n" if pin else "", "ascii")

    def _run(self, call: Call, known_hosts: Path, *, checking: str) -> RemoteOutput:
        log = known_hosts.with_name("log")
        arguments = [self._program, *self._options(call.endpoint, known_hosts, checking), "-E", str(log)]
        seconds = max(1, math.ceil(call.timeout.total_seconds()))
        arguments += ["--", call.endpoint.host, _BOOTSTRAP.format(seconds=seconds + _REMOTE_GRACE_SECONDS)]
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            start_new_session=True,
        )
        try:
            stdout, stderr = converse(process, call)
        except subprocess.TimeoutExpired:
            raise TransientError(
                "machine_timed_out",
                f"The machine had not finished after {seconds} s.",
                why="The command was stopped, because its time box was over.",
                fix="Raise the timeout in the policy file, or do less in set-up.",
            ) from None
        finally:
            kill(process)
        said = log.read_text("utf-8", "replace") if log.exists() else ""
        if process.returncode == 255 and not _REMOTE_ENDED.search(said):
            raise _explain(call.endpoint, said)
        return RemoteOutput(process.returncode, stdout, stderr)

    def _options(self, endpoint: SshEndpoint, known_hosts: Path, checking: str) -> list[str]:
        if not (_HOST.fullmatch(endpoint.host) and _USER.fullmatch(endpoint.user) and 0 < endpoint.port < 65536):
            raise OperatorError(
                "ssh_endpoint_invalid", "The recorded SSH address is not one.", fix="End this environment."
            )
        options = {
            "BatchMode": "yes",
            "CheckHostIP": "no",
            "ClearAllForwardings": "yes",
            "ConnectTimeout": "20",
            "ConnectionAttempts": "3",
            "ControlMaster": "no",
            "ControlPath": "none",
            "ForwardAgent": "no",
            "GlobalKnownHostsFile": "/dev/null",
            "HashKnownHosts": "no",
            "HostKeyAlgorithms": "ssh-ed25519",
            "HostKeyAlias": _HOST_ALIAS,
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "IdentityFile": str(self._key),
            "LogLevel": "DEBUG1",  # only there does ssh say whether 255 is its own or the command's exit status
            "PermitLocalCommand": "no",
            "PreferredAuthentications": "publickey",
            "ServerAliveCountMax": "4",
            "ServerAliveInterval": "15",
            "StrictHostKeyChecking": checking,
            "UpdateHostKeys": "no",
            "UserKnownHostsFile": str(known_hosts),
        }
        flags = [flag for name, value in options.items() for flag in ("-o", f"{name}={value}")]
        return ["-F", "/dev/null", "-T", "-x", "-a", "-p", str(endpoint.port), "-l", endpoint.user, *flags]


def fingerprint(host_key: str) -> str:
    """Return the SHA256 fingerprint of a key ``type base64`` as ``ssh-keygen -l`` prints it."""
    try:
        blob = base64.b64decode(host_key.split()[1], validate=True)
    except (IndexError, binascii.Error):
        return "SHA256:?"
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode("ascii").rstrip("=")


# What ssh writes of any connection that was open (OpenSSH, sshconnect2.c and clientloop.c).
_OPENED = "Authenticated to "
_NO_REASONS = ("debug", _OPENED, "Transferred: sent ", "Bytes per second: sent ")


def _explain(endpoint: SshEndpoint, said: str) -> OperatorError | TransientError:
    """Say in our words what ssh's log says; its last line stays as the reason, because it tells most.

    Comments show it, and whoever reads them need not learn where the machine is.
    """
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith(_NO_REASONS)]
    nothing = "The connection broke off." if f"\n{_OPENED}" in f"\n{said}" else "ssh gave no reason."
    last = lines[-1] if lines else nothing
    address = rf"\[?{re.escape(endpoint.host)}\]?(?:[: ](?:port )?{endpoint.port})?"
    why = redact(re.sub(address, "the machine", last))[:300]
    text = "\n".join(lines)
    if re.search(r"HOST IDENTIFICATION HAS CHANGED|Host key verification failed", text):
        what = "The machine shows another host key than the pinned one."
        return OperatorError("host_key_changed", what, why=why, fix="End this environment and start another one.")
    if "no matching host key type" in text:
        what, fix = "The machine has no ed25519 host key.", "Run `ssh-keygen -A` in the image, or take another one."
        return OperatorError("host_key_missing", what, why=why, fix=fix)
    if re.search(r"Permission denied|Too many authentication failures|Load key .*invalid", text):
        return OperatorError("ssh_key_refused", "The machine refuses gpu-lol's key.", why=why, fix=_KEY_REFUSED)
    return TransientError(
        "machine_unreachable", "The machine cannot be reached.", why=why, fix="Try again in a minute."
    )
