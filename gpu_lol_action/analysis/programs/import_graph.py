"""Which files of the checkout a program pulls in: what its imports mean here."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.neighbors import programs_in
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.added_paths import added_folders
from gpu_lol_action.analysis.programs.outer_packages import without_outer
from gpu_lol_action.analysis.programs.project_imports import MAX_NAMES, files_below, files_in_projects
from gpu_lol_action.analysis.python.code import Import

MAX_CLOSURE = 60
STEPS = 3
MAX_DOTS = 12
LEAST_WORDS = 4  # of a dotted name that may begin outside of the checkout: shorter ones are libraries'
LEAST_SIBLINGS = 12  # modules of one folder that a script pulls in, from which on they are a collection
LEAST_STEM = 4
FEW_FETCHED = 4  # modules that one module imports in its functions; one with more has a choice of them
LEAST_LISTED = 8  # modules whose classes a package lists, from which on one of them says nothing of the others
MAX_ABOVE = 6  # folders above a program from which it may be started


@remembered
def import_closure(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the script and the files of this checkout that it imports, directly or over two others; at most 60.

    Of a package that lists many modules' classes only those are followed whose classes are taken from it by name; of a folder
    of as many modules, where the script names the class of one, only that one and what it imports.
    """
    found = {script: None}
    level: dict[Source, frozenset[str] | None] = {script: None}
    for _ in range(STEPS):
        inner: dict[Source, frozenset[str] | None] = {}
        for source, names in level.items():
            for item, targets in _followed(checkout, source, names):
                taken = _classes(item) if targets else None
                for target in targets:
                    known = inner.get(target, taken)
                    inner[target] = None if taken is None or known is None else known | taken
        level = {source: names for source, names in inner.items() if source not in found}
        found.update(dict.fromkeys(level))
        if len(found) >= MAX_CLOSURE:
            break
    return _without_siblings(checkout, script, tuple(found))[:MAX_CLOSURE]


@remembered
def imported_at_once(checkout: Checkout, script: Source) -> frozenset[Source]:
    """Return what a script pulls in as soon as it starts, and what its own functions import: not what modules fetch when they are asked.

    A loader of many data sets imports in its functions what only one of them takes. A module beside the script that fetches a few
    others from there is a part of the program, written to start sooner.
    """
    beside = (source for source in local_imports(checkout, script) if source.folder == script.folder != "")
    parts = {source: _fetched_by(checkout, source) for source in beside if source.name != "__init__.py"}
    few = {s for s, own in parts.items() if len(own) <= FEW_FETCHED and all(part.folder == s.folder for part in own)}
    return imported_over(checkout, script, lambda source, item: source is script or not item.is_lazy or source in few)


def _fetched_by(checkout: Checkout, source: Source) -> frozenset[Source]:
    """Return the files that a file imports in its functions."""
    return frozenset(target for item, targets in _imported(checkout, source) if item.is_lazy for target in targets)


@remembered
def imported_unguarded(checkout: Checkout, script: Source) -> frozenset[Source]:
    """Return what a script pulls in whatever happens, or when one of its own functions is called: nothing behind ``try`` or ``if``."""
    return imported_over(
        checkout, script, lambda source, item: not item.is_optional or (source is script and item.is_lazy)
    )


def imported_over(checkout: Checkout, script: Source, counts: Callable[[Source, Import], bool]) -> frozenset[Source]:
    """Return the files that a script pulls in over imports that count, as far as a closure goes."""
    found, level = {script}, [script]
    for _ in range(STEPS):
        inner: set[Source] = set()
        for source in level:
            for item, targets in _imported(checkout, source):
                inner.update(targets if targets and counts(source, item) else ())
        level = sorted(inner - found, key=lambda source: source.path)
        found |= inner
    return frozenset(found)


