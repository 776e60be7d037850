"""Which versions are installed, and whether they can be imported."""

from __future__ import annotations

import concurrent.futures
import importlib
import json
import re
import sys
from typing import Any, List

from .older_python import metadata
from .tools import MARK, Facts, cut, worker


def gather(request: Facts) -> Facts:
    """Return, for each distribution asked for, its version (None: not installed), and for some whether the import works."""
    facts: Facts = {}
    for wanted in request["packages"]:
        name, modules = str(wanted["name"]), [str(module) for module in wanted["modules"]]
        facts[name] = {"version": _version(name), "module": _module(name, modules)}
    chosen = [w["name"] for w in request["packages"] if w["is_imported"] and facts[w["name"]]["module"]]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        results = pool.map(lambda name: _import(facts[name]["module"], request["import_seconds"]), chosen)
        for name, result in zip(chosen, results):
            facts[name].update(result)
    return {"found": facts}


def _version(name: str) -> Any:
    try:
        return metadata.version(name)
    except Exception:  # noqa: BLE001 - broken metadata counts as none
        return None


def _module(name: str, known: List[str]) -> str:
    """Return the module to import: a known one, else what the distribution itself names, else its name."""
    if known:
        return known[0]
    try:
        stated = (metadata.distribution(name).read_text("top_level.txt") or "").split()
    except Exception:  # noqa: BLE001 - broken metadata counts as none
        stated = []
    public = [module for module in stated if re.match(r"[A-Za-z][A-Za-z0-9_]*$", module)]
    plain = re.sub(r"[-.]+", "_", name)
    return plain if plain in public or not public else public[0]


def _import(module: str, seconds: float) -> Facts:
    code, out, err = worker("worker-import", [module], seconds)
    for line in reversed(out.splitlines()):
        if line.startswith(MARK):
            return dict(json.loads(line[len(MARK) :]))
    return {
        "import_error": "the import took too long"
        if code == 124
        else cut((err or out).strip() or "exit code %d" % code, 300)
    }


def import_worker(arguments: List[str]) -> None:
    """Import one module and print its version."""
    try:
        module = importlib.import_module(arguments[0])
        answer = {"is_imported": True, "module_version": str(getattr(module, "__version__", ""))[:60]}
    except BaseException as error:  # noqa: BLE001 - some libraries call sys.exit when they are imported
        answer = {"import_error": cut("%s: %s" % (type(error).__name__, error), 300)}
    sys.stdout.write("\n" + MARK + json.dumps(answer) + "\n")
    sys.stdout.flush()
