"""What programs import of projects that lie elsewhere in their checkout, and are installed for it (``libs/core/src/core``)."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.project_homes import Home, homes_of, nearest_home
from gpu_lol_action.analysis.files.surroundings import is_outside
from gpu_lol_action.analysis.formats.import_names import is_known
from gpu_lol_action.analysis.python.code import Import

MAX_NAMES = 40


def home_of_import(checkout: Checkout, source: Source, item: Import) -> Home | None:
    """Return where the package lies that an import means, of a project in a folder; None of any other, and within the package itself.

    A name that is known on the index means what is installed from there: what lies in a folder under it was copied in. Where the
    checkout is a folder of a larger one, that one's own library is meant all the same (`diffusers` in its examples).
    """
    top = item.module.partition(".")[0]
    homes = homes_of(checkout).get(top, ()) if top else ()
    homes = tuple(home for home in homes if is_outside(home.project)) if homes and is_known(top) else homes
    home = nearest_home(homes, source.folder) if homes else None
    is_inside = home is not None and f"{source.folder}/".startswith(f"{home.base}/{top}/".lstrip("/"))
    return None if is_inside else home


def files_in_projects(checkout: Checkout, source: Source, item: Import) -> tuple[Source, ...]:
    """Return the files that an import means in a project elsewhere in the checkout."""
    home = home_of_import(checkout, source, item)
    return files_below(checkout, (home.base,) if home is not None else _above(checkout, item), item)


def files_below(checkout: Checkout, bases: Sequence[str], item: Import) -> tuple[Source, ...]:
    """Return the files that an import by its whole name means below these folders: the module, and modules that are taken from it."""
    tail = item.module.replace(".", "/")
    tails = [tail, *(f"{tail}/{name}" for name in item.names[:MAX_NAMES])]
    paths = (f"{base}/{each}{end}".lstrip("/") for base in bases for each in tails for end in (".py", "/__init__.py"))
    return tuple(found for path in paths if (found := checkout.find(path)) is not None)


def _above(checkout: Checkout, item: Import) -> Sequence[str]:
    """Return the folders above a checkout that is one of a larger tree, where they hold modules that it takes (``../common``)."""
    is_own = item.module.startswith(".") or is_known(item.module)
    return () if is_own else _folders_above(checkout)


@remembered
def _folders_above(checkout: Checkout) -> Sequence[str]:
    deepest = max((path.count("../") for path in checkout.by_path if is_outside(path)), default=0)
    return ["/".join([".."] * count) for count in range(1, deepest + 1)]
