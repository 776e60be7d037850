"""Lists that lie near a run and are another program's: of the folders for other ways to run a model, and of a server's clients."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.import_names import package_of
from gpu_lol_action.analysis.package_lists.package_files import package_name, read_requirements
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

_OF_A_CLIENT = regex(r"requirements?[-_.](?:[a-z]{1,20}[-_.])?clients?\.(?:txt|in)")
# Services that watch another at work, each in an image of its own.
_WATCHES = regex(
    r"monitor|dashboard|grafana|prometheus|load[-_]?tests?(?![a-z])|integration[-_]?tests?(?![a-z])", re.IGNORECASE
)


def without_watchers(files: Sequence[Source]) -> list[Source]:
    """Return lists or project files without those of services that watch; all where there are no others."""
    return [source for source in files if not _WATCHES.search(source.folder)] or list(files)


def for_shown(lists: Sequence[Source], run: Run | None) -> list[Source]:
    """Return the lists of the folder that names most of what a shown program imports; all where the run is none, or none names any.

    A repository with a folder for each way to run its model (``inference``, ``sat``) shows one of them at its root.
    """
    if run is None or not is_shown(run.script) or run.script is None or run.script.code is None:
        return list(lists)
    wanted = {package_name(package) for module in run.script.code.imported() if (package := package_of(module))}
    named: dict[str, int] = {}
    for source in lists:
        names = {package_name(item.requirement) for item in read_requirements(source, is_optional=False).own}
        named[source.folder] = max(named.get(source.folder, 0), len(wanted & names))
    most = max(named.values(), default=0)
    return [source for source in lists if not most or named[source.folder] == most]


def without_clients(levels: Sequence[Sequence[Source]], run: Run | None) -> list[Sequence[Source]]:
    """Return the folders' lists, nearest first, without a folder that has only a client's beside a server: the server's lies above."""
    script = run.script.name if run is not None and run.script is not None else ""
    kept = [level for level in levels if "client" in script or not all(_OF_A_CLIENT.fullmatch(s.name) for s in level)]
    return kept or list(levels)
