"""Which programs lie in a folder: what Python finds first beside the one that is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form


def programs_in(checkout: Checkout, folder: str) -> Sequence[Source]:
    """Return the Python files that lie in a folder itself, in their order; none for one that has none."""
    return _by_folder(checkout).get(folder, ())


@remembered
def _by_folder(checkout: Checkout) -> Mapping[str, Sequence[Source]]:
    folders: dict[str, list[Source]] = {}
    for source in checkout.of(Form.PYTHON):
        folders.setdefault(source.folder, []).append(source)
    return folders
