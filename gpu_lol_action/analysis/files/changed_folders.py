"""Projects in a repository whose policy names none: the folders with packages of their own in which a pull request changes something."""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.analysis.files.checkout import SPEC_FILE, Checkout
from gpu_lol_action.analysis.formats.paths import Form, Role, folders_above

_PROGRAMS = frozenset({Form.PYTHON, Form.NOTEBOOK})
_LISTS = "requirements"
"""A folder of such a name holds the lists of the one above."""


def changed_projects(checkout: Checkout, changed: Iterable[str]) -> tuple[str, ...]:
    """Return the folders below the root that have a list of packages, or a spec, and a program, and in which a program or a list changes.

    Of folders in one another the nearest counts. Tests, documents and what is gone change no project.
    """
    homes = {_home(source.folder) for source in checkout.sources if source.role is Role.PACKAGES}
    homes |= {path.rpartition("/")[0] for path in checkout.by_path if path.endswith(f"/{SPEC_FILE}")}
    programs = {
        above
        for source in checkout.sources
        if source.form in _PROGRAMS and source.role is Role.WORKLOAD
        for above in folders_above(source.path)
    }
    homes = {home for home in homes if home in programs}
    counted = (path for path in sorted(changed) if _counts(checkout, path))
    nearest = (next((above for above in folders_above(path) if above in homes), "") for path in counted)
    return tuple(dict.fromkeys(filter(None, nearest)))


def _counts(checkout: Checkout, path: str) -> bool:
    source = checkout.by_path.get(path)
    return source is not None and (source.role in {Role.WORKLOAD, Role.PACKAGES} or source.name == SPEC_FILE)


def _home(folder: str) -> str:
    return folder.rpartition("/")[0] if folder.rpartition("/")[2].lower() == _LISTS else folder
