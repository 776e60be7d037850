"""All parts side by side, within one time box; one line of JSON between two marks."""

from __future__ import annotations

import base64
import json
import os
import platform
import sys
import threading
import time
from typing import Callable, Dict

from . import code, credentials, gpu, machine, packages
from .tools import Facts, guarded

MAX_OUTPUT = 400_000


def main() -> None:
    """Gather and print; or be one of the workers that a part starts."""
    if len(sys.argv) > 1 and sys.argv[1] in WORKERS:
        WORKERS[sys.argv[1]](sys.argv[2:])
        return
    request = json.loads(base64.b64decode(sys.argv[1]))
    facts: Dict[str, Facts] = {}
    parts: Dict[str, Callable[[], Facts]] = {
        "gpu": lambda: gpu.gather(request),
        "packages": lambda: packages.gather(request),
        "code": lambda: code.gather(request),
        "credentials": lambda: credentials.gather(request),
        "disk": lambda: machine.gather_disk(request),
        "shared_memory": machine.gather_shared_memory,
        "hub": lambda: machine.gather_hub(request),
        "ssh": lambda: machine.gather_ssh(request),
    }
    threads = {
        name: threading.Thread(target=_fill, args=(facts, name, part), daemon=True) for name, part in parts.items()
    }
    deadline = time.monotonic() + float(request["seconds"])
    for thread in threads.values():
        thread.start()
    for name, thread in threads.items():
        thread.join(max(0.0, deadline - time.monotonic()))
        facts.setdefault(name, {"error": "its time was up"})
    facts["python"] = {
        "executable": sys.executable,
        "version": platform.python_version(),
        "machine": platform.machine(),
    }
    answer = json.dumps(dict(facts))
    if len(answer) > MAX_OUTPUT:
        answer = json.dumps({"error": "the answer was too long"})
    sys.stdout.write("\n::gpu-lol-probe %s %s\n" % (request["nonce"], answer))
    sys.stdout.flush()
    os._exit(0)  # a part that hangs must not keep the connection open


def _fill(facts: Dict[str, Facts], name: str, part: Callable[[], Facts]) -> None:
    facts[name] = guarded(part)


WORKERS: Dict[str, Callable[..., None]] = {
    "worker-torch": gpu.torch_worker,
    "worker-all-reduce": gpu.all_reduce_worker,
    "worker-import": packages.import_worker,
    "worker-credentials": credentials.credentials_worker,
}
