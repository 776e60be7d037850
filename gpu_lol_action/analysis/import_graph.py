"""Which files of the checkout a program pulls in: what its imports mean here."""

from __future__ import annotations

import itertools

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.paths import Form

MAX_CLOSURE = 60
STEPS = 3
MAX_DOTS = 12


@remembered
def import_closure(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the script and the files of this checkout that it imports, directly or over two others; at most 60."""
    found = {script: None}
    level = [script]
    for _ in range(STEPS):
        inner = dict.fromkeys(item for source in level for item in local_imports(checkout, source))
        level = [source for source in inner if source not in found]
        found.update(dict.fromkeys(level))
        if len(found) >= MAX_CLOSURE:
            break
    return tuple(found)[:MAX_CLOSURE]


@remembered
def local_imports(checkout: Checkout, script: Source) -> tuple[Source, ...]:
    """Return the files of this checkout that a script imports directly."""
    if script.code is None:
        return ()
    found: list[Source] = []
    for item in script.code.imports:
        tail = item.module.lstrip(".").replace(".", "/")
        # A relative import starts at the script's own folder; an absolute one there, at the root, or in `src`.
        own = [f"{script.folder}/" if script.folder else ""]
        bases = own if item.module.startswith(".") else ["", "src/", *own]
        paths = [f"{base}{tail}{end}" for base in dict.fromkeys(bases) for end in (".py", "/__init__.py")]
        found.extend(source for path in paths if (source := checkout.find(path)) is not None)
    return tuple(dict.fromkeys(found))


@remembered
def is_imported(checkout: Checkout, source: Source) -> bool:
    """Whether another program of this checkout imports it.

    Its neighbors are looked at first, for they import most; and only files in which the module's name stands somewhere.
    """
    stem = source.path.rpartition("/")[2].removesuffix(".py")
    words = [stem] if stem != "__init__" else [stem, source.folder.rpartition("/")[2]]
    return any(
        other is not source and any(other.mentions(word) for word in words) and source in local_imports(checkout, other)
        for other in itertools.chain(_neighbors(checkout, source.folder), checkout.of(Form.PYTHON))
    )


@remembered
def _neighbors(checkout: Checkout, folder: str) -> tuple[Source, ...]:
    return tuple(source for source in checkout.of(Form.PYTHON) if source.folder == folder)


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
    return next((s for tail in tails if tail.count("/") and (s := checkout.find(f"{tail}.py"))), None)
