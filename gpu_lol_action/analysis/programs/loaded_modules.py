"""What Python loads of a checkout as a program starts: every module that an import outside of functions and conditions leads to.

How a program works is told by what it imports nearby. What has to be installed is told by all that it loads: a data set's helper five
imports away ends the program just as well where its package is missing. Of a library that nothing of the checkout starts it is
what its package loads, or where that is empty, the modules that the README imports of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.package_lists.project_files import is_development
from gpu_lol_action.analysis.programs.import_graph import targets_of
from gpu_lol_action.analysis.python.code import Import
from gpu_lol_action.domain.patterns import regex

MAX_LOADED = 100
MAX_SHOWN = 12
MAX_README = 60_000  # characters that are looked through
_SHOWN = regex(r"(?m)^\s{0,8}(?:>>> )?(?:from ([\w.]{1,80}) import (\w{1,40})|import ([\w.]{1,80}))")


@remembered
def loaded_modules(checkout: Checkout, script: Source, *, is_imported: bool = False) -> tuple[Source, ...]:
    """Return a program and the files of this checkout that are loaded with it, the nearest first; at most 100.

    Whatever happens, or when one of the program's own functions is called. With what is imported itself, the packages around it.
    """
    return _loaded(checkout, (script, *(_around(checkout, script) if is_imported else ())), script)


@remembered
def loaded_of_library(checkout: Checkout, projects: frozenset[str]) -> tuple[Source, ...]:
    """Return what the library loads that projects of these names install; of one that loads nothing, what the README imports of it."""
    found = [source for source in checkout.of(Form.PYTHON) if source.name == "__init__.py" and _is_top(source.folder)]
    found = [source for source in found if not is_development(source.folder)]
    named = [source for source in found if any(_name(source) in each for each in projects)]
    starts = named or (found if len(found) == 1 else [])
    if any(source.code is not None and source.code.imports for source in starts):
        return _loaded(checkout, starts)
    return _loaded(checkout, _shown(checkout, frozenset(source.folder.rpartition("/")[2] for source in starts)))


def _name(source: Source) -> str:
    return package_name(source.folder.rpartition("/")[2])


def _is_top(folder: str) -> bool:
    return bool(folder) and "/" not in folder.removeprefix("src/")


def _loaded(checkout: Checkout, starts: Iterable[Source], script: Source | None = None) -> tuple[Source, ...]:
    found = dict.fromkeys(starts)
    waiting = list(found)
    for source in waiting:
        if len(found) >= MAX_LOADED:
            break
        for item in source.code.imports if source.code is not None else ():
            if item.is_optional and not (item.is_lazy and source is script):
                continue
            new = [each for each in (*targets_of(checkout, source, item), *_above(checkout, item)) if each not in found]
            found.update(dict.fromkeys(new))
            waiting += new
    return tuple(found)[:MAX_LOADED]


def _around(checkout: Checkout, source: Source) -> list[Source]:
    """Return the packages that a module lies in, as far as one lies in the other."""
    found: list[Source] = []
    folder = source.folder
    while folder and (package := checkout.find(f"{folder}/__init__.py")) is not None:
        found.append(package)
        folder = folder.rpartition("/")[0]
    return found


def _above(checkout: Checkout, item: Import) -> list[Source]:
    """Return the packages that a dotted name leads through: Python loads each of them first."""
    if item.module.startswith(".") or "." not in item.module:
        return []
    words = item.module.split(".")[:-1]
    paths = (f"{base}{'/'.join(words[: end + 1])}/__init__.py" for base in ("", "src/") for end in range(len(words)))
    return [source for path in paths if (source := checkout.find(path)) is not None]


def _shown(checkout: Checkout, names: frozenset[str]) -> list[Source]:
    """Return the modules of these packages that the root's README imports where it shows how they are used."""
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    readme = next((s for s in documents if s.depth == 0 and s.name.startswith("readme.")), None)
    if readme is None or not readme.mentions("import "):
        return []
    found: dict[Source, None] = {}
    for module, name, plain in _SHOWN.findall(readme.text[:MAX_README]):
        path = (module or plain).replace(".", "/")
        if path.partition("/")[0] not in names:
            continue
        tails = [path, f"{path}/{name}"] if name else [path]
        paths = [f"{base}{tail}{end}" for base in ("", "src/") for tail in tails for end in (".py", "/__init__.py")]
        found.update(dict.fromkeys(source for each in paths if (source := checkout.find(each)) is not None))
    return list(found)[:MAX_SHOWN]
