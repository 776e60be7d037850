"""Pages of a larger documentation that tell what to install and which hardware to have, wherever they lie; and FAQs."""

from __future__ import annotations

import re
from collections.abc import Collection

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

MAX_GUIDES = 6
MAX_FOLDERS = 4
LEAST_NAME = 4
_TREES = frozenset({"docs", "doc", "documentation"})
_ON_HARDWARE = regex(
    r"hardware|install|requirement|prerequisite|gpu|memory|vram|setup|\bfaq\b",
    re.IGNORECASE,
)
# A folder or a name's end that says the language; English is read.
_FOREIGN = regex(r"(?:^|[._-])(?:zh|cn|ja|jp|ko|kr|fr|es|de|ru|pt|vi|hi|ar|tr|it)(?:[._-]?\w{2,4})?$", re.IGNORECASE)


def hardware_guides(checkout: Checkout, known: Collection[Source]) -> list[Source]:
    """Return the documentation's pages on hardware and installing that are not ``known``, those nearest to the root first."""
    read = {source.path for source in known}
    found = [
        source
        for source in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
        if source.path not in read and _is_guide(source)
    ]
    return sorted(found, key=lambda source: (source.depth, source.path))[:MAX_GUIDES]


def names_of(run: Run) -> frozenset[str]:
    """Return what a run's command names, as a page of the documentation may be called (``ns-train nerfacto``: ``nerfacto.md``)."""
    words = (*(run.command.words if run.command is not None else ()), *run.options.values())
    return frozenset(word.lower() for word in words if len(word) >= LEAST_NAME and word.isidentifier())


def is_in_documentation(source: Source) -> bool:
    """Whether a document lies in the documentation's folders, in English."""
    folders = source.folder.split("/")
    is_inside = folders[0].lower() in _TREES and len(folders) <= MAX_FOLDERS
    return is_inside and not any(_FOREIGN.search(part) for part in folders)


def _is_guide(source: Source) -> bool:
    stem = source.name.rpartition(".")[0]
    is_in_place = not source.folder or is_in_documentation(source)
    return is_in_place and _ON_HARDWARE.search(stem) is not None and _FOREIGN.search(stem) is None
