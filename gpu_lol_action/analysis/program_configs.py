"""Which configuration files a program starts with: what its options, its loaders or its Hydra decorator name."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.configuration import read_settings
from gpu_lol_action.analysis.import_graph import local_imports

_CONFIG_FILE = re.compile(r"^[^\s{}]{1,200}\.(?:ya?ml|json|toml)$")
_HYDRA = ("main", "hydra_runner", "hydra_task_runner", "compose", "initialize")
_LOADS_CONFIG = (
    "open",
    "load",
    "load_config",
    "from_file",
    "from_yaml",
    "read_config",
    "get_config",
    "parse_config",
    "Path",
    "load_yaml",
)


def own_configs(checkout: Checkout, script: Source | None) -> tuple[Source, ...]:
    """Return the configuration files that a program starts with: what its options, its loaders or its Hydra decorator name."""
    if script is None or script.code is None:
        return ()
    named = [default.text for default in script.code.defaults if _CONFIG_FILE.search(default.text)]
    for call in script.code.calls_named(*_HYDRA):
        if call.last == "main" and call.name != "hydra.main":
            continue
        path = script.code.resolve(call.keyword("config_path")) or ""
        name = script.code.resolve(call.keyword("config_name")) or "config"
        base = f"{script.folder}/{path}".strip("/") if script.folder else path
        named.append(f"{plain_path(base)}/{name}".lstrip("/") + ("" if name.endswith((".yaml", ".yml")) else ".yaml"))
    for call in script.code.calls_named(*_LOADS_CONFIG):
        texts = [script.code.resolve(value, call.owner) for value in call.arguments[:2]]
        named += [text for text in texts if text is not None and _CONFIG_FILE.search(text)]
    for call in script.code.calls_named(
        "DEFINE_config_file"
    ):  # ml_collections: a program that returns the configuration
        named += [text for value in call.arguments[1:2] if (text := script.code.resolve(value)) is not None]
    if not named:
        # A module of its own often reads the configuration.
        inner = [source.code for source in local_imports(checkout, script)[:12] if source.code is not None]
        named = [d.text for code in inner for d in code.defaults if _CONFIG_FILE.search(d.text)]
    found = [source for name in named if (source := checkout.find_named(name)) is not None and source is not script]
    return tuple(dict.fromkeys(s for s in found if s.code is not None or read_settings(s)))[:3]


def plain_path(path: str) -> str:
    """Return a path without ``.`` and ``..``."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in {"", ".", ".."}:
            parts.append(part)
    return "/".join(parts)
