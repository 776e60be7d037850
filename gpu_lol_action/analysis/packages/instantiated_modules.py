"""Modules of the checkout that a run's configuration names to be made (Hydra's ``_target_: lab.models.net.Net``): no program imports them."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.import_graph import import_closure, module_source
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import scope_of

_TARGET = "_target_"
MAX_TARGETS = 24


def instantiated_modules(checkout: Checkout, run: Run | None) -> tuple[Source, ...]:
    """Return the modules whose classes a run's own configuration has made, each with what it imports of the checkout."""
    if run is None or run.script is None or not run.configs:
        return ()
    tiers = scope_of(checkout, run).tiers
    named = (setting.text for _, settings in tiers for setting in settings if setting.key == _TARGET)
    modules = [name.strip().rpartition(".")[0] for name in dict.fromkeys(named)][:MAX_TARGETS]
    sources = [source for name in modules if name and (source := module_source(checkout, name)) is not None]
    return tuple(dict.fromkeys(each for source in sources for each in import_closure(checkout, source)))
