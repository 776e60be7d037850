"""Which lists of a checkout count for its run: the nearest to what is started, and those that images and readers are told."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from gpu_lol_action.analysis.commands.developer_environments import is_for_developers
from gpu_lol_action.analysis.commands.monai_bundles import bundle_packages
from gpu_lol_action.analysis.dependencies.hosted_packages import hosted_lists
from gpu_lol_action.analysis.dependencies.install_commands import InstallCommand
from gpu_lol_action.analysis.dependencies.install_sources import counting_commands
from gpu_lol_action.analysis.dependencies.list_choice import are_of_others, of_level, stem_of
from gpu_lol_action.analysis.dependencies.own_extras import extras_of, offered_paths, own_lines
from gpu_lol_action.analysis.dependencies.project_choice import asks, every_project, near_projects
from gpu_lol_action.analysis.dependencies.python_version import chosen_python
from gpu_lol_action.analysis.dependencies.script_metadata import script_packages
from gpu_lol_action.analysis.dependencies.shown_lists import for_shown, without_clients, without_watchers
from gpu_lol_action.analysis.dependencies.submodules import submodule_requirements
from gpu_lol_action.analysis.dependencies.told_lists import list_at, told_beside, told_lists
from gpu_lol_action.analysis.dependencies.used_projects import UsedProject, as_used, used_projects
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role, joined
from gpu_lol_action.analysis.package_lists.conda_environments import environments
from gpu_lol_action.analysis.package_lists.conda_files import as_versions, is_export, read_environment
from gpu_lol_action.analysis.package_lists.lower_bounds import is_lower_bounds
from gpu_lol_action.analysis.package_lists.package_files import (
    Declared,
    Option,
    applies,
    package_name,
    read_requirements,
    unique,
)
from gpu_lol_action.analysis.package_lists.project_files import Project, is_desk_work, is_development
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.rented_machines import rented_packages
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_EXTRA, MAX_FILES = regex(r"extra[-_]requirements\.txt"), 40


@record(frozen=True, slots=True)
class Lists:
    """What the lists say: dependencies, options with them (indexes, local projects), the commands that count, the projects."""

    declared: tuple[Declared, ...]
    options: tuple[Option, ...]
    commands: tuple[InstallCommand, ...]
    projects: tuple[tuple[Source, Project], ...]
    pins: tuple[Declared, ...] = ()
    """Every required line as it was met, so that two that contradict each other are both seen."""
    below: frozenset[str] = frozenset()
    """Names of projects further down in the checkout that nothing installs from their folders."""
    used: tuple[UsedProject, ...] = ()
    """Projects elsewhere in the checkout that the run takes something of."""


def declared_packages(checkout: Checkout) -> tuple[Declared, ...]:
    """Return every dependency that lists of this checkout name, required ones as the run needs them, extras as optional."""
    return lists_of(checkout).declared


@functools.lru_cache(maxsize=4)
def lists_of(checkout: Checkout) -> Lists:
    """Return what the lists of a checkout ask for, for the run that counts; markers that do not hold here are left out."""
    run = primary_run(checkout)
    folders = near_folders(run)
    commands = counting_commands(checkout, run, has_list=_has_list(checkout) or bool(script_packages(run)))
    found: list[Declared] = []
    options: list[Option] = []
    bundled = bundle_packages(checkout, run.configs if run else ())
    _requirements(checkout, _chosen(checkout, run, folders, commands, is_listed=bool(bundled)), found, options)
    projects, used = _projects(checkout, run, folders, commands, found)
    has_own = any(item.evidence.path.rpartition("/")[0] in folders for item in found)
    has_own = has_own or any(source.folder in folders and asks(project) for source, project in projects)
    homes = {i.evidence.path.rpartition("/")[0] for i in found} if any(c.values("include") for c in commands) else set()
    for source in _environments(checkout, folders)[:1]:
        if (has_own or (homes and source.folder not in homes)) and source.folder not in folders:
            break  # of another program
        file = read_environment(source)
        found += as_versions(file.declared) if has_own and is_export(file) else file.declared
        options += file.options
        included = [option.value for option in file.options if option.kind == "include"]
        named = [list_ for value in included if (list_ := list_at(checkout, source.folder, value)) is not None]
        _requirements(checkout, named, found, options)
    for source, project in projects:
        found += project.declared
        named = [list_ for name in project.files if (list_ := list_at(checkout, source.folder, name)) is not None]
        _requirements(checkout, [f for f in named if not is_development(f.name)], found, options)
    found += bundled
    if all(item.is_optional for item in found):
        hosted, named = hosted_lists(checkout, folders, commands)
        found += [*rented_packages(checkout, run), *script_packages(run), *hosted]
        _requirements(checkout, named, found, options)
    found += _left_over(checkout, {item.evidence.path for item in found}, folders)
    offers = offered_paths(commands, projects, found)
    asked = (option for command in commands for option in command.options if option not in offers)
    options += [option for option in asked if option.kind in {"index", "links", "local"}]
    found += submodule_requirements(checkout, options, commands)
    python = chosen_python(checkout)
    below = _below(options, projects, (*folders, *(each.folder for each in used)))
    wanted = [
        item
        for item in _with_extras([*found, *own_lines(commands, projects)], options, projects, below)
        if applies(item.requirement, python)
    ]
    required = [item for item in wanted if not item.is_optional]
    told = [item for command in commands for item in command.declared if applies(item.requirement, python)]
    return Lists(unique(wanted), tuple(options), commands, projects, (*required, *told), below, used)


def _projects(
    checkout: Checkout,
    run: Run | None,
    folders: Sequence[str],
    commands: Sequence[InstallCommand],
    listed: Sequence[Declared],
) -> tuple[tuple[tuple[Source, Project], ...], tuple[UsedProject, ...]]:
    """Return the projects that count, and which of them lie elsewhere and are taken something of. ``listed`` is what lists name."""
    near, every = near_projects(checkout, folders, commands, run), every_project(checkout)
    told = [item for command in commands for item in command.declared]
    used = used_projects(checkout, run, every, near, listed, told)
    taken = {each.folder for each in used}
    others = [item for item in every if item[0].folder in taken and item not in near]
    return (*near, *((source, as_used(project)) for source, project in others)), used


def near_folders(run: Run | None) -> tuple[str, ...]:
    """Return the folder of what is started and those above it, the root last."""
    path = run.script.path if run and run.script else run.configs[0].path if run and run.configs else ""
    folder = path.rpartition("/")[0]
    found = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        found.append(folder)
    return tuple(found)


def _has_list(checkout: Checkout) -> bool:
    """Whether any file lists packages for the run (a project file without dependencies is none)."""
    if any(not is_development(source.name) for source in checkout.of(Form.REQUIREMENTS, roles=(Role.PACKAGES,))):
        return True
    if any(read_environment(source).declared for source in environments(checkout)):
        return True
    projects = [project for _, project in near_projects(checkout, ("",))]
    return any(asks(project) for project in projects)


def _chosen(
    checkout: Checkout,
    run: Run | None,
    folders: Sequence[str],
    commands: Sequence[InstallCommand],
    *,
    is_listed: bool,
) -> list[Source]:
    """Return the requirements files that count, nearest first. ``is_listed``: what is started says what it needs in a format of its own."""
    files = [s for s in checkout.of(Form.REQUIREMENTS, roles=(Role.PACKAGES,)) if "constraint" not in s.name]
    projects = near_projects(checkout, folders, (), run)
    main = [source for source in files if not is_development(stem_of(source)) and not is_lower_bounds(source, projects)]
    levels = [[s for s in main if s.folder in {folder, f"{folder}/requirements".lstrip("/")}] for folder in folders]
    # What a recipe needs beyond its library's own list (`extra_requirements.txt` beside the program).
    extra = [s for s in files if s.folder == folders[0] and (s.folder or not levels[0]) and _EXTRA.fullmatch(s.name)]
    levels = [level for level in ([*extra, *levels[0]], *levels[1:]) if level]
    is_told = is_listed or any(project.is_installable and asks(project) for _, project in projects)
    # Lists further down, where the project at hand has its own, are those of examples and of other programs; so are those of
    # folders for examples where it needs nothing.
    is_bare = any(project.is_installable for source, project in projects if source.folder in folders)
    below = [source for source in main if not (is_bare and is_development(source.folder))]
    others = _others_homes(checkout, run) if not levels else ()
    below = without_watchers(for_shown([source for source in below if source.folder not in others], run))
    if not levels and below and not is_told:
        levels = [[source for source in below if source.depth == below[0].depth]]
    if not levels and not is_told:
        return [source for source in told_lists(checkout, commands) if source.folder not in others]
    beside = told_beside(checkout, commands, folders)
    found: list[Source] = []
    counting = without_clients(levels, run)
    for level in counting:
        chosen = of_level(checkout, level, run, commands)
        if level is not counting[-1] and are_of_others(checkout, chosen, run):
            continue
        found += chosen
        folder = level[0].folder.removesuffix("requirements").rstrip("/")
        # A program that uses code from above its list needs the list above as well.
        closure = import_closure(checkout, run.script) if run and run.script else ()
        if not beside.isdisjoint(source for above in levels for source in above if source not in found):
            continue
        if all(source.path.startswith(f"{folder}/") or not folder for source in closure):
            break
    return found


def _others_homes(checkout: Checkout, run: Run | None) -> frozenset[str]:
    """Return the folders of programs of which the run takes nothing: a list beside one is that program's."""
    if run is None or run.script is None or is_shown(run.script):
        return frozenset()
    homes = {source.folder for source in checkout.of(Form.PYTHON) if source.name != "__init__.py"}
    own = {source.folder for source in import_closure(checkout, run.script)}
    above = {folder[:end] for folder in own for end, letter in enumerate(folder) if letter == "/"}
    return frozenset(homes - own - above - {""})


