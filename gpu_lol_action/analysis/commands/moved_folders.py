"""The folder in which a command is started: a document or a script goes there first (``cd detection && python train.py``).

Folders are kept as they are said, one behind the other (``net/detection``): the first may be the clone itself, whose name the
checkout does not tell, so that they are looked for from any of them on.
"""

from __future__ import annotations

import posixpath

from gpu_lol_action.analysis.commands.program_configs import plain_path
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.domain.patterns import regex

_MOVES = regex(r"\(?\s*(?:builtin\s+)?(?:cd|pushd)\s+(?:--\s+)?[\"']?(?!-[\"']?\s*$)([\w./+-]{1,200})[\"']?\s*$")
_RETURNS = regex(r"(?:popd|cd(?:\s+(?:-|~\S*|[\"']?[$/`].{0,200}))?)\s*$")
MAX_PARTS = 12


def moved(folder: str, text: str) -> str:
    """Return the folder in which the next command is started, behind one part of a line; the same where that goes nowhere."""
    if "cd" not in text and "p" not in text[:2]:
        return folder
    if (found := _MOVES.match(text)) is not None and not found[1].startswith("/"):
        path = posixpath.normpath(posixpath.join(folder, found[1]))
        return "" if path == "." or path.count("/") >= MAX_PARTS else path
    return "" if found is not None or _RETURNS.match(text) else folder


def found_there(checkout: Checkout, document: str, folder: str, name: str) -> Source | None:
    """Return the file that a name means in a folder that was gone to, from a document's own folder or the root; None where there is none."""
    own = document.rpartition("/")[0]
    near = checkout.find(plain_path(f"{own}/{folder}/{name}")) if own else None
    parts = [part for part in folder.split("/") if part != ".."]
    paths = (plain_path("/".join([*parts[start:], name])) for start in range(len(parts)))
    return near or next((source for path in paths if (source := checkout.find(path)) is not None), None)


def is_outside(checkout: Checkout, document: str, folder: str) -> bool:
    """Whether a folder lies beside the checkout, which is then a folder of a larger tree (``cd ../../Tokenizer``).

    One step up and down again may lead back into the clone, whose name is not known.
    """
    path = posixpath.normpath(posixpath.join(document.rpartition("/")[0], folder))
    parts = path.split("/")
    if parts[:2] != ["..", ".."] or parts[-1] == "..":
        return False
    inner = "/".join(part for part in parts if part != "..")
    return not any(f"/{inner}/" in f"/{source.path}" for source in checkout.sources)
