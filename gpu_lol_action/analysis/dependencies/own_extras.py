"""Extras of the project at hand that commands install: those of its run, not the offers that a README shows one after another."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from gpu_lol_action.analysis.dependencies.install_commands import LEAST_OF_A_MENU, InstallCommand
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_PACKAGES
from gpu_lol_action.analysis.package_lists.package_files import Declared, Option, package_name
from gpu_lol_action.analysis.package_lists.project_files import Project, is_desk_work
from gpu_lol_action.domain.patterns import regex

_IN_BRACKETS = regex(r"\[([\w,. -]{1,200})\]")
_OF_A_RUN = regex(r"train|tun|infer|serv|gpu|cuda|torch|demo|run", re.IGNORECASE)


def own_lines(commands: Sequence[InstallCommand], projects: Sequence[tuple[Source, Project]]) -> list[Declared]:
    """Return what commands install of the project under its own name: its extras are wanted (``pip install mine[gpu]``).

    Behind the plain name in the same document, or one of three, extras are offers, unless they are named for what a run does.
    """
    names = {project.name for _, project in projects if project.name}
    own = [item for command in commands for item in command.declared if package_name(item.requirement) in names]
    plain = {item.evidence.path: item.evidence.line for item in reversed(own) if not _extras(item.requirement)}
    shown: dict[str, set[str]] = {}
    for item in own:
        shown.setdefault(item.evidence.path, set()).add(_extras(item.requirement))
    kept = [item for item in own if not _is_offer(item, plain.get(item.evidence.path), shown[item.evidence.path])]
    return own if len(kept) < len(own) and _computes_by_extras(projects) else kept


def offered_paths(
    commands: Sequence[InstallCommand], projects: Sequence[tuple[Source, Project]], found: Sequence[Declared]
) -> frozenset[Option]:
    """Return the paths with extras that a document shows behind the same path without: for one use of many, as offers by name are.

    ``found`` is what lists name so far.
    """
    if _computes_by_extras(projects) and not any(_is_on_gpu(item) for item in found if not item.is_optional):
        return frozenset()
    plain: dict[tuple[str, str], int] = {}
    local = [(option, command) for command in commands for option in command.options if option.kind == "local"]
    for option, command in local:
        if not command.is_synced and not _extras(option.value):
            plain.setdefault((option.evidence.path, option.value), option.evidence.line)
    return frozenset(
        option
        for option, command in local
        if not command.is_synced
        and (extras := _extras(option.value))
        and not _OF_A_RUN.search(extras)
        and plain.get((option.evidence.path, _IN_BRACKETS.sub("", option.value)), 10**9) < option.evidence.line
    )


def _computes_by_extras(projects: Sequence[tuple[Source, Project]]) -> bool:
    """Whether only extras of the projects bring what computes on a GPU: the plain name is then not all that a run needs."""
    declared = [item for _, project in projects for item in project.declared]
    on_gpu = [item for item in declared if _is_on_gpu(item)]
    return bool(on_gpu) and all(item.is_optional for item in on_gpu)


def _is_on_gpu(item: Declared) -> bool:
    return package_name(item.requirement) in GPU_PACKAGES


def _extras(requirement: str) -> str:
    found = _IN_BRACKETS.search(requirement)
    return found[1] if found is not None else ""


def _is_offer(item: Declared, plain: int | None, shown: Collection[str]) -> bool:
    extras = _extras(item.requirement)
    is_behind = plain is not None and plain < item.evidence.line
    return bool(extras) and (is_behind or len(shown) >= LEAST_OF_A_MENU) and not _OF_A_RUN.search(extras)


def extras_of(text: str) -> list[str]:
    """Return the extras that a requirement or a local path names, without those for the project's own developers."""
    return [extra for part in _extras(text).split(",") if (extra := part.strip()) and not is_desk_work(extra)]
