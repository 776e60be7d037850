"""Packages of an extra or of another list without which a program does not even start, where nothing of the checkout needs a GPU.

An application's author installs everything and sorts it afterwards: the experiment tracker into an extra for tests, pandas among
the tools of the desk. What a program imports whatever happens, it needs on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpu_lol_action.analysis.commands.console_scripts import console_programs
from gpu_lol_action.analysis.dependencies.dependency_lists import lists_of
from gpu_lol_action.analysis.dependencies.shown_lists import without_watchers
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.import_names import package_of
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.package_lists.project_files import is_development
from gpu_lol_action.analysis.programs.import_graph import is_imported, loaded_at_start
from gpu_lol_action.analysis.python.code import Import
from gpu_lol_action.analysis.runs.entry_points import documented_runs, is_started

MAX_PROGRAMS = 120
"""Programs of an application; to ask of each in a larger tree whether another imports it takes longer than it tells."""
MAX_STARTED = 24
"""Programs that are looked into: a checkout with more is a collection, of which no list means them all."""


def starting_imports(
    checkout: Checkout, grouped: Mapping[str, str], *, is_library: bool
) -> Iterator[tuple[Source, Import, str]]:
    """Yield what started programs import whatever happens and ``grouped`` holds (name to requirement), with that requirement."""
    if not grouped:
        return
    below = [s for s in checkout.of(Form.PYTHON, roles=(Role.WORKLOAD,)) if s.depth and not is_development(s.path)]
    programs = without_watchers(below)
    if is_library:  # its commands; what else can be started beside it is for those who work on it
        commands = console_programs(checkout)
        started = [source for source in programs if source in commands or source.name == "__main__.py"]
    elif len(programs) > MAX_PROGRAMS:
        return
    else:
        started = [s for s in programs if _may_need(s) and (is_started(checkout, s) or not is_imported(checkout, s))]
    if len(started) > MAX_STARTED:
        return
    seen: set[Source] = set()
    for program in started:
        for source in loaded_at_start(checkout, program):
            if source in seen or source.code is None:
                continue
            seen.add(source)
            for item in source.code.imports:
                package = None if item.is_optional or item.module.startswith(".") else package_of(item.module)
                if package is not None and package_name(package) in grouped:
                    yield source, item, grouped[package_name(package)]


def commanded_modules(checkout: Checkout) -> tuple[Source, ...]:
    """Return the programs that documents and scripts of an application start, with what each loads whatever happens.

    Beside a library they are for those who work on it; and of a collection no list means them all.
    """
    if lists_of(checkout).projects:
        return ()
    scripts = dict.fromkeys(run.script for run in documented_runs(checkout))
    programs = [s for s in scripts if s is not None and s.form is Form.PYTHON and not is_development(s.path)]
    if len(programs) > MAX_STARTED:
        return ()
    return tuple(dict.fromkeys(each for program in programs for each in loaded_at_start(checkout, program)))


def _may_need(source: Source) -> bool:
    return source.code is not None and bool(source.code.imports)
