"""What is put in front of everything that a child imports: SkyPilot and its like have no place there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpu_lol_action.rehearsal.stage import PACKAGE_ROOT

GUARD = """\
import os, sys
class Guard:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"sky", "skypilot", "pandas", "ray", "runpod"}:
            with open(os.environ["GUARD_LOG"], "a") as out:
                out.write(name + "\\n")
            raise ImportError(f"{name} has no place on the light path")
sys.meta_path.insert(0, Guard())
"""


@contextmanager
def guarded(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the variables that put the guard in front; what was imported in spite of it fails the test."""
    (folder / "sitecustomize.py").write_text(GUARD)
    seen = folder / "seen"
    yield {"PYTHONPATH": f"{folder}{os.pathsep}{PACKAGE_ROOT}", "GUARD_LOG": str(seen)}
    assert not seen.exists(), f"heavy imports: {seen.read_text()}"
