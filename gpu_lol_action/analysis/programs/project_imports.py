"""What programs import of projects that lie elsewhere in their checkout, and are installed for it (``libs/core/src/core``)."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.project_homes import Home, homes_of, nearest_home
from gpu_lol_action.analysis.formats.import_names import is_known
from gpu_lol_action.analysis.python.code import Import

MAX_NAMES = 40


def home_of_import(checkout: Checkout, source: Source, item: Import) -> Home | None:
    """Return where the package lies that an import means, of a project in a folder; None of any other, and within the package itself.

    A name that is known on the index means what is installed from there: what lies in a folder under it was copied in.
    """
    top = item.module.partition(".")[0]
    homes = homes_of(checkout).get(top, ()) if top else ()
    home = nearest_home(homes, source.folder) if homes and not is_known(top) else None
    is_inside = home is not None and f"{source.folder}/".startswith(f"{home.base}/{top}/".lstrip("/"))
    return None if is_inside else home


def files_in_projects(checkout: Checkout, source: Source, item: Import) -> tuple[Source, ...]:
    """Return the files that an import means in a project elsewhere in the checkout."""
    home = home_of_import(checkout, source, item)
    if home is None:
        return ()
    tail = item.module.replace(".", "/")
    tails = [tail, *(f"{tail}/{name}" for name in item.names[:MAX_NAMES])]
    paths = (f"{home.base}/{each}{end}".lstrip("/") for each in tails for end in (".py", "/__init__.py"))
    return tuple(found for path in paths if (found := checkout.find(path)) is not None)
