"""Lists of lower bounds: the oldest versions that a library is tested with, which no machine should install."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.package_lists.package_files import package_name, read_requirements
from gpu_lol_action.analysis.package_lists.project_files import Project
from gpu_lol_action.domain.patterns import regex

_NAMED = frozenset({"min", "mins", "minimum", "minimal", "minversions", "lowest", "oldest", "lower", "bounds", "floor"})
_LEAST = 4
"""Packages a list needs before its versions say what it is for."""
_MOST_OF = 0.6


def is_lower_bounds(source: Source, projects: list[tuple[Source, Project]]) -> bool:
    """Whether a requirements file repeats a project's own list at its oldest versions, extras included.

    Such a list is what the project's tests install. Its name says so, every line pins one version, and the project beside
    it declares most of the same packages itself; without such a project ``requirements-min.txt`` is what to install.
    """
    if not set(regex(r"[^a-z]+").split(source.name)) & _NAMED:
        return False
    lines = [item.requirement for item in read_requirements(source, is_optional=False).own]
    pinned = [line for line in lines if regex(r"[\w.-]+(?:\[[\w,.-]+\])?\s*==").match(line)]
    if len(lines) < _LEAST or len(pinned) < len(lines):
        return False
    names = {package_name(line) for line in lines}
    for _, project in (item for item in projects if item[0].folder == source.folder or not item[0].folder):
        own = {package_name(item.requirement) for item in project.declared if not item.is_optional}
        if len(own) >= _LEAST and len(names & own) >= _MOST_OF * len(own):
            return True
    return False