def loaded_at_start(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the script and the files of this checkout that it imports whatever happens, over any number of others; at most 60."""
    found = {script: None}
    waiting = [script]
    while waiting and len(found) < MAX_CLOSURE:
        source = waiting.pop()
        imports = _imported(checkout, source)
        new = [target for item, targets in imports if not item.is_optional for target in targets]
        waiting += [target for target in new if target not in found]
        found.update(dict.fromkeys(new))
    return tuple(found)


def _without_siblings(checkout: Checkout, script: Source, found: tuple[Source, ...]) -> tuple[Source, ...]:
    """Return a closure without modules beside the one whose class the script names (``AutoNHITS``: ``models/nhits.py``)."""
    named = [name.lower() for item in script.code.imports for name in _classes(item) or ()] if script.code else []
    folders: dict[str, list[Source]] = {}
    for source in found[1:]:
        if source.name != "__init__.py" and source.folder != script.folder:
            folders.setdefault(source.folder, []).append(source)
    left: set[Source] = set()
    asked = frozenset(local_imports(checkout, script))  # what the script itself names is no sibling of something else
    for members in folders.values() if named else ():
        meant = [s for s in members if len(stem := _stem(s)) >= LEAST_STEM and any(stem in name for name in named)]
        if len(members) < LEAST_SIBLINGS or not meant or 2 * len(meant) > len(members):
            continue
        needed = {*asked, *meant, *(inner for source in meant for inner in local_imports(checkout, source))}
        left |= {source for source in members if source not in needed}
    return tuple(source for source in found if source not in left)


def _stem(source: Source) -> str:
    return source.name.removesuffix(".py").replace("_", "")


def _classes(item: Import) -> frozenset[str] | None:
    """Return the classes that an import takes by name; None where it takes anything else."""
    names = frozenset(item.names)
    return names if names and all(name[:1].isupper() and "_" not in name for name in names) else None


def _followed(
    checkout: Checkout, source: Source, names: frozenset[str] | None
) -> tuple[tuple[Import, Sequence[Source]], ...]:
    """Return the imports of a file that count where only these of its classes are wanted; all where they are not found there."""
    imports = _imported(checkout, source)
    if names is None or not source.path.endswith("/__init__.py"):
        return imports
    given = [pair for pair in imports if names & frozenset(pair[0].names)]
    top = source.path.removeprefix("src/").partition("/")[0]
    own = [item for item, _ in imports if item.module.startswith(".") or item.module.partition(".")[0] == top]
    lists = sum(_classes(item) is not None for item in own)
    is_whole = names <= frozenset(name for item, _ in given for name in item.names)
    return tuple(given) if is_whole and lists >= LEAST_LISTED else imports


@remembered
def local_imports(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the files of this checkout that a script imports directly."""
    return tuple(dict.fromkeys(found for _, targets in _imported(checkout, script) for found in targets))


@remembered
def _imported(checkout: Checkout, source: Source) -> tuple[tuple[Import, Sequence[Source]], ...]:
    """Return the imports of a file with the files of this checkout that each means: every closure that it is in asks for them."""
    imports = source.code.imports if source.code is not None else ()
    return tuple((item, targets_of(checkout, source, item)) for item in imports)


def targets_of(checkout: Checkout, script: Source, item: Import) -> Sequence[Source]:
    """Return the files of this checkout that one import means."""
    if item.module.partition(".")[0] not in _own_words(checkout):  # a library's: most imports are
        return _from_outer(checkout, item) or _from_larger_tree(checkout, item.module)
    here, inits = _meant(checkout, script.folder, item.module, item.names)
    # Without a module of that name it is one that the package itself defines.
    here = here or tuple(source for source in inits if source is not script)
    here = here or _from_added(checkout, script, item) or files_in_projects(checkout, script, item)
    return here or _from_outer(checkout, item) or _from_larger_tree(checkout, item.module)


def _from_added(checkout: Checkout, script: Source, item: Import) -> tuple[Source, ...]:
    """Return the files that an import means in folders that the program puts on its search path."""
    bases = () if item.module.startswith(".") else added_folders(checkout, script)
    return files_below(checkout, [base.rstrip("/") for base in bases], item)


@remembered
def _meant(
    checkout: Checkout, folder: str, module: str, names: tuple[str, ...]
) -> tuple[tuple[Source, ...], tuple[Source, ...]]:
    """Return the files that an import means in a folder, and the packages whose own name it may be; its files import much alike."""
    bases = _bases(folder, module)
    tail = module.lstrip(".").replace(".", "/")
    # What is taken from a folder may be a module of it (`from models import unet`).
    tails = [tail, *(f"{tail}/{name}" for name in names[:MAX_NAMES])]
    paths = [f"{base}{tail}{end}" for base in bases for tail in tails for end in (".py", "/__init__.py")]
    here = tuple(source for path in paths if (source := checkout.find(path)) is not None)
    if here or not module.startswith("."):
        return here, ()
    inits = [checkout.find(_joined(base, tail.rpartition("/")[0], "__init__.py")) for base in bases]
    return here, tuple(source for source in inits if source is not None)


def _from_outer(checkout: Checkout, item: Import) -> list[Source]:
    """Return what an import means whose first words are the name of this very folder in a larger tree."""
    inner = without_outer(checkout, item.module) if not item.module.startswith(".") else None
    if inner is None:
        return []
    tail = inner.replace(".", "/")
    tails = [*([tail] if tail else []), *(f"{tail}/{name}".lstrip("/") for name in item.names[:MAX_NAMES])]
    paths = [f"{each}{end}" for each in tails for end in (".py", "/__init__.py")]
    if not tail:  # the folder itself, as a package
        paths.append("__init__.py")
    return [source for path in paths if (source := checkout.find(path)) is not None]


@remembered
def _own_words(checkout: Checkout) -> frozenset[str]:
    """Return the words with which an import may begin that means a file of this checkout; nothing for what is relative."""
    paths = (path.removesuffix(".py") for path in checkout.by_path if path.endswith(".py"))
    return frozenset({"", *(word for path in paths for word in path.split("/"))})


def _from_larger_tree(checkout: Checkout, module: str) -> list[Source]:
    """Return the module that an import means as it is called in a larger tree, of which the checkout is a folder (``a.b.c.tools.train``)."""
    words = module.split(".")
    if not LEAST_WORDS <= len(words) <= MAX_DOTS or module.startswith(".") or words[0] in GPU_MODULES:
        return []
    tails = ("/".join(words[cut:]) for cut in range(1, len(words) - 1))
    return [source for tail in tails if (source := checkout.find(f"{tail}.py")) is not None][:1]


def _bases(folder: str, module: str) -> list[str]:
    """Return where an import may start: a program is started from any folder above it, and packages lie at the root or in ``src``."""
    dots = len(module) - len(module.lstrip("."))
    prefixes = _prefixes(folder)
    if dots:
        return prefixes[dots - 1 : dots]
    return list(dict.fromkeys(["", "src/", *prefixes[:MAX_ABOVE]]))


@functools.lru_cache(maxsize=256)
def _prefixes(folder: str) -> list[str]:
    """Return a folder and those above it, as paths of what lies in them begin."""
    folders = [folder]
    while folders[-1]:
        folders.append(folders[-1].rpartition("/")[0])
    return [f"{each}/" if each else "" for each in folders]


def _joined(*parts: str) -> str:
    return "/".join(part.strip("/") for part in parts if part.strip("/"))


@remembered
def is_imported(checkout: Checkout, source: Source) -> bool:
    """Whether another program of this checkout imports it.

    Its neighbors are looked at first, for they import most; and only files that have the module's name in a line of an import. What
    a package itself defines is imported without its name, but only from within.
    """
    stem = source.path.rpartition("/")[2].removesuffix(".py")
    inside = ""
    if stem == "__init__" and source.folder:
        stem, inside = source.folder.rpartition("/")[2], f"{source.folder}/"
    return any(
        other is not source
        and (stem == "__init__" or _may_import(other, stem) or (inside and other.path.startswith(inside)))
        and source in local_imports(checkout, other)
        for other in itertools.chain(programs_in(checkout, source.folder), checkout.of(Form.PYTHON))
    )


def _may_import(source: Source, name: str) -> bool:
    return source.code is not None and source.code.may_import(name)


def module_source(checkout: Checkout, module: str) -> Source | None:
    """Return the file that ``python -m module`` runs: the module, or its package's ``__main__``; by its last words in a sub-folder."""
    if module.count(".") > MAX_DOTS:
        return None
    path = module.replace(".", "/")
    for base in ("", "src/"):
        for end in (".py", "/__main__.py"):
            if (source := checkout.find(f"{base}{path}{end}")) is not None:
                return source
    if "." not in module:
        return None
    # A checkout may be a folder of the package.
    tails = [path.split("/", cut)[-1] for cut in range(1, path.count("/") + 1)]
    found = next((s for tail in tails if tail.count("/") and (s := checkout.find(f"{tail}.py"))), None)
    # Its programs may call the folder itself by all words but the last (``baselines.ppo1.run_atari``).
    inner = without_outer(checkout, module) if found is None else None
    if inner:
        return checkout.find(f"{inner.replace('.', '/')}.py")
    # Or the last folder of a long name itself (``examples.train.async.main_async``).
    is_long = found is None and module.count(".") >= LEAST_WORDS - 1
    return checkout.find(f"{path.rpartition('/')[2]}.py") if is_long else found
