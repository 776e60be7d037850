"""Folders from which a program may import because it puts them on Python's search path (``sys.path.insert(0, join(here, "../lib"))``).

Papers' code keeps its library in ``lib/`` and its programs in ``tools/``, and a module of two lines (``_init_paths.py``) joins them.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex

MAX_TEXT = 20_000  # characters of a program that are looked through
MAX_LINES = 12
MAX_FOLDERS = 4
_ADDS = regex(r"sys\.path|add_path|\bjoin\(|Path\(")
_WORD = regex(r"[\"']([\w.\-/]{1,80})[\"']")
_STARTS = frozenset({"", ".", "..", "~"})
# Other people's projects beside one's own.
_OF_OTHERS = regex(r"(?:^|/)(?:third_?party|3rd_?party|submodules?|externals?|extern|vendor\w{0,3}|deps|repos)(?:/|$)")


@remembered
def added_folders(checkout: Checkout, script: Source) -> tuple[str, ...]:
    """Return the folders of the checkout, as paths that end in a slash, that a program or its module of paths adds to ``sys.path``."""
    found = dict.fromkeys(_added_by(checkout, script))
    code = script.code
    for item in code.imports if code is not None and script.mentions("path") else ():
        if "path" in item.module and "." not in item.module:
            path = f"{script.folder}/{item.module}.py" if script.folder else f"{item.module}.py"
            beside = checkout.find(path)
            if beside is not None and beside is not script:
                found.update(dict.fromkeys(_added_by(checkout, beside)))
    return tuple(found)[:MAX_FOLDERS]


@remembered
def _added_by(checkout: Checkout, source: Source) -> tuple[str, ...]:
    """Return the folders that one file's own lines add: what they name lies beside it, above it, or at the root."""
    if source.form is not Form.PYTHON or not source.mentions("sys.path"):
        return ()
    found: dict[str, None] = {}
    lines = [line for line in source.text[:MAX_TEXT].split("\n") if _ADDS.search(line)]
    lines.sort(key=lambda line: "sys.path" not in line and "add_path" not in line)
    for line in lines[:MAX_LINES]:
        words = [word for text in _WORD.findall(line) for word in text.split("/") if word not in _STARTS]
        tail = "/".join(words)
        if not tail or _OF_OTHERS.search(tail):
            continue
        here = next((f"{base}{tail}/" for base in _above(source.folder) if f"{base}{tail}" in _folders(checkout)), None)
        if here is not None:
            found[here] = None
    return tuple(found)


def _above(folder: str) -> list[str]:
    """Return a folder and those above it, the root last, as beginnings of paths."""
    words = folder.split("/") if folder else []
    return ["/".join(words[:count]) + "/" * bool(count) for count in range(len(words), -1, -1)]


@remembered
def _folders(checkout: Checkout) -> frozenset[str]:
    """Return all folders that hold modules, and those above them."""
    held = {source.folder for source in checkout.of(Form.PYTHON) if source.folder}
    return frozenset(
        "/".join(folder.split("/")[:count]) for folder in held for count in range(1, folder.count("/") + 2)
    )
