"""Which project files count for a run: those beside what is started and above it, and those that readers are told to install."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.dependencies.install_commands import InstallCommand
from gpu_lol_action.analysis.dependencies.shown_lists import without_watchers
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.surroundings import is_outside
from gpu_lol_action.analysis.formats.import_names import is_known
from gpu_lol_action.analysis.formats.paths import Form, Role, joined
from gpu_lol_action.analysis.package_lists.nbdev_settings import SETTINGS, read_nbdev_settings
from gpu_lol_action.analysis.package_lists.project_files import Project, is_development, read_project, read_setup_cfg
from gpu_lol_action.analysis.package_lists.setup_py import read_setup_py
from gpu_lol_action.analysis.package_lists.workspace_projects import members_of, workspace_projects
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

Placed = tuple[Source, Project]
"""A project with the file that says it."""


def near_projects(
    checkout: Checkout, folders: Sequence[str], commands: Sequence[InstallCommand] = (), run: Run | None = None
) -> list[Placed]:
    """Return the project files beside what is started and above it, with those that commands install from the checkout.

    Without any, those of the two upper levels count of which the run takes something, unless a requirements file lies beside the
    run or above it: then they are examples' and other people's.
    """
    every = [item for item in every_project(checkout) if not is_outside(item[0].path)]
    near = [item for item in every if item[0].folder in folders]
    told = [item for item in _told(every, commands) if item not in near]
    if any(asks(project) for _, project in near):
        return near + told
    if above := _above(checkout):
        return near + told + above
    if members := members_of(near, every):
        return near + members
    if told or _has_list(checkout, folders):
        return near + told
    upper = [item for item in every if item[0].depth <= 1 and item not in near]
    upper = [item for item in upper if not is_development(item[0].folder)] or upper
    kept = without_watchers([source for source, _ in upper])
    upper = [item for item in upper if item[0] in kept]
    if not upper:
        return near or _taken_from(checkout, run, workspace_projects(every))
    return near + _taken_from(checkout, run, upper)


def _above(checkout: Checkout) -> list[Placed]:
    """Return the lists above a checkout that is a folder of a larger one, where it has none of its own."""
    has_own = any(not is_outside(s.path) for s in checkout.sources if s.role is Role.PACKAGES)
    outside = [item for item in every_project(checkout) if set(item[0].folder.split("/")) == {".."}]
    return [item for item in outside if not item[1].is_installable and asks(item[1])] if not has_own else []


@remembered
def every_project(checkout: Checkout) -> Sequence[Placed]:
    """Return all project files of a checkout with what they say, shallow ones first."""
    return [
        (source, project)
        for source in checkout.of(Form.TOML, Form.INI, Form.PYTHON, roles=(Role.PACKAGES,))
        if (project := read_any_project(source)) is not None
    ]


def _taken_from(checkout: Checkout, run: Run | None, projects: Sequence[Placed]) -> list[Placed]:
    """Return the projects of which the run takes something."""
    return [item for item in projects if not is_of_another(checkout, run, item[0].folder)]


def is_of_another(checkout: Checkout, run: Run | None, folder: str) -> bool:
    """Whether a folder's project is one of which the program that is started takes nothing: a simulator or a library that was copied in."""
    script = run.script if run is not None else None
    if script is None or script.form is not Form.PYTHON or is_shown(script) or not folder:
        return False
    reached = import_closure(checkout, script)
    if any(source.path.startswith(f"{folder}/") for source in reached):
        return False
    # By way of a path that the program sets, or installed: a package of that folder, or a name in it that is in no table.
    imported = frozenset().union(*(source.code.imported() for source in reached if source.code is not None))
    inside = [s.path.removeprefix(f"{folder}/") for s in checkout.of(Form.PYTHON) if s.path.startswith(f"{folder}/")]
    packages = {path.removeprefix("src/").removesuffix("/__init__.py") for path in inside}
    words = {word for path in inside for word in path.removesuffix(".py").split("/")}
    return bool(words) and not imported & packages and all(map(is_known, imported & words))


def asks(project: Project) -> bool:
    """Whether a project names what it needs, extras aside."""
    return bool(project.files) or any(not item.is_optional for item in project.declared)


def read_any_project(source: Source) -> Project | None:
    """Read a pyproject.toml, Pipfile, setup.cfg, setup.py or nbdev's settings.ini as one kind of value; None for other files."""
    if source.form is Form.TOML:
        return read_project(source)
    if source.name == "setup.cfg":
        return read_setup_cfg(source)
    if source.name == SETTINGS:
        return read_nbdev_settings(source)
    if source.name != "setup.py":
        return None
    program = read_setup_py(source)
    return Project(program.declared, program.files, program.name, program.python, is_installable=True)


def _told(every: Sequence[Placed], commands: Sequence[InstallCommand]) -> Iterator[Placed]:
    """Yield the projects below the root that commands install (``pip install -e ./engine``)."""
    places = {source.folder for source, _ in every if source.folder}
    wanted: set[str] = set()
    for command in commands if places else ():
        beside = command.evidence.path.rpartition("/")[0]
        # The folder that a `cd` leads to may be the clone itself, whose name the checkout does not tell, or lie in it.
        bases = (joined(beside, command.folder), command.folder, command.folder.partition("/")[2], beside, "")
        for value in command.values("local"):
            path = regex(r"\[[\w,.-]+\]$").sub("", value)
            found = (place for base in bases if (place := joined(base, path)) in places)
            wanted.update(itertools.islice(found, 1))
    yield from (item for item in every if item[0].folder in wanted)


def _has_list(checkout: Checkout, folders: Sequence[str]) -> bool:
    """Whether a requirements file for the run lies in one of these folders."""
    return any(
        source.folder in folders and not is_development(source.name)
        for source in checkout.of(Form.REQUIREMENTS, roles=(Role.PACKAGES,))
    )
