from __future__ import annotations

from gpu_lol_action.analysis.files.neighbors import programs_in
from tests.unit.analysis.conftest import Build


def test_programs_lie_in_their_folder_and_not_in_those_below(checkout: Build) -> None:
    tree = checkout({"a.py": "", "b.md": "", "src/c.py": "", "src/d.ipynb": "{}", "src/deep/e.py": ""})
    said = {folder: [source.path for source in programs_in(tree, folder)] for folder in ("", "src", "src/deep", "docs")}
    assert said == {"": ["a.py"], "src": ["src/c.py"], "src/deep": ["src/deep/e.py"], "docs": []}
