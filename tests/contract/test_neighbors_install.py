"""Real pip installs what a proposal says of libraries in the same checkout, in that order and with no index at hand."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.analysis.files.located import read_in_folder

# PEP 660 by hand: a wheel that holds a path and its metadata. No index is there to bring a backend.
BACKEND = """
import zipfile
from pathlib import Path

PROJECT, ASKS = {project!r}, {asks!r}

def build_editable(folder, settings=None, metadata=None):
    name = PROJECT.replace("-", "_")
    info, wheel = name + "-1.dist-info", name + "-1-py3-none-any.whl"
    asks = "".join("Requires-Dist: " + each + "\\n" for each in ASKS)
    files = {{
        name + ".pth": str(Path("src").resolve()) + "\\n",
        info + "/METADATA": "Metadata-Version: 2.1\\nName: " + PROJECT + "\\nVersion: 1\\n" + asks,
        info + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: ours\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    files[info + "/RECORD"] = "".join(path + ",,\\n" for path in [*files, info + "/RECORD"])
    with zipfile.ZipFile(Path(folder) / wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel
"""
BUILT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def library(name: str, *asks: str) -> dict[str, str]:
    project = f'[project]\nname = "lab-{name}"\nversion = "1"\ndependencies = {list(asks)}\n'
    sources = "".join(f"{each} = {{ workspace = true }}\n" for each in asks)
    needed = "".join(f"import {each.replace('-', '_')}\n" for each in asks)
    return {
        f"libs/{name}/pyproject.toml": f"{project}{BUILT}[tool.uv.sources]\n{sources}",
        f"libs/{name}/backend.py": BACKEND.format(project=f"lab-{name}", asks=asks),
        f"libs/{name}/src/lab_{name}/__init__.py": f"{needed}NAME = '{name}'\n",
    }


def test_libraries_are_installed_from_their_folders_before_what_asks_for_them(tmp_path: Path) -> None:
    root = tmp_path / "my repository"
    files = {
        "projects/train/train.py": "import lab_core\nimport torch\nif __name__ == '__main__':\n    torch.zeros(1).cuda()\n",
        "projects/train/requirements.txt": "torch\n",
        **library("core", "lab-io", "lab-base"),
        **library("io", "lab-base"),
        **library("base"),
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    commands = analyze(read_checkout(root)).spec.dependencies.setup_commands
    assert commands == analyze(read_in_folder(root, "projects/train")).spec.dependencies.setup_commands
    assert len(commands) == 3
    venv.create(tmp_path / "machine", with_pip=True, symlinks=True)
    own = {**os.environ, "PATH": f"{tmp_path / 'machine' / 'bin'}:{os.environ['PATH']}", "PIP_NO_INDEX": "1"}
    own.pop("PYTHONPATH", None)

    def done(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bash", "-c", command], cwd=root, env=own, capture_output=True, text=True, check=False)

    # The other way round pip asks an index for what lies here, as it would ask a stranger's.
    refused = done(commands[-1])
    assert refused.returncode != 0
    assert "lab-" in refused.stderr
    for command in commands:
        installed = done(command)
        assert installed.returncode == 0, installed.stdout + installed.stderr
    told = done("python3 -c 'import lab_core; print(lab_core.NAME, lab_core.lab_io.lab_base.NAME)'")
    assert told.stdout == "core base\n", told.stderr
