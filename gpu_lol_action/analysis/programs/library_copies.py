"""Copies of well-known libraries that lie in a repository beside its own packages."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES


def without_copies(checkout: Checkout, closure: tuple[Source, ...]) -> tuple[Source, ...]:
    """Return a program's modules without a known library's copy beside the project's own packages.

    Such a copy (``ultralytics/``) can do whatever the library can; installed by pip it would say nothing of the program either.
    """
    own = {top for source in closure if (top := _top(source)) and top not in GPU_MODULES}
    if not any(checkout.find(f"{top}/__init__.py") for top in own):
        return closure
    return tuple(source for source in closure if source is closure[0] or _top(source) not in GPU_MODULES)


def _top(source: Source) -> str:
    return source.path.partition("/")[0] if "/" in source.path else ""
