"""A project in a folder of its own is answered for as if that were the root, and its places are told as they are."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, unlisted_models
from gpu_lol_action.analysis.files.checkout import Checkout, read_checkout
from gpu_lol_action.analysis.files.project_folder import MAX_OUTSIDE, project_folder
from gpu_lol_action.domain.finding import Evidence
from tests.support.projects import TRAIN, project

Build = Callable[[Mapping[str, str]], Checkout]
"""Adds files to one folder, and reads it."""
EXAMPLES = Path(__file__).parents[4] / "examples"
TRAINING = TRAIN.replace("model =", "from ops import kernel\nmodel =", 1)
PROJECT = project(10, TRAINING)
BESIDE = {
    "README.md": "# Acme\n\nOur services.\n",
    "web/tsconfig.yaml": "strict: true\n",
    "web/start.sh": "npm start\n",
}


def below(folder: str, files: Mapping[str, str] = PROJECT) -> dict[str, str]:
    return {**BESIDE, **{f"{folder}/{path}": text for path, text in files.items()}}


def written(folder: Path, files: Mapping[str, str]) -> Checkout:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return read_checkout(folder)


def evidences(value: object) -> Iterator[Evidence]:
    if isinstance(value, Evidence):
        yield value
    elif isinstance(value, (tuple, frozenset)):
        for item in value:
            yield from evidences(item)
    elif is_dataclass(value):
        for each in fields(value):
            yield from evidences(getattr(value, each.name))


@pytest.mark.parametrize("folder", ["ml", "services/ml", "my ml"])
def test_the_folder_of_the_only_project_is_its_root(tmp_path: Path, folder: str) -> None:
    tree = written(tmp_path / "whole", below(folder))
    assert project_folder(tree) == folder
    inner, whole = analyze(written(tmp_path / "inner", PROJECT)), analyze(tree)
    assert whole.spec == inner.spec
    assert [(f.field, f.confidence) for f in whole.findings] == [(f.field, f.confidence) for f in inner.findings]
    named = [place.path for place in evidences(whole) if place.path not in {"", "."}]
    assert named
    assert {path for path in named if tree.find(path) is None} == set()
    assert whole.first is not None
    assert whole.first.command == f"python {folder}/train.py --batch-size 32"
    assert any(f"{folder}/README.md:3" in finding.why for finding in whole.findings)


@pytest.mark.parametrize(
    "beside",
    [
        {"README.md": "# Acme\n\nRun `python ml/train.py`.\n"},
        {"GUIDE.md": "# Acme\n\nNeeds a card with 40 GB of GPU memory.\n"},
        {"requirements.txt": "flask\n"},
        {".python-version": "3.12\n"},
        {"api/main.py": "print(1)\n"},
        {"Dockerfile": "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n"},
        {"docker-compose.yml": "services:\n  a:\n    runtime: nvidia\n"},
        {f"pages/{number}.md": "text\n" for number in range(MAX_OUTSIDE + 1)},
    ],
    ids=lambda files: next(iter(files)),
)
def test_a_root_that_has_to_do_with_the_project_stays_the_root(checkout: Build, beside: Mapping[str, str]) -> None:
    assert project_folder(checkout({**below("ml"), **beside})) == ""


def test_a_folder_without_a_readme_of_its_own_is_a_part(tmp_path: Path) -> None:
    files = {path: text for path, text in PROJECT.items() if path != "README.md"}
    assert (
        project_folder(written(tmp_path / "a", {**BESIDE, **{f"src/{path}": text for path, text in files.items()}}))
        == ""
    )
    assert project_folder(written(tmp_path / "b", PROJECT)) == ""
    assert project_folder(written(tmp_path / "c", {"LICENSE": ""})) == ""


def test_configurations_alone_are_a_project_too(checkout: Build) -> None:
    config = "base_model: meta-llama/Llama-3.2-1B\nadapter: lora\nmicro_batch_size: 2\nsequence_len: 2048\n"
    readme = "```\naxolotl train lora.yaml\n```\n"
    assert (
        project_folder(checkout({"README.md": "# Acme\n", "tune/lora.yaml": config, "tune/README.md": readme}))
        == "tune"
    )


def test_set_up_is_done_in_the_folder_and_what_a_file_says_stays(tmp_path: Path) -> None:
    ops = {
        "ops/setup.py": "from setuptools import setup\nfrom torch.utils.cpp_extension import CUDAExtension\nsetup(name='ops', ext_modules=[CUDAExtension('ops', ['a.cu'])])\n",
        "README.md": f"```\ncd ops && pip install -e .\n```\n{PROJECT['README.md']}",
    }
    inner = analyze(written(tmp_path / "inner", {**PROJECT, **ops}))
    tree = written(tmp_path / "whole", below("my ml", {**PROJECT, **ops}))
    whole = analyze(tree)
    commands = inner.spec.dependencies.setup_commands
    assert commands
    assert whole.spec.dependencies.setup_commands == tuple(f"(cd 'my ml' && {command})" for command in commands)
    text = "dependencies:\n  setup_commands:\n  - make kernels\n"
    told = analyze(replace(tree, spec_text=text), text)
    assert told.spec.dependencies.setup_commands == ("make kernels",)


def test_what_was_left_out_of_the_whole_is_still_told(tmp_path: Path) -> None:
    written(tmp_path, below("ml"))
    (tmp_path / "ml" / "broken.py").write_text("import torch\nx = = 1\ny = 2\nz = 3\n", encoding="utf-8")
    (tmp_path / "ml" / "link.py").symlink_to(tmp_path / "ml" / "train.py")
    analysis = analyze(read_checkout(tmp_path))
    assert any("ml/link.py" in gap for gap in analysis.not_understood)
    assert any("ml/broken.py:2" in gap for gap in analysis.not_understood)
    assert analysis.files_read == len(below("ml")) + 1
    assert analysis.files_skipped == 1


def test_an_example_below_says_the_same_of_the_same_lines(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "qwen-lora-sft", tmp_path / "ml")
    alone, whole = analyze(read_checkout(tmp_path / "ml")), analyze(read_checkout(tmp_path))
    assert whole.spec == alone.spec
    moved = [Evidence(f"ml/{place.path}", place.line) if place.path else place for place in evidences(alone.findings)]
    assert list(evidences(whole.findings)) == moved


def test_a_look_up_asks_for_the_models_of_the_project(tmp_path: Path) -> None:
    train = (
        TRAINING.replace("resnet50()", "AutoModel.from_pretrained('acme/unheard-of-net')")
        + "from transformers import AutoModel\n"
    )
    tree = written(tmp_path, below("ml", {**PROJECT, "train.py": train}))
    hints = unlisted_models(tree)
    assert [hint.value for hint in hints] == ["acme/unheard-of-net"]
    found = [f for f in analyze(tree, hints=hints).findings if f.value == "acme/unheard-of-net"]
    assert {f.evidence.path for f in found} == {"ml/train.py"}
