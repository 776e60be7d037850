"""Projects of the checkout that what is started takes something of, wherever they lie: they are installed from their folders.

One team's repository keeps its library in ``libs/core`` and its trainings in ``projects``. Their lists take the library from
there (uv's workspace, a path), or their programs just import it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.project_homes import homes_of
from gpu_lol_action.analysis.files.surroundings import is_outside
from gpu_lol_action.analysis.formats.paths import Form, joined
from gpu_lol_action.analysis.package_lists.package_files import Declared, package_name
from gpu_lol_action.analysis.package_lists.project_files import Project
from gpu_lol_action.analysis.programs.added_paths import added_folders
from gpu_lol_action.analysis.programs.import_graph import targets_of
from gpu_lol_action.analysis.programs.loaded_modules import loaded_modules
from gpu_lol_action.analysis.programs.project_imports import home_of_import
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

Placed = tuple[Source, Project]
MAX_USED = 16
MAX_WORKSPACES = 20
_VERSION = regex(r"[<>=!~]")
_KEPT = regex(r"(?<![>!])==|~=|<")


@record(frozen=True, slots=True)
class UsedProject:
    """The folder of a project that a run takes something of, and what says so."""

    folder: str
    why: str
    where: Evidence


def used_projects(
    checkout: Checkout,
    run: Run | None,
    every: Sequence[Placed],
    near: Sequence[Placed],
    listed: Iterable[Declared],
    told: Iterable[Declared] = (),
) -> tuple[UsedProject, ...]:
    """Return the projects in folders that a run takes something of, and those that they ask for in turn.

    ``every`` are the projects of the checkout, ``near`` those at hand. ``listed`` is what lists beside them ask for, ``told`` what
    readers are told to install by its name.
    """
    script = run.script if run is not None else None
    projects = _projects(every)
    asked = (*listed, *(item for _, project in near for item in project.declared))
    of_index = _of_the_index(projects.names, [item for item in asked if not item.is_optional], told)
    imported = (*(_imported(checkout, script) if script is not None else ()), *_imported_from_outside(checkout))
    found: dict[str, UsedProject] = {}
    for used in imported:
        if used.folder not in of_index:
            found.setdefault(used.folder, used)
    waiting = list(dict.fromkeys([*(source.folder for source, _ in near), *found]))
    for folder in waiting:
        if len(found) >= MAX_USED:
            break
        new: dict[str, UsedProject] = {}
        for used in projects.asked_for(folder):
            new.setdefault(used.folder, used)
        waiting += [place for place in new if place not in found and place not in waiting]
        found = {**new, **found}
    return tuple(found.values())[:MAX_USED]


def as_used(project: Project) -> Project:
    """Return a project elsewhere as one that is used: what it asks for is needed, and says nothing of how complete the run's own list is."""
    declared = tuple(replace(item, is_library=False) for item in project.declared)
    return replace(project, declared=declared, is_installable=False)


def dependencies_first(every: Sequence[Placed], folders: Sequence[str]) -> list[str]:
    """Return folders of projects in an order in which each is installed after those it asks for, so that no index is asked for these."""
    asked: dict[str, set[str]] = {folder: set() for folder in folders}
    names: dict[str, str] = {}
    for source, project in every:
        if source.folder in asked:
            names.setdefault(project.name, source.folder)
            asked[source.folder] |= {package_name(i.requirement) for i in (*project.declared, *project.neighbors)}
    left, found = list(folders), list[str]()
    while left:
        places = {name for name, folder in names.items() if name and folder in left}
        free = [folder for folder in left if not {n for n in asked[folder] & places if names[n] != folder}]
        found += free or left[:1]  # where they ask for each other, any is the first
        left = [folder for folder in left if folder not in found]
    return found


