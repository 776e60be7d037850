"""Commands that installing the project gives: console scripts of pyproject.toml, setup.cfg and setup.py.

Where nothing at the root gives any, those of the projects in its folders do (``server/setup.py`` beside ``client/setup.py``).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from gpu_lol_action.analysis.command_lines.launch_tools import CONFIGURED, TOOLS
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.programs.import_graph import MAX_DOTS, module_source
from gpu_lol_action.domain.patterns import regex

MAX_TEXT = 200_000
MAX_SCRIPTS, MAX_PROJECTS = 40, 12
_PROJECT_FILES = frozenset({"pyproject.toml", "setup.cfg", "setup.py"})
_LINE = regex(r"^[ \t]*[\"']?([A-Za-z][\w.-]*)[\"']?[ \t]*=[ \t]*[\"']?([A-Za-z_][\w.]*):[\w.]+", re.MULTILINE)
_QUOTED = regex(r"[\"']([A-Za-z][\w.-]*)\s*=\s*([A-Za-z_][\w.]*):[\w.]+[\"']")
_TABLES = ("project.scripts", "tool.poetry.scripts", "project.gui-scripts")


@functools.lru_cache(maxsize=4)
def console_scripts(checkout: Checkout) -> Mapping[str, str]:
    """Return the module behind each command, in the order of the files."""
    found = _given_by(checkout, "")
    for folder in _projects(checkout) if not found else ():
        # A tool that lies here as a copy is known by its name.
        inner = {name: module for name, module in _given_by(checkout, f"{folder}/").items() if name not in TOOLS}
        found = {**inner, **found}
    return dict(list(found.items())[:MAX_SCRIPTS])


def _given_by(checkout: Checkout, base: str) -> dict[str, str]:
    """Return the module behind each command that the project files of one folder name."""
    found: dict[str, str] = {}
    project = checkout.find(f"{base}pyproject.toml")
    if project is not None:
        for table in _TABLES:
            for name, module in _LINE.findall(_section(project.text[:MAX_TEXT], table)):
                found.setdefault(name, module)
    setup = checkout.find(f"{base}setup.cfg")
    if setup is not None and "console_scripts" in setup.text:
        text = setup.text[setup.text.index("console_scripts") :][:MAX_TEXT]
        for name, module in _LINE.findall(regex(r"^\[", re.MULTILINE).split(text, maxsplit=1)[0]):
            found.setdefault(name, module)
    setup = checkout.find(f"{base}setup.py")
    if setup is not None and "console_scripts" in setup.text:
        for name, module in _QUOTED.findall(setup.text[:MAX_TEXT]):
            found.setdefault(name, module)
    return found


@remembered
def _projects(checkout: Checkout) -> tuple[str, ...]:
    """Return the folders right below the root that are projects of their own."""
    sources = checkout.of(Form.PYTHON, Form.TOML, Form.INI, roles=(Role.PACKAGES,))
    return tuple(sorted({s.folder for s in sources if s.depth == 1 and s.name in _PROJECT_FILES})[:MAX_PROJECTS])


def script_source(checkout: Checkout, module: str) -> Source | None:
    """Return the file behind a console script: its module, or its package's own, also in the folder of an inner project."""
    if (found := module_source(checkout, module)) is not None or module.count(".") > MAX_DOTS:
        return found
    path = module.replace(".", "/")
    bases = ("", "src/", *(f"{folder}/{inner}" for folder in _projects(checkout) for inner in ("", "src/")))
    places = (f"{base}{path}{end}" for base in bases for end in (".py", "/__init__.py"))
    return next((source for place in places if (source := checkout.find(place)) is not None), None)


def scripts_of_its_own(checkout: Checkout) -> Mapping[str, str]:
    """Return the console scripts without a trainer's of any model: in its own checkout, too, that is the tool whose configuration says what a run does."""
    given = console_scripts(checkout).items()
    return {name: module for name, module in given if CONFIGURED.get(name) != module.partition(".")[0]}


@remembered
def console_programs(checkout: Checkout) -> frozenset[Source]:
    """Return the programs behind these commands that are here."""
    modules = console_scripts(checkout).values()
    return frozenset(source for module in modules if (source := script_source(checkout, module)) is not None)


def _section(text: str, name: str) -> str:
    """Return the lines of one table of a TOML file."""
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith("["):
            inside = line.strip().strip("[]") == name
        elif inside:
            lines.append(line)
    return "\n".join(lines)
