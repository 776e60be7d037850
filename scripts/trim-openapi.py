#!/usr/bin/env python3
"""Cut GitHub's OpenAPI description to the operations that the bot uses.

How gpu_lol_action/rehearsal/data/openapi_trimmed.json.gz was made:

    npm install --prefix /tmp/octokit @octokit/openapi@23.0.2
    python scripts/trim-openapi.py /tmp/octokit/node_modules/@octokit/openapi/generated/api.github.com.json

The description is GitHub's, published under the MIT licence by the Octokit contributors; the notice
travels inside the file (`info.x-notice`) and beside it (`data/openapi_trimmed.LICENSE`).
Prose and examples are dropped: checking needs neither, and the file is read at each start.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "gpu_lol_action" / "rehearsal" / "data"
PROSE = {"summary", "description", "externalDocs", "examples", "example", "tags", "title"}
# Under these keys the next level holds names, which may look like prose ("title") or extensions ("x-rate-limit").
NAME_MAPS = {"properties", "schemas", "parameters", "responses", "headers", "requestBodies"}


def wanted_operations(text: str) -> dict[str, set[str]]:
    """Path -> verbs, from lines of `METHOD /path` with `#` comments."""
    wanted: dict[str, set[str]] = {}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            verb, path = words
            wanted.setdefault(path, set()).add(verb.lower())
    return wanted


def without_prose(node: Any, *, names_are_data: bool = False) -> Any:
    """The node without documentation keys; a property that happens to be called `title` stays."""
    if isinstance(node, list):
        return [without_prose(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: without_prose(value, names_are_data=key in NAME_MAPS)
        for key, value in node.items()
        if names_are_data or not (key in PROSE or key.startswith("x-"))
    }


def reachable_components(paths: dict[str, Any], components: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every component that the paths reach through `$ref`, directly or not."""
    found: dict[str, dict[str, Any]] = {}
    pending: list[Any] = [paths]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
            continue
        if not isinstance(node, dict):
            continue
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/components/"):
            _, _, kind, name = reference.split("/", 3)
            if name not in found.setdefault(kind, {}):
                found[kind][name] = components[kind][name]
                pending.append(components[kind][name])
        pending.extend(node.values())
    return {kind: dict(sorted(entries.items())) for kind, entries in sorted(found.items())}


def trim(full: dict[str, Any], wanted: dict[str, set[str]]) -> dict[str, Any]:
    """The description with only the wanted operations; fails where GitHub has no such operation."""
    paths: dict[str, Any] = {}
    for path, verbs in wanted.items():
        item = full["paths"].get(path)
        absent = verbs - set(item or {})
        if absent:
            raise SystemExit(f"GitHub's description has no {sorted(absent)} {path}")
        paths[path] = without_prose({key: item[key] for key in item if key in verbs or key == "parameters"})
    components = without_prose(full["components"], names_are_data=True)
    notice = (DATA / "openapi_trimmed.LICENSE").read_text(encoding="utf-8")
    return {
        "openapi": full["openapi"],
        "info": {"title": "GitHub REST API, trimmed", "version": full["info"]["version"], "x-notice": notice},
        "paths": paths,
        "components": reachable_components(paths, components),
    }


def main() -> None:
    """Read the full description, write the trimmed one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("description", type=Path, help="api.github.com.json of @octokit/openapi")
    full = json.loads(parser.parse_args().description.read_text(encoding="utf-8"))
    wanted = wanted_operations((DATA / "github-operations.txt").read_text(encoding="utf-8"))
    trimmed = trim(full, wanted)
    raw = json.dumps(trimmed, separators=(",", ":"), ensure_ascii=False).encode()
    # mtime=0: the same input gives the same bytes.
    (DATA / "openapi_trimmed.json.gz").write_bytes(gzip.compress(raw, 9, mtime=0))
    counts = {kind: len(entries) for kind, entries in trimmed["components"].items()}
    print(f"{sum(map(len, wanted.values()))} operations, {counts}, {len(raw)} bytes")


if __name__ == "__main__":
    main()
