"""The sentence with which a project file describes its project: it states hardware where there is no README beside it."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.finding import Evidence

MAX_CHARACTERS = 1000
_TABLES = frozenset({"project.description", "tool.poetry.description"})


@functools.lru_cache(maxsize=4)
def project_descriptions(checkout: Checkout) -> tuple[tuple[str, Evidence], ...]:
    """Return the descriptions of the projects nearest to the root, each with its place; texts are cut after 1000 characters."""
    found = sorted(_all(checkout), key=lambda item: (item[1].path.count("/"), item[1].path))
    least = min((where.path.count("/") for _, where in found), default=0)
    return tuple(item for item in found if item[1].path.count("/") == least)


def _all(checkout: Checkout) -> Iterator[tuple[str, Evidence]]:
    for source in checkout.of(Form.TOML, Form.PYTHON, roles=(Role.PACKAGES,)):
        text, line = _of_setup(source) if source.name == "setup.py" else _of_toml(source)
        if text:
            yield text[:MAX_CHARACTERS], Evidence(source.path, line)


def _of_setup(source: Source) -> tuple[str, int]:
    for call in source.code.calls_named("setup") if source.code is not None else ():
        text = source.code.resolve(call.keyword("description"), call.owner) if source.code is not None else None
        if text:
            return text, call.line
    return "", 0


def _of_toml(source: Source) -> tuple[str, int]:
    if source.name != "pyproject.toml":
        return "", 0
    found = next((setting for setting in read_settings(source) if setting.path in _TABLES), None)
    return (found.text, found.evidence.line) if found is not None else ("", 0)
