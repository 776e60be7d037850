"""Which projects count in a repository that holds nothing but packages (``packages/mine``, ``libs/core``)."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.package_files import package_name
from gpu_lol_action.analysis.project_files import Project


def workspace_projects(projects: Sequence[tuple[Source, Project]]) -> list[tuple[Source, Project]]:
    """Return the packages of a repository that has nothing but packages (``packages/mine``): those that the others build on, else all."""
    least = min((source.depth for source, _ in projects), default=0)
    level = [item for item in projects if item[0].depth == least]
    built_on = {
        package_name(item.requirement) for _, project in level for item in project.declared if not item.is_optional
    }
    return [item for item in level if item[1].name in built_on] or level
