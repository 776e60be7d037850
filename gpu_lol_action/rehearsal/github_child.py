"""The GitHub stand-in as a child process: orders as JSON lines on stdin, answers as JSON lines on stdout.

    python -m gpu_lol_action.rehearsal.github_child --repository acme/llm-lab --folder path/to/project

The first line tells the addresses and the bot's token. Then `{"do": "comment", "with": {"number": 1, ...}}`
calls the method of that name of Hub; the end of stdin ends the stand-in.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from gpu_lol_action.rehearsal.github import Hub
from gpu_lol_action.rehearsal.github_setting import Setting

ORDERS = frozenset(
    {
        "add_token",
        "add_user",
        "close_pull_request",
        "comment",
        "comments",
        "commit",
        "counts",
        "edit_comment",
        "fail_next",
        "finish_run",
        "forget_requests",
        "inject",
        "mark_ready",
        "merge",
        "open_pull_request",
        "problems",
        "push",
        "reactions",
        "reopen_pull_request",
        "schedule",
        "start_run",
        "workflow_dispatch",
    }
)


def obey(hub: Hub, line: str) -> dict[str, object]:
    """Carry out one order; an order that cannot be is answered with why."""
    try:
        order = json.loads(line)
        if order["do"] not in ORDERS:
            return {"error": f"unknown order {order['do']!r}"}
        result = getattr(hub, order["do"])(**order.get("with", {}))
    except (ValueError, TypeError, KeyError, LookupError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"result": result}


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return str(value)


def main(arguments: list[str] | None = None) -> int:
    """Serve until stdin ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", default="acme/llm-lab", help="owner/name of the made-up repository")
    parser.add_argument("--folder", type=Path, help="project on disk to start from")
    parser.add_argument("--port", type=int, default=0, help="port of the API; 0 takes a free one")
    options = parser.parse_args(arguments)
    setting = Setting(full_name=options.repository, port=options.port)
    with (
        tempfile.TemporaryDirectory(prefix="gpu-lol-github-") as root,
        Hub(Path(root), now=lambda: datetime.now(timezone.utc), setting=setting) as hub,
    ):
        if options.folder is not None:
            hub.commit_folder(options.folder)
        addresses = {"api_url": hub.api_url, "web_url": hub.web_url, "bot_token": hub.bot_token}
        print(json.dumps(addresses), flush=True)
        for line in sys.stdin:
            print(json.dumps(obey(hub, line), default=_plain), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
