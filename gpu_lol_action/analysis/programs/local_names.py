"""Whether an import gives a file of the checkout, or a package that is installed."""

from __future__ import annotations

import functools

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.neighbors import programs_in
from gpu_lol_action.analysis.files.tree import MAX_DEPTH
from gpu_lol_action.analysis.formats.import_names import is_standard, package_of
from gpu_lol_action.analysis.formats.paths import Form

_FRAMEWORKS = frozenset({"torch", "tensorflow", "jax", "paddle", "mxnet", "keras", "numpy"})


def is_local(checkout: Checkout, source: Source, module: str) -> bool:
    """Whether an import gives a file of the checkout: beside its file or above it, in ``src``, or by a name nobody else has.

    A folder without ``__init__.py`` hides no installed package (PEP 420), unless the very module lies in it. A module of a package
    hides no framework: one book's parts for each are called `torch.py` and `jax.py`, and import what they are called after; nor, in
    a package from which nothing is started, another library that it is called after (``mine/verl/trainer.py``): one that lacks what is taken from it.
    """
    if is_standard(module):
        return False
    words = module.split(".", MAX_DEPTH)[:MAX_DEPTH]  # no file lies deeper
    tops, every = _own_names(checkout)
    folders = [source.folder]
    while folders[-1]:
        folders.append(folders[-1].rpartition("/")[0])
    for folder in folders:
        for base in (folder, f"{folder}/src".lstrip("/")):
            prefix = f"{base}/" if base else ""
            if words[0] in _FRAMEWORKS and base in tops:
                continue
            if prefix + words[0] in tops or any(
                prefix + "/".join(words[:end]) in tops for end in range(2, len(words) + 1)
            ):
                is_of_a_package = base in tops and package_of(words[0]) is not None
                if (
                    is_of_a_package
                    and not _is_started_from(checkout, base)
                    and not _gives(checkout, source, module, base)
                ):
                    continue
                return True
    # Of a folder that a program puts on its path (`datasets.factory` in `src/lib`).
    return words[0] in every and (
        package_of(module) is None or (len(words) > 1 and module.replace(".", "/") in _tails(checkout))
    )


@remembered
def _gives(checkout: Checkout, source: Source, module: str, base: str) -> bool:
    """Whether the module of that name in a folder, another than the one that asks, has all that is taken from it.

    A folder with ``__init__.py`` may be on the path all the same: its programs lack a guard, or one above puts it there.
    """
    place = f"{base}/{module.replace('.', '/')}".lstrip("/")
    found = checkout.find(f"{place}.py") or checkout.find(f"{place}/__init__.py")
    if found is None or found is source or source.code is None:
        return False
    names = {name for item in source.code.imports if item.module == module for name in item.names}
    has = (found.mentions(name) or checkout.find(f"{place}/{name}.py") is not None for name in names - {"*"})
    return bool(names) and all(has)


@remembered
def _is_started_from(checkout: Checkout, folder: str) -> bool:
    """Whether a program lies in a folder that is started: Python finds what lies beside it before what is installed."""
    return any(source.mentions("__main__") for source in programs_in(checkout, folder))


@remembered
def _tails(checkout: Checkout) -> frozenset[str]:
    """Return the ends of all programs' paths, of two words and more: how an import from a folder on the path names them."""
    tails: set[str] = set()
    for source in checkout.of(Form.PYTHON):
        words = source.path.removesuffix(".py").removesuffix("/__init__").split("/")
        tails.update("/".join(words[start:]) for start in range(1, len(words) - 1))
    return frozenset(tails)


@functools.lru_cache(maxsize=4)
def _own_names(checkout: Checkout) -> tuple[frozenset[str], frozenset[str]]:
    """Return paths that can be imported (files, folders with ``__init__.py``) without their ending, and every name in them."""
    paths = [source.path for source in checkout.sources if source.form is Form.PYTHON]
    tops = frozenset(path.removesuffix(".py").removesuffix("/__init__") for path in paths)
    return tops, frozenset(part for path in paths for part in path.removesuffix(".py").split("/"))
