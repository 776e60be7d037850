"""Which modules of a collection a run chooses by name: its configuration says ``type: ldm_model``, and ``models/ldm_model.py`` is one of twenty.

A builder imports them all and takes one by its name. What stands in the others is not what this run does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.programs.import_graph import local_imports

LEAST_COLLECTED = 6  # modules of one folder that one file imports, from which on it has a choice of them
LEAST_LETTERS = 3


def without_others(checkout: Checkout, closure: Sequence[Source], said: Iterable[Setting]) -> tuple[Source, ...]:
    """Return a closure without the modules of a collection beside those that the run's own settings name, and what they import.

    ``said`` are the settings of the command and its configuration. Where they name none of a collection, all stay.
    """
    if len(closure) <= LEAST_COLLECTED:
        return tuple(closure)
    texts = {setting.text.strip().lower() for setting in said}
    left: set[Source] = set()
    for chooser in closure:
        folders: dict[str, list[Source]] = {}
        for module in local_imports(checkout, chooser):
            if module.name != "__init__.py" and module in closure:
                folders.setdefault(module.folder, []).append(module)
        for modules in folders.values():
            named = [module for module in modules if _is_named(module, texts)]
            if len(modules) >= LEAST_COLLECTED and named and 2 * len(named) < len(modules):
                left.update(module for module in modules if module not in named)
    if not left:
        return tuple(closure)
    return tuple(source for source in closure if source in _reached(checkout, closure, left))


def _is_named(module: Source, texts: set[str]) -> bool:
    stem = module.name.removesuffix(".py").lower()
    return len(stem) >= LEAST_LETTERS and stem in texts


def _reached(checkout: Checkout, closure: Sequence[Source], left: set[Source]) -> set[Source]:
    """Return what the script still reaches where these are not taken by who chooses; one that a named one imports is."""
    found, waiting = {closure[0]}, [closure[0]]
    members = set(closure)
    while waiting:
        source = waiting.pop()
        for target in local_imports(checkout, source):
            is_choice = target in left and source.folder != target.folder
            if target in members and target not in found and not is_choice:
                found.add(target)
                waiting.append(target)
    return found
