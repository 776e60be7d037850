"""A checkout whose project lies where its operator says, so that what lies beside it does not count."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gpu_lol_action.analysis.files.checkout import MAX_FILE_BYTES, SPEC_FILE, TOO_MANY, Checkout, read_checkout
from gpu_lol_action.analysis.files.tree import UNREADABLE, open_tree
from gpu_lol_action.analysis.formats.paths import Form, Role, folders_above, role_of
from gpu_lol_action.analysis.formats.texts import text_of
from gpu_lol_action.domain.folders import folder_meant, folder_of, unknown_project
from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.errors import SpecError

MAX_ABOVE = 40  # folders above one that are looked at for its checkout


def read_in_folder(root: Path, folder: str, like: Checkout | None = None) -> Checkout:
    """Read a tree with its project in ``folder``; an empty one leaves it to be looked for. ``like`` is as for ``read_checkout``."""
    checkout = read_checkout(root, like, folder)
    return _located(checkout, folder, like) if folder else checkout


def named_folders(root: Path) -> tuple[tuple[str, ...], str]:
    """Return the folders in which a checkout's own policy file says that projects are, and why that cannot be told.

    A policy that is not valid names none: what it says of limits is its bot's, and does not stop who only asks.
    """
    with open_tree(root) as tree:
        policy = tree.read(POLICY_PATH, MAX_FILE_BYTES) if tree is not None else UNREADABLE
    if isinstance(policy, str):
        return (), ""
    from gpu_lol_action.domain.policy_yaml import parse_policy  # hardly any checkout has one

    try:
        return parse_policy(text_of(policy)).project_folders, ""
    except SpecError as error:
        return (), f"where projects lie was not read of the policy: {error.explanation.what}"


def standing_in(folder: Path) -> tuple[Path, str]:
    """Return the root of the checkout that a folder lies in, and its path from there; the folder itself where it is no checkout's.

    What git itself is not asked for: the root is the nearest folder above that has a `.git`.
    """
    here = folder.resolve()
    root = next((each for each in (here, *list(here.parents)[:MAX_ABOVE]) if (each / ".git").exists()), here)
    return root, "" if root == here else here.relative_to(root).as_posix()


def named_project(folder: Path, *, is_inside: bool) -> tuple[Path, str]:
    """Return the root of the checkout around a folder, and the project that its policy names there; an empty one where it names none.

    ``is_inside``: whoever stands somewhere in a project means it all; whoever names a folder below it means that folder.
    """
    root, place = standing_in(folder)
    named = folder_of(place, named_folders(root)[0]) if place else ""
    return root, named if is_inside or named == place else ""


def project_asked(folder: Path, asked: str, *, is_inside: bool) -> tuple[Path, str]:
    """Return the root of a checkout and the project in it that is asked for; as ``named_project`` where none is.

    Raises UserError where the root has no such folder, or it holds nothing that is read. A path of a folder that is no checkout's counts from that folder.
    """
    if not asked:
        return named_project(folder, is_inside=is_inside)
    root = standing_in(folder)[0]
    named = named_folders(root)[0]
    project = folder_meant(asked, named)
    if holds_project(root, project):
        return root, project
    raise unknown_project(project, named)


def built_above(folder: Path, checkout: Checkout) -> str:
    """Return the path of a folder in the checkout around it, where a module that it imports lies above it; empty where none does."""
    root, place = standing_in(folder)
    if not place:
        return ""
    imported = {name for each in checkout.sources if each.code is not None for name in each.code.imported()}
    own = {path.partition("/")[0].removesuffix(".py") for path in checkout.by_path}
    names = imported - sys.stdlib_module_names - own
    homes = [root / above / source for above in ("", *folders_above(place)) for source in ("", "src")]
    return place if any(name in names for home in homes for name in _modules_in(home)) else ""


def _modules_in(home: Path) -> Iterator[str]:
    """Yield the names of modules and packages that lie in a folder."""
    try:
        inside = list(home.iterdir())
    except OSError:
        return
    for each in inside:
        if each.suffix == ".py" or (each / "__init__.py").is_file():
            yield each.stem if each.suffix == ".py" else each.name


def holds_project(root: Path, folder: str) -> bool:
    """Whether a tree has a folder with something in it that is read, and no link on the way to it."""
    place = root / folder
    is_there = place.is_dir() and place.resolve() == root.resolve() / folder
    return is_there and read_in_folder(root, folder).project == folder


def in_folder(checkout: Checkout, folder: str, like: Checkout | None = None) -> Checkout | None:
    """Return a tree that was read whole as ``read_in_folder`` reads it; None where it has to be read anew for that.

    So it has where the folder's own name kept programs in it out (`benchmarks`), and where a bound cut the tree.
    """
    is_kept_out = role_of(f"{folder}/train.py", Form.PYTHON) is Role.ASIDE
    is_cut = any(TOO_MANY in note for note in checkout.notes)
    return None if is_kept_out or is_cut else _located(checkout, folder, like)


def _with_own_spec(checkout: Checkout) -> Checkout:
    """Return a checkout with the spec of its project: the folder's own file, else the root's; a new one belongs into the folder."""
    path = f"{checkout.project}/{SPEC_FILE}"
    own = checkout.find(path)
    if own is not None:
        return replace(checkout, spec_text=own.text, spec_path=path)
    return checkout if checkout.spec_text is not None else replace(checkout, spec_path=path)


def _located(checkout: Checkout, folder: str, like: Checkout | None) -> Checkout:
    """Return a checkout with its project in a folder, or with a note that this holds nothing.

    A commit that it is compared with has it where that one has: a project that is new is compared with nothing, and a whole tree
    with a whole one.
    """
    has_it = any(path.startswith(f"{folder}/") for path in checkout.by_path) if like is None else like.project == folder
    if has_it:
        return _with_own_spec(replace(checkout, project=folder))
    missing = f"`{folder}`, in which the project is said to be, holds nothing that is read"
    return replace(checkout, notes=(missing, *checkout.notes))
