"""Folders of a repository as people write them: which one is meant, and what is none."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from gpu_lol_action.errors import UserError

# A path from the root, and nothing that leads out of it or that YAML or a sentence could take for anything else.
FOLDER_PATTERN = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9_.](?:(?:[A-Za-z0-9 ._+@-]|/(?!\.{0,2}(?:/|$))){0,198}[A-Za-z0-9._+@-])?"


def read_folder_name(text: str) -> str | None:
    """Return the path from the root that a word writes, without `./` before it or a slash behind it; None where it is none."""
    path = text.removeprefix("./").removesuffix("/")
    return path if re.fullmatch(FOLDER_PATTERN, path) else None


def folder_meant(text: str, named: Sequence[str]) -> str:
    """Return the named folder that a path means: by its whole path, or by its last part where that is only one's."""
    if text in named:
        return text
    ends = [folder for folder in named if folder.endswith(f"/{text}")] if text else []
    return ends[0] if len(ends) == 1 else text


def folder_of(path: str, named: Collection[str]) -> str:
    """Return the named folder in which a path lies, of folders in one another the inner one; empty where it lies in none."""
    around = [folder for folder in named if path == folder or path.startswith(f"{folder}/")]
    return max(around, key=len, default="")


def is_word(folder: str) -> bool:
    """Whether a folder can be named in a comment's command as it stands, and is nothing but a folder there."""
    return " " not in folder and read_folder_name(folder) == folder


def unknown_project(folder: str, named: Sequence[str], *, is_set: bool = False) -> UserError:
    """Return what is told where a repository has no such folder; ``named`` are those that its policy names.

    ``is_set``: it was set for the pull request when it was still there.
    """
    names = ", ".join(f"`{each}`" for each in named)
    why = f"The policy names {names}." if names else "A project is named by its path from the repository's root."
    if is_set:
        what = f"The project that was set for this pull request is gone: there is no folder `{folder}`."
        return UserError("unknown_project", what, why=why, fix="/gpu-lol set project=auto")
    what = f"There is no folder `{folder}` in the repository, or nothing in it that is read."
    other = next((each for each in named if each != folder and is_word(each)), "")
    fix = f"Name another folder: `--project {other}`." if other else "Name another folder."
    return UserError("unknown_project", what, why=why, fix=fix)
