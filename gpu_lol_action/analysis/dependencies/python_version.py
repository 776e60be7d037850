"""Which Python the repository asks for: an exact one (environment, Dockerfile, version file) or a range."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from gpu_lol_action.analysis.dependencies.project_choice import read_any_project
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.formats.poetry_versions import pip_version
from gpu_lol_action.analysis.package_lists.conda_environments import environments
from gpu_lol_action.analysis.package_lists.conda_files import read_environment
from gpu_lol_action.analysis.package_lists.project_files import Project
from gpu_lol_action.analysis.package_lists.setup_py import read_setup_py
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

KNOWN = tuple(f"3.{minor}" for minor in (11, 10, 12, 9, 13, 8, 14, 7, 6))
"""Pythons in the order in which they are taken where several would do: what most wheels of today and yesterday have."""
_LISTS = (Form.INI, Form.TOML, Form.PYTHON, Form.YAML, Form.REQUIREMENTS)
FAR_BELOW = 2
"""Folders below the root from which on an environment is a part's own, where the root lists packages: a copied project's, an example's."""
_EXACT = regex(r"3\.\d{1,2}(?:\.\d{1,2})?")


@record(frozen=True, slots=True)
class PythonWish:
    """A Python that is asked for: an exact version, or a range as a specifier."""

    exact: str
    specifier: str
    evidence: Evidence

    @property
    def minor(self) -> str:
        """The first and second number of the Python to take."""
        if self.exact:
            return ".".join(self.exact.split(".")[:2])
        return next((python for python in KNOWN if self.allows(python)), KNOWN[0])

    def allows(self, python: str) -> bool:
        """Whether ``3.11`` (any patch of it) is allowed."""
        minor = ".".join(python.split(".")[:2])
        if self.exact:
            return ".".join(self.exact.split(".")[:2]) == minor
        from packaging.specifiers import InvalidSpecifier, SpecifierSet

        try:
            allowed = SpecifierSet(self.specifier)
        except InvalidSpecifier:
            return True
        # `>=3.8.1` allows 3.8, `<3.12` does not allow 3.12, `<=3.11` is meant to allow 3.11.9.
        return any(allowed.contains(f"{minor}.{patch}") for patch in (0, 9, 30)) or f"<={minor}" in self.specifier

    @property
    def said(self) -> str:
        """The wish in a few words."""
        return self.exact or self.specifier


@functools.lru_cache(maxsize=4)
def python_wishes(checkout: Checkout) -> tuple[PythonWish, ...]:
    """Return what files ask for, exact versions first, then ranges; each with its place."""
    exact: list[PythonWish] = []
    ranges: list[PythonWish] = []
    is_listed_above = any(source.depth == 0 for source in checkout.of(*_LISTS, roles=(Role.PACKAGES,)))
    for source in environments(checkout):
        if is_listed_above and source.depth >= FAR_BELOW:
            continue
        file = read_environment(source)
        _sort_in(file.python, Evidence(source.path, file.python_line), exact, ranges)
    for source in checkout.of(Form.INI, Form.TOML, Form.PYTHON, roles=(Role.PACKAGES,)):
        if source.depth > 1:
            continue
        if source.name in {".python-version", "runtime.txt"}:
            _sort_in(
                source.text.strip().removeprefix("python-").split("\n")[0], Evidence(source.path, 1), exact, ranges
            )
        elif source.name == "setup.py":
            program = read_setup_py(source)
            _sort_in(program.python, Evidence(source.path, program.python_line), exact, ranges)
        else:
            project = read_any_project(source) or Project()
            _sort_in(pip_version(project.python), _place(source, project), exact, ranges)
    for source in checkout.of(Form.DOCKERFILE)[:3]:
        for number, line in enumerate(source.text.split("\n"), 1):
            found = regex(r"\s*FROM\s+(?:--platform=\S+\s+)?(?:\S*/)?python:(3\.\d{1,2})", re.IGNORECASE).match(line)
            if found:
                exact.append(PythonWish(found[1], "", Evidence(source.path, number)))
    return (*(wish for wish in exact if not _is_anothers(wish, ranges)), *ranges)


def _is_anothers(wish: PythonWish, ranges: Sequence[PythonWish]) -> bool:
    """Whether an exact Python further down (a site's, an old experiment's) is one that the project above it rules out."""
    depth = wish.evidence.path.count("/")
    return any(depth > other.evidence.path.count("/") and not other.allows(wish.exact) for other in ranges)


def chosen_python(checkout: Checkout) -> str:
    """Return the Python whose markers count, as ``3.11``."""
    wishes = python_wishes(checkout)
    return wishes[0].minor if wishes else KNOWN[0]


def _sort_in(text: str, where: Evidence, exact: list[PythonWish], ranges: list[PythonWish]) -> None:
    bare = text.strip().removeprefix("==").removesuffix(".*")
    if _EXACT.fullmatch(bare):
        exact.append(PythonWish(bare, "", where))
    elif regex(r"[<>=~]=?\s*3").search(text):
        ranges.append(PythonWish("", regex(r"\s+").sub("", text), where))


def _place(source: Source, project: Project) -> Evidence:
    """Return the line that names Python in a project file."""
    found = regex(
        r"^[ \t]*(?:requires-python|python_requires|python|python_version|python_full_version)\s*=", re.MULTILINE
    ).search(source.text)
    line = source.text.count("\n", 0, found.end()) + 1 if found and project.python else 0
    return Evidence(source.path, line)
