"""Commands that installing the project gives: console scripts of pyproject.toml, setup.cfg and setup.py."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.import_graph import module_source
from gpu_lol_action.domain.patterns import regex

MAX_TEXT = 200_000
MAX_SCRIPTS = 40
_LINE = regex(r"^[ \t]*[\"']?([A-Za-z][\w.-]*)[\"']?[ \t]*=[ \t]*[\"']?([A-Za-z_][\w.]*):[\w.]+", re.MULTILINE)
_QUOTED = regex(r"[\"']([A-Za-z][\w.-]*)\s*=\s*([A-Za-z_][\w.]*):[\w.]+[\"']")
_TABLES = ("project.scripts", "tool.poetry.scripts", "project.gui-scripts")


@functools.lru_cache(maxsize=4)
def console_scripts(checkout: Checkout) -> Mapping[str, str]:
    """Return the module behind each command, in the order of the files."""
    found: dict[str, str] = {}
    project = checkout.find("pyproject.toml")
    if project is not None:
        for table in _TABLES:
            for name, module in _LINE.findall(_section(project.text[:MAX_TEXT], table)):
                found.setdefault(name, module)
    setup = checkout.find("setup.cfg")
    if setup is not None and "console_scripts" in setup.text:
        text = setup.text[setup.text.index("console_scripts") :][:MAX_TEXT]
        for name, module in _LINE.findall(re.split(r"^\[", text, maxsplit=1, flags=re.MULTILINE)[0]):
            found.setdefault(name, module)
    setup = checkout.find("setup.py")
    if setup is not None and "console_scripts" in setup.text:
        for name, module in _QUOTED.findall(setup.text[:MAX_TEXT]):
            found.setdefault(name, module)
    return dict(list(found.items())[:MAX_SCRIPTS])


@remembered
def console_programs(checkout: Checkout) -> frozenset[Source]:
    """Return the programs behind these commands that are here."""
    modules = console_scripts(checkout).values()
    return frozenset(source for module in modules if (source := module_source(checkout, module)) is not None)


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
