"""Configuration files that a program starts with: what its options, decorators and loaders name, or what most likely is meant."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.configuration import read_settings
from gpu_lol_action.analysis.import_graph import import_closure
from gpu_lol_action.analysis.paths import Form

_DEFAULTS = re.compile(r"^def get_(?:default_|base_)?configs?\(", re.MULTILINE)
_CONFIGURED = re.compile(r"^model:\s*\n(?:.*\n){0,3}?\s+target:", re.MULTILINE)


def own_configs(checkout: Checkout, script: Source | None) -> tuple[Source, ...]:
    """Return the configuration files that a program starts with: what its options or its Hydra decorator name."""
    if script is None or script.code is None:
        return ()
    named = [default.text for default in script.code.defaults if re.search(r"\.(?:ya?ml|json)$", default.text)]
    for call in script.code.calls:
        if call.name in {"hydra.main", "hydra_runner", "hydra_task_runner"} or call.last == "hydra_runner":
            path = script.code.resolve(call.keyword("config_path")) or ""
            name = script.code.resolve(call.keyword("config_name")) or "config"
            base = f"{script.folder}/{path}".strip("/") if script.folder else path
            named.append(
                f"{plain_path(base)}/{name}".lstrip("/") + ("" if name.endswith((".yaml", ".yml")) else ".yaml")
            )
        elif call.arguments and (call.arguments[0].text or "").endswith((".yaml", ".yml")):
            named.append(call.arguments[0].text or "")  # `OmegaConf.load("configs/base.yaml")`
        elif call.last in {"DEFINE_config_file", "DEFINE_config_dict"}:
            return _of_ml_collections(checkout, call.arguments[1].text if len(call.arguments) > 1 else None)
    found = [
        source
        for name in named
        if (source := checkout.find_named(plain_path(name))) is not None and read_settings(source)
    ]
    return tuple(dict.fromkeys(found))[:3] or _of_targets(checkout, script)


def _of_ml_collections(checkout: Checkout, named: str | None) -> tuple[Source, ...]:
    """Return the program that configures a JAX trainer: the one that its flag names, else a default, else the first; and what that imports."""
    likely = [s for s in checkout.of(Form.PYTHON) if "def get_config(" in s.text and "configs/" in f"/{s.path}"]
    likely.sort(key=lambda source: (not source.name.startswith("default"), source.depth, source.path))
    first = (checkout.find_named(plain_path(named)) if named else None) or next(iter(likely), None)
    if first is None:
        return ()
    return (first, *(s for s in import_closure(checkout, first)[1:] if _DEFAULTS.search(s.text)))[:4]


def _of_targets(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the configuration that a program of latent diffusion most likely starts with: one whose name says that it trains, else the first."""
    if script.code is None or not script.code.calls_named("instantiate_from_config"):
        return ()
    likely = [s for s in checkout.of(Form.YAML) if _CONFIGURED.search(s.text) and "configs/" in f"/{s.path}"]
    likely.sort(
        key=lambda source: ("train" not in source.name, "autoencoder" in source.path, source.depth, source.path)
    )
    return tuple(likely[:1])


def plain_path(path: str) -> str:
    """Return a path without ``.`` and ``..``."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in {"", ".", ".."}:
            parts.append(part)
    return "/".join(parts)
