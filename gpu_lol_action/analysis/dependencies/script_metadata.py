"""Packages that a program names in its own head: the block ``# /// script`` of PEP 723, which uv, pipx and Hatch install for it."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.toml_reading import read_toml
from gpu_lol_action.analysis.package_lists.package_files import MAX_DECLARED, Declared, clean_requirement
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Evidence

_FIRST, _LAST = "# /// script", "# ///"
MAX_LINES = 200
"""Of one block: the longest that was met has thirty."""


def script_packages(run: Run | None) -> list[Declared]:
    """Return what the program that is started names for itself; nothing for a notebook, or where the block is broken."""
    script = run.script if run is not None else None
    return list(_declared(script)) if script is not None and script.form is Form.PYTHON else []


def _declared(source: Source) -> tuple[Declared, ...]:
    lines = source.text.split("\n") if _FIRST in source.text else []
    start = next((place for place, line in enumerate(lines) if line.rstrip() == _FIRST), None)
    if start is None:
        return ()
    block: list[str] = []
    for line in lines[start + 1 : start + 1 + MAX_LINES]:
        if line.rstrip() == _LAST:
            break
        if not line.startswith("#"):
            return ()
        block.append(line[2:])
    else:
        return ()
    table = read_toml("\n".join(block)) or {}
    named = table.get("dependencies")
    found: list[Declared] = []
    for text in named[:MAX_DECLARED] if isinstance(named, list) else ():
        requirement = clean_requirement(text) if isinstance(text, str) else None
        if requirement is not None:
            place = next((number for number, line in enumerate(block, start + 2) if text in line), start + 1)
            found.append(Declared(requirement, Evidence(source.path, place)))
    return tuple(found)