def _requirements(checkout: Checkout, files: Sequence[Source], found: list[Declared], options: list[Option]) -> None:
    """Read lists and what they include; constraints give their versions to what is named without one."""
    own: list[Declared] = []
    constraints: dict[str, str] = {}
    pending, seen = list(files), set[str]()
    while pending and len(seen) < MAX_FILES:
        source = pending.pop(0)
        if source.path in seen:
            continue
        seen.add(source.path)
        read = read_requirements(source, is_optional=False)
        own += read.own
        options += [option for option in read.options if option.kind in {"index", "links", "local"}]
        inner = [
            named for value in read.values("include") if (named := list_at(checkout, source.folder, value)) is not None
        ]
        # What checks the code is part of a list of everything that a developer has (``-r requirements/tests.txt``).
        is_for_work = not is_desk_work(stem_of(source))
        pending = [named for named in inner if not (is_for_work and is_desk_work(stem_of(named)))] + pending
        for value in read.values("constraint"):
            named = list_at(checkout, source.folder, value)
            for item in read_requirements(named, is_optional=False).own if named is not None else ():
                constraints.setdefault(package_name(item.requirement), item.requirement)
    found += [_constrained(item, constraints) for item in own]


def _constrained(item: Declared, constraints: dict[str, str]) -> Declared:
    limit = constraints.get(package_name(item.requirement), "")
    version = regex(r"(?:[<>=!~]=?=?\s*[\w.*+!-]+\s*,?\s*)+").search(limit)
    bare = regex(r"[\w.-]+(?:\[[\w,.-]+\])?").fullmatch(item.requirement)
    return replace(item, requirement=f"{item.requirement}{version[0].strip()}") if version and bare else item


