"""A chat endpoint on this machine that says again what a language model answered about the repositories of ``data/advice.jsonl``.

They answer the question as the commit d6524202 put it, those of `c32-` as ce4f0fa2 did, those of `c33-` as ca576b2c did. A later analyzer may ask otherwise and is answered the same; the names of
runs in them are those of that time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).parent / "data" / "advice.jsonl"


def kept_advice() -> Mapping[str, Any]:
    """Return the answer to each case that was asked about, by the case's id."""
    lines = (json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines())
    return {line["id"]: line["answer"] for line in lines}


@contextmanager
def told_again(answer: object) -> Iterator[dict[str, str]]:
    """Serve one answer to whatever is asked; gives the variables by which the analyzer finds the endpoint."""
    said = {
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": json.dumps(answer)}, "finish_reason": "stop"}
        ]
    }
    body = json.dumps(said).encode()

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            """Say nothing of each request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield {
            "GPU_LOL_LLM_URL": f"http://127.0.0.1:{server.server_address[1]}/v1",
            "GPU_LOL_LLM_MODEL": "kept-answers",
        }
    finally:
        server.shutdown()
        server.server_close()
