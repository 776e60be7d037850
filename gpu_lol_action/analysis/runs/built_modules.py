"""Modules that no program imports: a configuration names a class or function in them, which a library builds (Hydra, Lightning)."""

from __future__ import annotations

import functools

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.programs.import_graph import module_source
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.run_configs import run_configs

TARGETS = frozenset({"_target_", "class_path"})
MAX_MODULES = 12


@functools.lru_cache(maxsize=16)
def built_modules(checkout: Checkout, run: Run) -> tuple[Source, ...]:
    """Return the project's modules that a run's configurations have classes of built, each with what it imports; not those that its program imports."""
    if run.script is None:
        return ()
    homes: dict[Source, None] = {}
    for config in run_configs(checkout, run):
        for setting in read_settings(config) if config.code is None else ():
            module = setting.text.rpartition(".")[0] if setting.key in TARGETS else ""
            if not module or len(homes) >= MAX_MODULES:
                continue
            package = f"{module.replace('.', '/')}/__init__.py"
            home = module_source(checkout, module) or checkout.find(package)
            if home is not None:
                homes[home] = None
    closure = frozenset(import_closure(checkout, run.script)) if homes else frozenset()
    inner = (other for home in homes for other in import_closure(checkout, home))
    return tuple(source for source in dict.fromkeys((*homes, *inner)) if source not in closure)
