"""Which projects count in a repository that holds nothing but packages (``packages/mine``, ``libs/core``)."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.package_lists.project_files import Project


def workspace_projects(projects: Sequence[tuple[Source, Project]]) -> list[tuple[Source, Project]]:
    """Return the packages of a repository that has nothing but packages (``packages/mine``): those that the others build on, else all."""
    least = min((source.depth for source, _ in projects), default=0)
    level = [item for item in projects if item[0].depth == least]
    built_on = {
        package_name(item.requirement) for _, project in level for item in project.declared if not item.is_optional
    }
    return [item for item in level if item[1].name in built_on] or level


MOST_MEMBERS = 16
"""Of a workspace, that are one product. More are a product and its connectors, of which nobody installs all."""


def members_of(
    near: Sequence[tuple[Source, Project]], projects: Sequence[tuple[Source, Project]]
) -> list[tuple[Source, Project]]:
    """Return the packages that a project at hand names as its workspace's (``members = ["packages/*"]``); none where it names none."""
    patterns = [
        f"{source.folder}/{member}".lstrip("/").rstrip("/")
        for source, project in near
        for member in project.members[:40]
    ]
    found = [item for item in projects if any(_is_at(item[0].folder, pattern) for pattern in patterns)]
    return found if len(found) <= MOST_MEMBERS else workspace_projects(found)


def _is_at(folder: str, pattern: str) -> bool:
    return folder.count("/") == pattern.count("/") and fnmatchcase(folder, pattern)
