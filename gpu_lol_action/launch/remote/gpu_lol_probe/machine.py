"""Disk, shared memory, the way to the Hub, and how one logs in."""

from __future__ import annotations

import getpass
import os
import re
import ssl
import time
import urllib.error
import urllib.request
from typing import List

from .tools import Facts, cut, read, run


def gather_disk(request: Facts) -> Facts:
    """Return the file systems that hold home, code and, where it is mounted, the platform's volume."""
    return {"volumes": [_usage(path) for path in (os.path.expanduser("~"), "/workspace") if os.path.isdir(path)]}


def gather_shared_memory() -> Facts:
    """Return the size of /dev/shm and the setting that tells NCCL to do without it."""
    settings = read(os.path.expanduser("~/.gpu-lol/env"))
    return dict(_usage("/dev/shm"), is_nccl_told="NCCL_SHM_DISABLE=1" in settings)  # noqa: S108 - a mount, not a file  # nosec B108


def _usage(path: str) -> Facts:
    usage = os.statvfs(path)
    return {"path": path, "total_bytes": usage.f_blocks * usage.f_frsize, "free_bytes": usage.f_bavail * usage.f_frsize}


def gather_hub(request: Facts) -> Facts:
    """Ask the Hub for its front page; any answer over a checked connection will do."""
    began = time.monotonic()
    url = str(request["hub_url"])
    try:
        asked = urllib.request.Request(url, method="HEAD", headers={"User-Agent": "gpu-lol"})  # noqa: S310 - https, by our own setting
        with urllib.request.urlopen(asked, timeout=15, context=ssl.create_default_context()) as answer:  # noqa: S310 - https, by our own setting  # nosec B310
            status = answer.status
    except urllib.error.HTTPError as error:
        status = error.code
    except Exception as error:  # noqa: BLE001 - no route, no name, no trust: all mean not reachable
        return {"url": url, "why": cut(str(error), 200)}
    return {"url": url, "status": int(status), "seconds": round(time.monotonic() - began, 2)}


def gather_ssh(request: Facts) -> Facts:
    """Return how the running sshd lets people in (asked as a stranger would), and which of the keys are installed."""
    keys = read(os.path.expanduser("~/.ssh/authorized_keys"))
    inside = re.findall(r"(?ms)^# >>> gpu-lol >>>$\n(.*?)^# <<< gpu-lol <<<$", keys)
    lines = {" ".join(line.split()[:2]) for block in inside for line in block.splitlines()}
    facts: Facts = {"missing_keys": [key for key in request["keys"] if key not in lines], "keys": len(lines)}
    words = os.environ.get("SSH_CONNECTION", "").split()
    if len(words) == 4:
        facts.update(_methods(words[2], words[3]))
    if "methods" not in facts:
        facts.update(_configured())
    return facts


def _methods(address: str, port: str) -> Facts:
    options = ["BatchMode=yes", "PreferredAuthentications=none", "PubkeyAuthentication=no", "StrictHostKeyChecking=no"]
    options += ["UserKnownHostsFile=/dev/null", "GlobalKnownHostsFile=/dev/null", "ConnectTimeout=10", "LogLevel=ERROR"]
    flags: List[str] = [flag for option in options for flag in ("-o", option)]
    _, _out, err = run(["ssh", "-F", "/dev/null", *flags, "-p", port, "-l", getpass.getuser(), address, "true"], 20)
    refused = re.search(r"Permission denied \(([a-z0-9,-]+)\)", err)
    return {"methods": refused.group(1).split(",")} if refused else {}


def _configured() -> Facts:
    for program in (["sshd"], ["/usr/sbin/sshd"], ["sudo", "-n", "/usr/sbin/sshd"]):
        code, out, _ = run([*program, "-T"], 15)
        if code == 0:
            methods = ["publickey"]
            for option, method in (
                ("passwordauthentication", "password"),
                ("kbdinteractiveauthentication", "keyboard-interactive"),
            ):
                if re.search(r"(?mi)^%s yes$" % option, out):
                    methods.append(method)
            return {"methods": methods, "is_configuration_only": True}
    return {}
