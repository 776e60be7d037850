#!/usr/bin/env python3
"""A stand-in for GitHub Copilot's program with a model of one's own behind it: it asks that server, and prints what the real one prints.

What it prints was recorded of version 1.0.102 (tests/fixtures/copilot/printed.json). It loads nothing of the project: it is run
as the real program is, by its path. ``scripts/replay-copilot`` plays the same tests with the real one.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path


def event(kind: str, **data: object) -> None:
    print(json.dumps({"type": kind, "data": data}), flush=True)


def main() -> int:
    options = dict(word.partition("=")[::2] for word in sys.argv[1:])
    seen_in = os.environ.get("LANG", "")  # the one variable that the adapter passes and nothing here needs
    if seen_in.startswith("/"):
        folder = Path.cwd()
        names = [entry.name for entry in folder.iterdir()]
        seen = {"options": options, "environment": dict(os.environ), "folder": names, "cwd": str(folder)}
        Path(seen_in).write_text(json.dumps(seen), encoding="utf-8")
    base = os.environ.get("COPILOT_PROVIDER_BASE_URL")
    if not base:
        print("Error: No authentication information found.", file=sys.stderr)
        return 1
    asked = sys.stdin.read()
    event("user.message", content=asked)
    # The real one offers tools by their names; an allowlist that names none of them leaves none.
    tools = [] if options.get("--available-tools") == "none" else [{"type": "function", "function": {"name": "bash"}}]
    body = {
        "model": options.get("--model", "the-one-that-copilot-chooses"),
        "messages": [
            {"role": "system", "content": "You are the GitHub Copilot CLI."},
            {"role": "user", "content": asked},
        ],
        **({"tools": tools} if tools else {}),
    }
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{base}/chat/completions", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            content = json.load(answer)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        kind = {401: "authentication", 403: "authorization", 429: "rate_limit"}.get(error.code, "query")
        event("session.error", errorType=kind, message=f"Last error: {error.code}", statusCode=error.code)
        return 1
    event("assistant.message", content=content, toolRequests=[])
    if not content:
        event("session.error", errorType="query", message="No response was returned.")
        return 1
    print(json.dumps({"type": "result", "exitCode": 0}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
