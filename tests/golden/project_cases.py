"""A repository of several projects for the comments' goldens: which one a proposal is about, and what the others need."""

from __future__ import annotations

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.render.views_projects import OtherProject, ProjectsCase

Side = tuple[Analysis, Ladder]


def projects(small: Side, large: Side, none: Side, text: str = "") -> ProjectsCase:
    """The story's project beside one of each fate; ``text`` stands wherever something of the repository could."""
    return ProjectsCase(
        text or "research/llm",
        ("research/llm", "research/vision", "research/audio", "research/new", "research/gone", text or "research/kept"),
        (
            OtherProject(text or "research/vision", *large, *small),
            OtherProject("research/audio", *small, *large),
            OtherProject("research/new", *small, is_new=True),
            OtherProject("research/cpu", *none, *small),
            OtherProject(
                "research/broken",
                is_invalid=True,
                problem=text or "`research/broken/.gpu-lol.yaml`, line 1: there is no key.",
            ),
        ),
        (text or "research/more", "research/most"),
        (text,) if text else (),
    )
