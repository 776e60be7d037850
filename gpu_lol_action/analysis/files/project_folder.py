"""The folder of the only project of a checkout that holds little else: ``ml`` beside ``web`` and ``infra``.

What lies at the root of a project counts for more than what lies in its folders. Where all programs and lists of packages are in one
folder that has a README of its own, and nothing outside of it speaks of Python or of cards, that folder is the root that counts.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.surroundings import around, built_on
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.patterns import regex

_PROGRAMS = frozenset({Form.PYTHON, Form.NOTEBOOK})
# What a file outside would have to say of the project: then it is a part of it.
_SPEAKS = regex(r"python|\bpip3?\b|\bconda\b|torch|cuda|nvidia|\bgpus?\b|vram|tensorflow|\bjax\b", re.IGNORECASE)
# A document may name what it is written in, but not tell how it is started or what it needs.
_TELLS = regex(
    r"\bpython3?\s+\S|\bpip3?\s+install|\bconda\s+\w|\buv\s+\w|torchrun|accelerate\s+launch|cuda|nvidia|\bgpus?\b|vram|\.py\b",
    re.IGNORECASE,
)
MAX_OUTSIDE, MAX_BYTES = 200, 2**20
"""Files outside of a project that are looked through, and their bytes; with more of them the root stays what it is."""


@remembered
def project_folder(checkout: Checkout) -> str:
    """Return the folder of the only project, without a slash at its end; empty where the root is the project's.

    The one that its operator names counts, whatever lies beside it; within that the only project is looked for as in any other.
    """
    if checkout.project:
        return posixpath.join(checkout.project, project_folder(within(checkout, checkout.project))).rstrip("/")
    programs = [source for source in checkout.sources if source.form in _PROGRAMS]
    # A folder of configurations for a trainer that is installed has none.
    parts_of_it = programs or [source for source in checkout.sources if source.role in {Role.WORKLOAD, Role.PACKAGES}]
    above = posixpath.commonpath([source.folder for source in parts_of_it]) if parts_of_it else ""
    parts = above.split("/") if above else []
    places = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    folder = next((place for place in places if _has_readme(checkout, place)), "")
    outside = [source for source in checkout.sources if not source.path.startswith(f"{folder}/")] if folder else []
    is_much = len(outside) > MAX_OUTSIDE or sum(len(source.content) for source in outside) > MAX_BYTES
    return "" if is_much or any(map(_is_of_project, outside)) else folder


def project_of(checkout: Checkout) -> Checkout:
    """Return what is looked at of a checkout: its only project, or all of it."""
    folder = project_folder(checkout)
    return within(checkout, folder) if folder else checkout


@remembered
def within(checkout: Checkout, folder: str) -> Checkout:
    """Return what lies in a folder of a checkout as one of its own, with what the project there is built on outside of it.

    The file with the spec stays what it is.
    """
    start = f"{folder}/"
    inner = tuple(_moved(source, start) for source in checkout.sources if source.path.startswith(start))
    if checkout.project:  # beside the only project of a checkout lies nothing that it could be built on
        inner = (*around(checkout, folder), *inner)
    return replace(checkout, sources=inner, by_path={source.path: source for source in inner}, notes=(), project="")


@remembered
def alone(checkout: Checkout) -> Checkout:
    """Return what is looked at of a checkout with the paths that it has there: for what shows files and runs nothing."""
    folder = project_folder(checkout)
    sources = tuple(source for source in checkout.sources if source.path.startswith(f"{folder}/"))
    if checkout.project:
        sources = (*sources, *(source for source in built_on(checkout, folder) if source not in sources))
    return replace(checkout, sources=sources, by_path={s.path: s for s in sources}, project="") if folder else checkout


def _moved(source: Source, start: str) -> Source:
    return replace(source, path=source.path.removeprefix(start))


def _has_readme(checkout: Checkout, folder: str) -> bool:
    return any(s.folder == folder and s.name.startswith("readme") for s in checkout.sources)


def _is_of_project(source: Source) -> bool:
    """Whether a file outside of the project's folder has to do with it: a list of packages, or what speaks of Python or of cards."""
    if source.role is Role.PACKAGES:
        return True
    speaks = _TELLS if source.role is Role.DOCUMENTATION else _SPEAKS
    # A name that begins with a dot is a formatter's, a checker's.
    return not source.name.startswith(".") and speaks.search(source.text) is not None
