"""Where the packages of projects lie that a checkout holds in folders of their own (``libs/core/src/core``).

Once such a project is installed from its folder, programs anywhere in the checkout import its packages by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

PROJECT_FILES = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
MAX_TEXT = 60_000  # characters of a project's file that are looked through
# Where a build tool is told to look: `where = ["pkg"]`, `package-dir = {"" = "pkg"}`, `packages = ["pkg/core"]` of hatch.
_WHERE = regex(
    r"""\bwhere\s{0,4}=\s{0,4}\[?\s{0,4}["']([\w./-]{1,80})["']|["']{2}\s{0,4}[=:]\s{0,4}["']([\w./-]{1,80})["']"""
)
_USUAL = ("", "src", "python", "lib")


@record(frozen=True, slots=True)
class Home:
    """The folder of a project, and the one in it below which a package lies; both empty at the root."""

    project: str
    base: str


@remembered
def homes_of(checkout: Checkout, *, with_root: bool = False) -> Mapping[str, tuple[Home, ...]]:
    """Return where packages of projects in folders lie, by the name by which they are imported.

    ``with_root``: also those of a project at the root, which are found from everywhere in it as they are.
    """
    bases = dict(_bases(checkout, with_root=with_root))
    found: dict[str, dict[Home, None]] = {}
    for source in checkout.by_path.values() if bases else ():
        if source.form is not Form.PYTHON or source.code is None:
            continue
        for base, top in _tops(source):
            if base not in bases or _has_init(checkout, base):
                continue
            # In `src` a folder needs no `__init__.py` to be a package; elsewhere it would be any folder with programs.
            if base.rpartition("/")[2] == "src" or _has_init(checkout, f"{base}/{top}"):
                found.setdefault(top, {})[Home(bases[base], base)] = None
    return {top: tuple(homes) for top, homes in found.items()}


def nearest_home(homes: Sequence[Home], folder: str) -> Home | None:
    """Return the home of which the project has most folders in common with a folder; None where two are as near."""
    ranked = sorted(homes, key=lambda home: -_common(home.project, folder))
    is_clear = len(ranked) == 1 or (
        len(ranked) > 1 and _common(ranked[0].project, folder) > _common(ranked[1].project, folder)
    )
    return ranked[0] if is_clear else None


def _common(folder: str, other: str) -> int:
    count = 0
    for one, two in zip(folder.split("/"), other.split("/"), strict=False):
        if one != two:
            break
        count += 1
    return count


def _has_init(checkout: Checkout, folder: str) -> bool:
    return f"{folder}/__init__.py".lstrip("/") in checkout.by_path


def _bases(checkout: Checkout, *, with_root: bool) -> Iterator[tuple[str, str]]:
    """Yield the folders below which the packages of a project lie, each with the project's folder."""
    for source in checkout.of(Form.TOML, Form.INI, Form.PYTHON, roles=(Role.PACKAGES,)):
        if source.name not in PROJECT_FILES:
            continue
        told = ((one or other).strip("./") for one, other in _WHERE.findall(source.text[:MAX_TEXT]))
        usual = _USUAL if source.folder or with_root else ()
        for inner in (*usual, *(each for each in told if each)):
            yield f"{source.folder}/{inner}".strip("/"), source.folder


def _tops(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the folders in which a program may be told from, each with the first word of its name there."""
    words = source.path.split("/")
    if words[-1] == "__init__.py" and len(words) > 1:
        yield "/".join(words[:-2]), words[-2]
    for place, word in enumerate(words[:-2]):
        if word == "src":
            yield "/".join(words[: place + 1]), words[place + 1]
