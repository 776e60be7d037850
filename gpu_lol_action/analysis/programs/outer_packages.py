"""Names by which a folder's modules call each other as parts of a larger tree, of which the checkout is only that folder.

A folder of a collection is written to be started from the collection's root (``from official.nlp.xlnet import training_utils``):
looked at alone, its modules lie at its own root. The name before them is found by what it leads to here.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.import_names import is_known, is_standard
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.python.code import Import

MAX_SOURCES = 80
MAX_WORDS = 8
MAX_NAMES = 12
LEAST_FOUND = 2  # modules that a name has to lead to: one may be chance
LEAST_PART = 0.5  # of all that is imported below the name


@remembered
def outer_packages(checkout: Checkout) -> tuple[tuple[str, ...], ...]:
    """Return the dotted names, as words, that stand before this folder's own modules; the longest first."""
    found: dict[tuple[str, ...], set[str]] = {}
    asked: dict[tuple[str, ...], set[str]] = {}
    for item in _imports(checkout):
        words = tuple(item.module.split("."))
        for cut in range(1, len(words) + 1):
            prefix = words[:cut]
            asked.setdefault(prefix, set()).add(item.module + "".join(f" {name}" for name in item.names[:MAX_NAMES]))
            if _leads_here(checkout, words[cut:], item):
                found.setdefault(prefix, set()).add(
                    item.module + "".join(f" {name}" for name in item.names[:MAX_NAMES])
                )
            elif cut == len(words) and (given := _of_the_folder(checkout, item)):
                found.setdefault(prefix, set()).update(given)
                asked[prefix].update(given)
    chosen = [p for p, hits in found.items() if _is_own(p, len(hits), len(asked[p]))]
    return tuple(sorted(chosen, key=lambda prefix: (-len(prefix), prefix)))


def _is_own(prefix: tuple[str, ...], found: int, asked: int) -> bool:
    """Whether a name leads here often enough; one of several words may do so once, where it leads nowhere else.

    A library's own folder lies here only where all that is imported below its name does.
    """
    if is_known(prefix[0]):
        return len(prefix) > 1 and found == asked >= LEAST_FOUND
    return found >= LEAST_PART * asked if found >= LEAST_FOUND else found == asked and len(prefix) > 1


def without_outer(checkout: Checkout, module: str) -> str | None:
    """Return a module's name within the checkout ("" for the folder itself); None where no outer name stands before it."""
    words = tuple(module.split("."))
    for prefix in outer_packages(checkout):
        if words[: len(prefix)] == prefix:
            return ".".join(words[len(prefix) :])
    return None


def _imports(checkout: Checkout) -> Iterator[Import]:
    """Yield imports that may mean a larger tree: no library's, and nothing that lies here under its whole name."""
    for source in checkout.of(Form.PYTHON)[:MAX_SOURCES]:
        for item in source.code.imports if source.code is not None and source.depth <= 1 else ():
            top = item.module.partition(".")[0]
            is_here = checkout.find(f"{top}.py") is not None or checkout.find(f"{top}/__init__.py") is not None
            if (
                top
                and top not in GPU_MODULES
                and not is_here
                and not is_standard(top)
                and (1 if is_known(top) else 0) <= item.module.count(".") < MAX_WORDS
            ):
                yield item


def _of_the_folder(checkout: Checkout, item: Import) -> frozenset[str]:
    """Return the names that an import takes, where they are those that the folder itself gives as a package; empty where one is not."""
    package = checkout.find("__init__.py")
    if package is None or package.code is None or len(item.names) < LEAST_FOUND:
        return frozenset()
    given = {name for each in package.code.imports for name in (*each.names, each.module.rpartition(".")[2])}
    return frozenset(item.names) if given.issuperset(item.names) else frozenset()


def _leads_here(checkout: Checkout, rest: tuple[str, ...], item: Import) -> bool:
    tail = "/".join(rest)
    tails = [tail] if tail else []
    tails += [f"{tail}/{name}".lstrip("/") for name in item.names[:MAX_NAMES]]
    return any(
        checkout.find(f"{each}.py") is not None or checkout.find(f"{each}/__init__.py") is not None for each in tails
    )
