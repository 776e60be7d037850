"""The programs of a checkout that were not understood, or not wholly: who wrote one that is broken wants to know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gpu_lol_action.analysis.files.tree import LeftOut

if TYPE_CHECKING:
    from gpu_lol_action.analysis.files.checkout import Source


def troubles_of(sources: Iterable[Source]) -> Iterator[LeftOut]:
    """Yield the programs that are broken, and the places at which a statement is that had to be left out, as far as they were asked."""
    for source in sources:
        if source.code is not None and source.code.trouble:
            yield LeftOut(source.path, f"{source.code.trouble}, so not understood")
        elif source.code is not None and source.code.fault:
            yield LeftOut(
                f"{source.path}:{source.code.fault}",
                "a statement that is not valid Python, or one of a later Python, was left out",
            )
