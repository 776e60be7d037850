"""What is said of a project in a folder that is built on the repository around it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.answer.llm_excerpts import excerpts
from gpu_lol_action.analysis.files.located import read_in_folder
from gpu_lol_action.domain.analysis import Analysis

TRAIN = (
    "import torch\nfrom transformers import Trainer, TrainingArguments\nfrom acme_core.models import make\n"
    "if __name__ == '__main__':\n"
    "    args = TrainingArguments(output_dir='out', per_device_train_batch_size=4, bf16=True)\n"
    "    Trainer(model=make(), args=args).train()\n"
)
LIBRARY = {
    "libs/core/pyproject.toml": '[build-system]\nrequires=["hatchling"]\n[project]\nname="acme-core"\ndependencies=["einops"]\n',
    "libs/core/src/acme_core/__init__.py": "",
    "libs/core/src/acme_core/models.py": (
        "from transformers import AutoModelForCausalLM\ndef make():\n"
        "    return AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf')\n"
    ),
}
PROJECT = {"projects/train/train.py": TRAIN, "projects/train/requirements.txt": "torch\ntransformers\n"}


def analyzed(root: Path, files: Mapping[str, str], folder: str = "projects/train") -> Analysis:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return analyze(read_in_folder(root, folder))


def test_a_library_beside_it_says_what_is_loaded_and_is_installed(tmp_path: Path) -> None:
    analysis = analyzed(tmp_path, {**PROJECT, **LIBRARY})
    assert analysis.spec.dependencies.setup_commands == ("python3 -m pip install -e ./libs/core",)
    assert {"einops", "torch", "transformers"} <= set(analysis.spec.dependencies.requirements)
    assert (analysis.spec.hardware.needed_gib or 0) > 60
    (model,) = [f for f in analysis.findings if f.field == "model.id"]
    assert (model.value, model.evidence.path) == ("meta-llama/Llama-2-7b-hf", "libs/core/src/acme_core/models.py")
    (setup,) = [f for f in analysis.findings if f.field == "dependencies.setup_commands"]
    assert setup.value == "python3 -m pip install -e ./libs/core"
    assert setup.why == "the project in `libs/core` is installed: `acme_core` is imported from outside of its folder"
    assert not any(".." in each for f in analysis.findings for each in (f.value, f.why, f.evidence.path))


def test_an_example_tries_the_library_of_its_own_repository(tmp_path: Path) -> None:
    train = TRAIN.replace("acme_core.models", "peft")
    files = {
        "examples/sft/train.py": train,
        "examples/sft/requirements.txt": "torch\ntransformers\npeft>=0.4\n",
        "setup.py": "from setuptools import setup\nsetup(name='peft', package_dir={'': 'src'}, install_requires=['psutil'])\n",
        "src/peft/__init__.py": "",
    }
    analysis = analyzed(tmp_path, files, "examples/sft")
    assert analysis.spec.dependencies.setup_commands == ("python3 -m pip install -e .",)
    assert not any(each.startswith("peft") for each in analysis.spec.dependencies.requirements)
    assert "psutil" in analysis.spec.dependencies.requirements
    # Kept at an older release, that is what it is for.
    files["examples/sft/requirements.txt"] = "torch\ntransformers\npeft==0.4\n"
    analysis = analyzed(tmp_path, files, "examples/sft")
    assert analysis.spec.dependencies.setup_commands == ()
    assert "peft==0.4" in analysis.spec.dependencies.requirements


def test_a_list_above_is_the_list_of_a_folder_without_one(tmp_path: Path) -> None:
    files = {
        "projects/train/train.py": "import torch\ntorch.zeros(1).cuda()\n",
        "requirements.txt": "torch==2.5.1\nlion-pytorch\n",
    }
    analysis = analyzed(tmp_path, files)
    assert {"torch==2.5.1", "lion-pytorch"} <= set(analysis.spec.dependencies.requirements)


def test_a_table_of_dependencies_above_counts_too(tmp_path: Path) -> None:
    files = {
        "projects/train/train.py": "import torch\ntorch.zeros(1).cuda()\n",
        "pyproject.toml": '[project]\nname="all"\ndependencies=["torch","lion-pytorch"]\n[tool.uv]\npackage=false\n',
    }
    assert "lion-pytorch" in analyzed(tmp_path, files).spec.dependencies.requirements


def test_modules_above_that_nothing_installs_are_told(tmp_path: Path) -> None:
    files = {
        "projects/train/train.py": TRAIN.replace("acme_core.models", "common.models"),
        "projects/train/requirements.txt": "torch\ntransformers\n",
        "common/models.py": LIBRARY["libs/core/src/acme_core/models.py"],
    }
    analysis = analyzed(tmp_path, files)
    told = "`common` (projects/train/train.py:3) lies above the project's folder and nothing installs it: it needs `.` on PYTHONPATH"
    assert told in analysis.not_understood
    assert (analysis.spec.hardware.needed_gib or 0) > 60
    files = {path.replace("projects/train", "train"): text for path, text in files.items()}
    (told,) = (each for each in analyzed(tmp_path / "up", files, "train").not_understood if "PYTHONPATH" in each)
    assert told.endswith("it needs `.` on PYTHONPATH")
    files = {path.replace("train/", "projects/train/"): text for path, text in files.items()}
    files["projects/train/train.py"] = "import sys\nsys.path.append('../..')\n" + files["projects/train/train.py"]
    assert not any("PYTHONPATH" in each for each in analyzed(tmp_path, files).not_understood)


def test_the_library_alone_is_not_what_the_project_is(tmp_path: Path) -> None:
    """A library that trains by itself is not started for a project that only takes its helpers."""
    files = {
        **PROJECT,
        **LIBRARY,
        "libs/core/src/acme_core/train.py": TRAIN.replace("acme_core.models", "acme_core.big"),
        "libs/core/README.md": "Needs 8x A100 80GB.\n```\ntorchrun --nproc_per_node 8 -m acme_core.train\n```\n",
    }
    analysis = analyzed(tmp_path, files)
    assert analysis.first is not None
    assert analysis.first.name.startswith("train")
    assert not any("A100" in f.why for f in analysis.findings)
    assert all(profile.evidence.path.startswith("projects/train/") for profile in analysis.profiles)


def test_a_language_model_is_shown_the_lines_of_the_library_that_decide(tmp_path: Path) -> None:
    files = {
        **PROJECT,
        **LIBRARY,
        "libs/core/src/acme_core/secret.py": "# nothing of this decides\n",
        "libs/core/README.md": "# Core\n\nNeeds 8x A100 80GB.\n",
        "projects/other/README.md": "# Other\n\nNeeds 40 GB.\n",
    }
    analysis = analyzed(tmp_path, files)
    shown = {each["path"]: each["text"] for each in excerpts(read_in_folder(tmp_path, "projects/train"), analysis)}
    assert "meta-llama/Llama-2-7b-hf" in shown["libs/core/src/acme_core/models.py"]
    assert set(shown) <= {*PROJECT, "libs/core/src/acme_core/models.py"}


def test_folders_may_be_called_anything(tmp_path: Path) -> None:
    odd = {path.replace("libs/core", "libs/$(touch x)"): text for path, text in LIBRARY.items()}
    project = {path.replace("projects/train", "pro jects/a;b"): text for path, text in PROJECT.items()}
    analysis = analyzed(tmp_path, {**project, **odd}, "pro jects/a;b")
    (command,) = analysis.spec.dependencies.setup_commands
    echoed = subprocess.run(
        ["bash", "-c", command.replace("python3 -m pip", "printf '%s|'")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert echoed.stdout == "install|-e|../../libs/$(touch x)|"
    assert not (tmp_path / "x").exists()