@record(frozen=True, slots=True)
class _Projects:
    """The projects of a checkout by their folders, the folder of each by its name, and whose workspaces are around which."""

    by_folder: Mapping[str, Sequence[Placed]]
    names: Mapping[str, str]
    workspaces: Sequence[tuple[str, frozenset[str]]]

    def asked_for(self, folder: str) -> Iterator[UsedProject]:
        """Yield the projects that one in a folder requires of the same checkout: by a path, or as a part of uv's workspace."""
        around = [names for start, names in self.workspaces if f"{folder}/".startswith(start)]
        of_workspace = frozenset().union(*around)
        for source, project in self.by_folder.get(folder, ()):
            required = (item for item in project.declared if not item.is_optional) if of_workspace else ()
            declared = (item for item in required if package_name(item.requirement) in of_workspace)
            for item in (*project.neighbors, *declared):
                place = self.names.get(package_name(item.requirement))
                if place is not None:
                    yield UsedProject(place, f"`{item.evidence.path}` asks for it", item.evidence)
            for path in project.local:
                if (place := joined(folder, path)) in self.by_folder:
                    yield UsedProject(place, f"`{source.path}` asks for it", _at(source, path))


def _at(source: Source, path: str) -> Evidence:
    place = source.text.find(path.lstrip("./") or path)  # hatch and PDM say `..` in words of their own
    return Evidence(source.path, source.text.count("\n", 0, place) + 1 if place >= 0 else 0)


def _projects(every: Sequence[Placed]) -> _Projects:
    by_folder: dict[str, list[Placed]] = {}
    for source, project in every:
        by_folder.setdefault(source.folder, []).append((source, project))
    names = {project.name: source.folder for source, project in reversed(every) if project.name}
    asking = [(source, project) for source, project in every if project.workspace]
    workspaces = [
        (f"{at.folder}/".lstrip("/"), frozenset(project.workspace)) for at, project in asking[:MAX_WORKSPACES]
    ]
    return _Projects(by_folder, names, workspaces)


def _of_the_index(names: Mapping[str, str], required: Iterable[Declared], told: Iterable[Declared]) -> frozenset[str]:
    """Return the folders of projects of which the release is meant: asked for in some version, or told to be installed by name.

    What the repository around a folder makes is what its examples try, unless they are kept at an older release.
    """
    told_names = {package_name(item.requirement) for item in told}
    found = {names[name] for name in told_names if name in names and not is_outside(names[name])}
    for item in required:
        folder = names.get(package_name(item.requirement))
        if folder is not None and (_KEPT if is_outside(folder) else _VERSION).search(_bounds(item)):
            found.add(folder)
    return frozenset(found)


def _bounds(item: Declared) -> str:
    return item.requirement.partition(";")[0].partition(" @ ")[0] if "://" not in item.requirement else ""


@remembered
def _imported(checkout: Checkout, script: Source) -> tuple[UsedProject, ...]:
    on_path = {script.folder, *(folder.rstrip("/") for folder in added_folders(checkout, script))}
    found: dict[str, UsedProject] = {}
    for source in loaded_modules(checkout, script):
        for item in source.code.imports if source.code is not None else ():
            home = home_of_import(checkout, source, item) if not item.is_optional else None
            if home is None or home.base in on_path or home.project in found:
                continue
            targets = targets_of(checkout, source, item)
            if targets and not any(target.path.startswith(f"{home.base}/") for target in targets):
                continue  # another of that name is nearer
            top = item.module.partition(".")[0]
            why = f"`{top}` is imported from outside of its folder"
            found[home.project] = UsedProject(home.project, why, Evidence(source.path, item.line))
    return tuple(found.values())[:MAX_USED]


@remembered
def _imported_from_outside(checkout: Checkout) -> tuple[UsedProject, ...]:
    """Return the projects around a checkout that is a folder of a larger one which any of its programs imports."""
    homes = homes_of(checkout)
    tops = frozenset(top for top in homes if any(is_outside(home.project) for home in homes[top]))
    found: dict[str, UsedProject] = {}
    for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if tops else ():
        is_asked = source.code is not None and source.code.may_import_any(tops)
        for item in source.code.imports if source.code is not None and is_asked else ():
            home = home_of_import(checkout, source, item)
            if home is not None and is_outside(home.project) and home.project not in found:
                why = f"`{item.module.partition('.')[0]}` is imported from outside of its folder"
                found[home.project] = UsedProject(home.project, why, Evidence(source.path, item.line))
    return tuple(found.values())
