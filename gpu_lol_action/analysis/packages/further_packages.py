"""Packages that files of the checkout name and that are not proposed: imports out of the run's way, commands and lists that do not count for it.

Who reads what the repository is for may see that one of them is needed all the same. Names on the package index alone: no address.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.dependencies.dependency_lists import lists_of
from gpu_lol_action.analysis.dependencies.install_commands import read_install_commands
from gpu_lol_action.analysis.dependencies.install_sources import TOOLS
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.import_names import is_part_of_python, package_of
from gpu_lol_action.analysis.formats.package_families import comes_with
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.package_lists.conda_environments import is_environment
from gpu_lol_action.analysis.package_lists.conda_files import read_environment
from gpu_lol_action.analysis.package_lists.installable_names import meant
from gpu_lol_action.analysis.package_lists.package_files import Declared, package_name
from gpu_lol_action.analysis.package_lists.project_files import is_development
from gpu_lol_action.analysis.packages.packages import own_names
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.programs.local_names import is_local
from gpu_lol_action.analysis.python.code import Import
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_FURTHER = 40
MAX_OF_A_FILE = 12
MAX_HEADING = 60
MAX_SOURCES = 400
"""So many files of a kind are looked through; the shallowest come first."""

_PLAIN = regex(r"[A-Za-z0-9][\w.-]{0,80}(?:\[[\w,.-]{1,60}\])?\s*(?:[<>=!~]=?=?\s*[\w.*,<>=!+~ ]{1,60})?")


@functools.lru_cache(maxsize=4)  # the question shows them, and the answer is held against them
def further_packages(checkout: Checkout, run: Run | None, requirements: tuple[str, ...]) -> tuple[Finding, ...]:
    """Return what else the files name, likeliest first, as the requirements that they would be; ``requirements`` is what is proposed."""
    known = {package_name(each) for each in requirements}
    left_out = known | own_names(checkout) | TOOLS
    found: dict[str, Finding] = {}
    of_file: Counter[str] = Counter()
    for written, why, where in _named(checkout, run):
        requirement = meant(written) or ""
        name = package_name(requirement)
        if name in left_out or name in found or comes_with(name, known) or is_part_of_python(name):
            continue
        if _PLAIN.fullmatch(requirement) and of_file[where.path] < MAX_OF_A_FILE:
            of_file[where.path] += 1
            found[name] = Finding("dependencies.requirements", requirement, why, Confidence.LOW, where)
        if len(found) == MAX_FURTHER:
            break
    return tuple(found.values())


def _named(checkout: Checkout, run: Run | None) -> Iterator[tuple[str, str, Evidence]]:
    """Yield requirement, sentence and place: of the run's own modules, of documents and images, of lists, of all else."""
    closure = import_closure(checkout, run.script) if run is not None and run.script is not None else ()
    versions = {package_name(item.requirement): item.requirement for item in lists_of(checkout).declared}
    yield from _imported(checkout, closure, versions)
    yield from _told(
        checkout.of(Form.MARKDOWN, Form.DOCKERFILE, roles=(Role.DOCUMENTATION, Role.WORKLOAD))[:MAX_SOURCES]
    )
    for source in checkout.of(Form.YAML, roles=(Role.PACKAGES, Role.WORKLOAD))[:MAX_SOURCES]:
        if is_environment(source):
            yield from _listed(read_environment(source).declared)
    yield from _listed(lists_of(checkout).declared)
    yield from _told(checkout.of(Form.SHELL, Form.NOTEBOOK)[:MAX_SOURCES])
    programs = checkout.of(Form.PYTHON, Form.NOTEBOOK, roles=(Role.WORKLOAD,))[:MAX_SOURCES]
    yield from _imported(checkout, [source for source in programs if source not in closure], versions)


def _imported(
    checkout: Checkout, programs: Sequence[Source], versions: dict[str, str]
) -> Iterator[tuple[str, str, Evidence]]:
    for source in programs:
        for item in source.code.imports if source.code is not None else ():
            package = None if item.module.startswith(".") else package_of(item.module)
            if package is not None and not is_local(checkout, source, item.module):
                why = f"`{item.module.split('.')[0]}` is imported here{_when(item)}"
                yield versions.get(package_name(package), package), why, Evidence(source.path, item.line)


def _when(item: Import) -> str:
    if item.is_lazy:
        return ", in a function"
    return ", or passed over where it is missing" if item.is_optional else ""


def _told(sources: Sequence[Source]) -> Iterator[tuple[str, str, Evidence]]:
    for source in sources:
        for command in read_install_commands(source) if " install " in source.text else ():
            heading = f" under “{command.heading.strip()[:MAX_HEADING]}”" if command.heading.strip() else ""
            for item in command.declared:
                yield item.requirement, f"a command{heading} installs it", item.evidence


def _listed(items: Sequence[Declared]) -> Iterator[tuple[str, str, Evidence]]:
    for item in items:
        file = item.evidence.path.rpartition("/")[2]
        if not is_development(item.group) and not is_development(file):
            why = f"the extra `{item.group}` names it" if item.group else "a list of another part names it"
            yield item.requirement, why, item.evidence