def _left_over(checkout: Checkout, read: set[str], folders: Sequence[str]) -> list[Declared]:
    """Return the lines of lists that do not count for the run: they may still tell a version, but not those of other programs' desks."""
    found: list[Declared] = []
    for source in without_watchers(checkout.of(Form.REQUIREMENTS, roles=(Role.PACKAGES,)))[:MAX_FILES]:
        if source.path not in read and (source.folder in folders or not is_development(source.name)):
            found += read_requirements(source, is_optional=True).own
    return found


def _environments(checkout: Checkout, folders: Sequence[str]) -> list[Source]:
    """Return conda environments, the nearest first, plain names before others."""
    files = [source for source in environments(checkout) if not is_development(source.name.rpartition(".")[0])]
    # Binder's folder holds what a demonstration in the browser installs, which for a project is more than its own.
    is_project = any(s.name in {"setup.py", "pyproject.toml"} for s in checkout.of(*Form, roles=(Role.PACKAGES,)))
    files = [s for s in files if not (is_project and s.folder.rpartition("/")[2] in {"binder", ".binder"})]
    files = [source for source in files if not is_for_developers(checkout, source)]
    return sorted(files, key=lambda s: (s.folder not in folders, -s.depth if s.folder in folders else s.depth,
                                        s.role is not Role.PACKAGES, not s.name.startswith("environment."), s.path))  # fmt: skip


def _with_extras(
    found: Sequence[Declared],
    options: Sequence[Option],
    projects: Sequence[tuple[Source, Project]],
    below: frozenset[str],
) -> list[Declared]:
    """Return dependencies with the extras required that an installation of the project itself asks for.

    The project itself is none of its own; one further down that a list names is installed by that name, for nothing else does.
    """
    names = {project.name for _, project in projects if project.name}
    wanted = {extra for option in options if option.kind == "local" for extra in extras_of(option.value)}
    for _ in range(4):  # extras name other extras of their own project: `all = ["mine[gpu,train]"]`
        inner = [
            item
            for item in found
            if (item.group in wanted or not item.is_optional) and package_name(item.requirement) in names
        ]
        wanted |= {extra for item in inner for extra in extras_of(item.requirement)}
    asked = [replace(item, is_optional=False) if item.is_optional and item.group in wanted else item for item in found]
    files = {source.path for source, _ in projects}
    return [
        item
        for item in asked
        if (name := package_name(item.requirement)) not in names or (name in below and item.evidence.path not in files)
    ]


def _below(
    options: Sequence[Option], projects: Sequence[tuple[Source, Project]], folders: Sequence[str]
) -> frozenset[str]:
    """Return the names of projects further down that nothing installs from their folders."""
    local = {joined("", regex(r"\[[\w,.-]+\]$").sub("", option.value)) for option in options if option.kind == "local"}
    return frozenset(p.name for source, p in projects if source.folder not in {*folders, *local} and p.name)
