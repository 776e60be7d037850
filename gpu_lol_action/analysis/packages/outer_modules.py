"""Modules of the repository around a project's folder that no installation brings: they are found only from where they lie."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.surroundings import is_outside
from gpu_lol_action.analysis.programs.added_paths import added_folders
from gpu_lol_action.analysis.programs.import_graph import targets_of
from gpu_lol_action.analysis.programs.loaded_modules import loaded_modules
from gpu_lol_action.analysis.programs.project_imports import home_of_import
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

MAX_TOLD = 4


def outer_modules(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield what the run imports from above its folder without a project that could be installed, nor a path that it sets itself."""
    script = run.script if run is not None else None
    if script is None or not any(map(is_outside, checkout.by_path)) or script.mentions("sys.path"):
        return
    told: dict[str, Finding] = {}
    for source in loaded_modules(checkout, script):
        if is_outside(source.path) or added_folders(checkout, source):
            continue
        for item in source.code.imports if source.code is not None else ():
            top = item.module.partition(".")[0]
            targets = targets_of(checkout, source, item)
            if not targets or not is_outside(targets[0].path) or home_of_import(checkout, source, item) is not None:
                continue
            depth = targets[0].path.count("../")
            path = "/".join([".."] * depth)
            where = Evidence(source.path, item.line)
            why = f"`{top}` ({where}) lies above the project's folder and nothing installs it: it needs `{path}` on PYTHONPATH"
            told.setdefault(top, Finding("not_understood", "modules", why, Confidence.MEDIUM, where))
    yield from list(told.values())[:MAX_TOLD]
