"""Whether `gpu-lol analyze` says the same of a repository that is written in another form: formatted, renamed, wrapped, put elsewhere.

    python benchmarks/other_forms.py ROOT [--form NAME ...] [--every 2]

ROOT is as for ``repositories.py``; what is missing is left out. Each folder is copied, written anew (``_other_forms.py``), answered,
and the copy thrown away. Printed are the answers that differ from those of the folder itself, or of another form (``unparsed`` also
loses the remarks, ``renamed`` is unparsed besides): workload, memory, number of GPUs, packages as a set, image. No form changes what
a program does, so a difference hangs on how it is written; remarks that state hardware are the exception. Nothing is executed.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _other_forms import FORMS
from repositories import analyze, folder_of, read_cases

BEFORE = {"unparsed": "no-remarks", "renamed": "unparsed"}
FIELDS = ("workload_type", "vram_required_gb", "needed_gib", "gpu_count", "base_image")


def answer_in(form: str, folder: Path) -> dict[str, Any] | None:
    """Return what is said of a copy of a folder in another form; None where that failed."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / folder.name
        shutil.copytree(folder, copy, symlinks=True, ignore_dangling_symlinks=True)
        FORMS[form](copy)
        return analyze(copy)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return what two answers say differently, in words."""
    found = [f"{field} {old[field]} -> {new[field]}" for field in FIELDS if old[field] != new[field]]
    gone, added = (set(one["requirements"]) - set(other["requirements"]) for one, other in ((old, new), (new, old)))
    return found + ([f"packages -{sorted(gone)} +{sorted(added)}"] if gone or added else [])


def main() -> None:
    """Print the differences of each form, and how many folders have some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--form", nargs="*", choices=tuple(FORMS), default=list(FORMS))
    parser.add_argument("--every", type=int, default=1, help="take every n-th folder")
    asked = parser.parse_args()
    folders = list(dict.fromkeys(folder_of(asked.root, case).resolve() for case in read_cases(None)))
    folders = [folder for folder in folders if folder.is_dir() and any(folder.iterdir())][:: asked.every]
    changed: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for folder in folders:
        known: dict[str, dict[str, Any] | None] = {"": analyze(folder)}
        for form in asked.form:
            before = BEFORE.get(form, "")
            for name in (before, form):
                if name not in known:
                    known[name] = answer_in(name, folder)
            old, new = known[before], known[form]
            if old is None or new is None:
                failed[form] += 1
            elif said := differences(old, new):
                changed[form] += 1
                print(f"{form}: {folder.parent.name}/{folder.name}: {'; '.join(said)}"[:400])
    for form in asked.form:
        print(f"{form:12} {changed[form]:4} of {len(folders)} said otherwise, {failed[form]} failed")


if __name__ == "__main__":
    main()
