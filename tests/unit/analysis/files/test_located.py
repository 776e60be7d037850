"""A project in the folder that the policy names is answered for like that folder alone, whatever lies beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze, unlisted_models
from gpu_lol_action.analysis.files import checkout as reading
from gpu_lol_action.analysis.files.checkout import Checkout, read_checkout
from gpu_lol_action.analysis.files.located import (
    in_folder,
    named_folders,
    named_project,
    read_in_folder,
    standing_in,
)
from gpu_lol_action.analysis.files.project_folder import project_folder
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.errors import SpecError
from tests.support.projects import TRAIN, project

PROJECT = project(10)
BESIDE = {
    "README.md": "# Acme\n\nTrained on 8 A100 80GB.\n\n```\npython llm/train.py\n```\n",
    "requirements.txt": "flask\n",
    "llm/train.py": "from transformers import AutoModelForCausalLM, Trainer\nmodel = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-70b-hf')\nTrainer(model).train()\n",
    "llm/requirements.txt": "transformers\ndeepspeed\n",
    "web/app.py": "import flask\n",
}


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def whole(folder: Path, name: str, files: Mapping[str, str] = PROJECT) -> Path:
    return written(folder, {**BESIDE, **{f"{name}/{path}": text for path, text in files.items()}})


def shown(checkout: Checkout) -> list[object]:
    return [(s.path, s.role, s.content, s.code is None) for s in checkout.sources] + [*checkout.notes, checkout.project]


def answer(analysis: Analysis) -> list[object]:
    return [analysis.spec, [(f.field, f.confidence) for f in analysis.findings]]


@pytest.mark.parametrize("name", ["nets", "research/nets", "my nets", "benchmarks/nets", "docs/nets", "tests"])
def test_the_answer_is_that_of_the_folder_alone(tmp_path: Path, name: str) -> None:
    root = whole(tmp_path / "whole", name)
    checkout = read_in_folder(root, name)
    assert project_folder(checkout) == name
    alone = analyze(read_checkout(written(tmp_path / "alone", PROJECT)))
    told = analyze(checkout)
    assert answer(told) == answer(alone)
    assert told.spec.hardware.vram_required_gb == 10
    assert told.first is not None
    assert f"{name}/train.py" in told.first.command.replace("'", "")
    assert answer(analyze(read_checkout(root))) != answer(alone)


@pytest.mark.parametrize(
    ("name", "is_enough"), [("nets", True), ("research/nets", True), ("benchmarks/nets", False), ("tests", False)]
)
def test_what_was_read_whole_does_for_the_folder_or_is_read_anew(tmp_path: Path, name: str, is_enough: bool) -> None:
    root = whole(tmp_path, name)
    moved = in_folder(read_checkout(root), name)
    assert (moved is not None) is is_enough
    if moved is not None:
        assert shown(moved) == shown(read_in_folder(root, name))


def test_a_bound_cuts_what_lies_beside_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = whole(tmp_path, "z/nets")
    monkeypatch.setattr(reading, "MAX_FILES", 4)
    assert in_folder(read_checkout(root), "z/nets") is None
    kept = {source.path for source in read_in_folder(root, "z/nets").sources}
    assert kept > {f"z/nets/{path}" for path in PROJECT}


def test_a_folder_that_is_not_there_is_said_and_all_is_looked_at(tmp_path: Path) -> None:
    root = whole(tmp_path, "nets")
    told = analyze(read_in_folder(root, "net"))
    assert told.not_understood.count("`net`, in which the project is said to be, holds nothing that is read") == 1
    assert answer(told) == answer(analyze(read_checkout(root)))
    moved = in_folder(read_checkout(root), "net")
    assert moved is not None
    assert shown(moved) == shown(read_in_folder(root, "net"))


def test_a_folder_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    outside = written(tmp_path / "outside", PROJECT)
    root = written(tmp_path / "whole", BESIDE)
    (root / "nets").symlink_to(outside)
    checkout = read_in_folder(root, "nets")
    assert checkout.project == ""
    assert not any(path.startswith("nets/") for path in checkout.by_path)


def test_no_folder_leaves_the_project_to_be_looked_for(tmp_path: Path) -> None:
    root = written(tmp_path, {f"ml/{path}": text for path, text in PROJECT.items()})
    assert project_folder(read_in_folder(root, "")) == "ml"
    assert shown(read_in_folder(root, "")) == shown(read_checkout(root))


def test_a_project_may_lie_deeper_than_the_only_one(tmp_path: Path) -> None:
    root = written(tmp_path, {f"ml/a/{path}": text for path, text in PROJECT.items()})
    inner = {f"ml/b/{path}": text.replace("10 GB", "20 GB") for path, text in PROJECT.items()}
    told = analyze(read_in_folder(written(root, inner), "ml/b"))
    assert told.spec.hardware.vram_required_gb == 20


def test_within_the_folder_the_only_project_is_looked_for(tmp_path: Path) -> None:
    root = whole(tmp_path, "team/nets")
    checkout = read_in_folder(root, "team")
    assert project_folder(checkout) == "team/nets"
    alone = analyze(read_checkout(root / "team"))
    assert answer(analyze(checkout)) == answer(alone)
    assert alone.first is not None
    assert alone.first.command == "python nets/train.py --batch-size 32"


def test_a_look_up_asks_for_the_models_of_the_folder(tmp_path: Path) -> None:
    train = "from transformers import AutoModel\n" + TRAIN.replace(
        "resnet50()", "AutoModel.from_pretrained('acme/unheard-of-net')"
    )
    root = whole(tmp_path, "nets", {**PROJECT, "train.py": train})
    assert [hint.value for hint in unlisted_models(read_in_folder(root, "nets"))] == ["acme/unheard-of-net"]


@pytest.mark.parametrize(
    ("policy", "folders"),
    [
        ("analysis: {folders: [research/nets, llm]}\n", ("research/nets", "llm")),
        ("analysis: {hub: true}\n", ()),
        ("analysis: {folders: [../outside]}\n", ()),
        ("analysis: [\n", ()),
        ("", ()),
        (None, ()),
    ],
)
def test_a_checkouts_own_policy_names_the_folders(tmp_path: Path, policy: str | None, folders: tuple[str, ...]) -> None:
    root = whole(tmp_path, "research/nets")
    if policy is not None:
        written(root, {".github/gpu-lol.yml": policy})
    named, problem = named_folders(root)
    assert named == folders
    is_wrong = policy is not None and ("../" in policy or policy.endswith("[\n"))
    assert problem.startswith("where projects lie was not read of the policy: ") is is_wrong
    assert is_wrong or not problem


def test_a_policy_that_is_no_file_of_the_checkout_names_nothing(tmp_path: Path) -> None:
    outside = written(tmp_path / "outside", {"gpu-lol.yml": "analysis: {folders: [research/nets]}\n"})
    root = whole(tmp_path / "whole", "research/nets")
    (root / ".github").symlink_to(outside)
    assert named_folders(root) == ((), "")
    (root / ".github").unlink()
    (root / ".github").mkdir()
    (root / ".github" / "gpu-lol.yml").symlink_to(outside / "gpu-lol.yml")
    assert named_folders(root) == ((), "")
    (root / ".github" / "gpu-lol.yml").unlink()
    os.mkfifo(root / ".github" / "gpu-lol.yml")
    assert named_folders(root) == ((), "")
    assert named_folders(root / "not there") == ((), "")


def test_a_project_that_is_new_is_compared_with_nothing(tmp_path: Path) -> None:
    head = read_in_folder(whole(tmp_path / "head", "research/nets"), "research/nets")
    before = written(tmp_path / "base", BESIDE)
    for base in (
        read_in_folder(before, "research/nets", head),
        in_folder(read_checkout(before), "research/nets", head),
    ):
        assert base is not None
        assert base.project == "research/nets"
        assert not base.notes
        assert not analyze(base).spec.needs_gpu


def test_a_project_that_is_gone_leaves_all_of_both_to_be_compared(tmp_path: Path) -> None:
    before = whole(tmp_path / "base", "research/nets")
    head = read_in_folder(written(tmp_path / "head", BESIDE), "research/nets")
    for base in (
        read_in_folder(before, "research/nets", head),
        in_folder(read_checkout(before), "research/nets", head),
    ):
        assert base is not None
        assert base.project == head.project == ""
        assert base.notes == head.notes


@pytest.mark.parametrize(
    ("place", "is_inside", "project"),
    [
        ("research/nets", True, "research/nets"),
        ("research/nets/deep/er", True, "research/nets"),
        ("research/nets", False, "research/nets"),
        ("research/nets/deep/er", False, ""),
        ("research/netsuite", True, ""),
        ("research", True, ""),
        (".", True, ""),
    ],
)
def test_whoever_stands_in_a_project_means_it(tmp_path: Path, place: str, is_inside: bool, project: str) -> None:
    root = whole(tmp_path / "whole", "research/nets")
    written(root, {".github/gpu-lol.yml": "analysis: {folders: [llm, research/nets]}\n", ".git/HEAD": "ref: main\n"})
    (root / place).mkdir(parents=True, exist_ok=True)
    assert named_project(root / place, is_inside=is_inside) == (root, project)
    assert standing_in(root / place) == (root, "" if place == "." else place)


def test_a_folder_of_no_checkout_is_its_own_root(tmp_path: Path) -> None:
    root = whole(tmp_path / "whole", "research/nets")
    written(root, {".github/gpu-lol.yml": "analysis: {folders: [research/nets]}\n"})
    inner = root / "research" / "nets"
    assert standing_in(inner) == (inner, "")
    assert named_project(inner, is_inside=True) == (inner, "")


@pytest.mark.parametrize(
    ("files", "path", "gigabytes"),
    [
        ({}, "research/nets/.gpu-lol.yaml", 10),
        ({".gpu-lol.yaml": "33"}, ".gpu-lol.yaml", 33),
        ({"research/nets/.gpu-lol.yaml": "44"}, "research/nets/.gpu-lol.yaml", 44),
        ({".gpu-lol.yaml": "33", "research/nets/.gpu-lol.yaml": "44"}, "research/nets/.gpu-lol.yaml", 44),
        ({".gpu-lol.yaml": "33", "llm/.gpu-lol.yaml": "44"}, ".gpu-lol.yaml", 33),
    ],
)
def test_a_folders_own_spec_counts_before_the_roots(
    tmp_path: Path, files: dict[str, str], path: str, gigabytes: int
) -> None:
    root = whole(tmp_path, "research/nets")
    written(root, {where: f"hardware: {{vram_required_gb: {size}}}\n" for where, size in files.items()})
    for checkout in (read_in_folder(root, "research/nets"), in_folder(read_checkout(root), "research/nets")):
        assert checkout is not None
        analysis = analyze(checkout, checkout.spec_text)
        assert (analysis.spec_place, analysis.spec.hardware.vram_required_gb) == (path, gigabytes)
        assert analysis.spec_path == (path if files else None)


def test_what_is_wrong_in_a_folders_spec_is_named_with_its_path(tmp_path: Path) -> None:
    root = written(whole(tmp_path, "research/nets"), {"research/nets/.gpu-lol.yaml": "hardwear: {gpu_type: A40}\n"})
    checkout = read_in_folder(root, "research/nets")
    with pytest.raises(SpecError, match=r"research/nets/\.gpu-lol\.yaml"):
        analyze(checkout, checkout.spec_text)


def test_a_folders_spec_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    outside = written(tmp_path / "outside", {"spec.yaml": "hardware: {vram_required_gb: 77}\n"})
    root = whole(tmp_path / "whole", "research/nets")
    (root / "research" / "nets" / ".gpu-lol.yaml").symlink_to(outside / "spec.yaml")
    checkout = read_in_folder(root, "research/nets")
    assert checkout.spec_text is None


def test_what_no_file_says_is_said_of_the_folder(tmp_path: Path) -> None:
    files = {"lib/cython/setup.py": "from setuptools import setup\nsetup(name='c')\n", "lib/cython/a.py": "x = 1\n"}
    (workload,) = [
        f for f in analyze(read_in_folder(written(tmp_path, files), "lib/cython")).findings if f.field == "workload"
    ]
    assert workload.evidence.path.startswith("lib/cython")
