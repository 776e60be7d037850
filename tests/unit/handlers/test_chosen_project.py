"""Which of several projects a pull request is about, and what an order for one of them means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_lol_action.analysis.files.checkout import read_checkout
from gpu_lol_action.domain.corrections import Correction, Corrections
from gpu_lol_action.domain.names import environment_name
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import PullRequest
from gpu_lol_action.errors import TransientError, UserError
from gpu_lol_action.handlers.chosen_project import machine_name, settled, subject_of
from tests.unit.handlers.conftest import Bench

SEVERAL = Policy(project_folders=("a", "b", "c"))


def chosen(bench: Bench, changed: Iterable[str], pull: PullRequest, policy: Policy = SEVERAL) -> tuple[str, ...]:
    """Return the projects that are left, by both ways to it: a tree that was read, and one that is asked for."""
    bench.forge.changed = set(changed)
    whole = read_checkout(bench.forge.folder)
    subject = subject_of(bench.context, pull, policy, ProposalNote(), whole=whole)
    assert subject_of(bench.context, pull, policy, ProposalNote()) == subject
    assert subject.project == ("" if len(policy.project_folders) == 1 else subject.policy.project_folder)
    return subject.policy.project_folders


def written(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("changed", "number", "folder"),
    [
        ({"b/train.py", "README.md"}, 7, "b"),
        ({"b/train.py", "a/train.py"}, 7, "a"),  # the order of the policy decides, not that of the names
        ({"c/x.py"}, 7, "c"),
        ({"other/train.py", "ab/train.py"}, 7, "a"),
        (set(), 7, "a"),
        ({"b/train.py"}, 0, "a"),  # a terminal, or a schedule
    ],
)
def test_a_pull_request_is_about_the_first_project_that_it_changes(
    bench: Bench, changed: set[str], number: int, folder: str
) -> None:
    assert chosen(bench, changed, replace(bench.forge.pull, number=number)) == (folder,)


def test_of_folders_in_one_another_the_inner_one_is_changed(bench: Bench) -> None:
    nested = Policy(project_folders=("a", "a/deep", "b"))
    assert chosen(bench, {"a/deep/train.py"}, bench.forge.pull, nested) == ("a/deep",)
    assert chosen(bench, {"a/deep/train.py", "a/x.py"}, bench.forge.pull, nested) == ("a",)
    assert chosen(bench, {"a/deeper.py"}, bench.forge.pull, nested) == ("a",)


def test_one_project_is_that_one_whatever_is_changed(bench: Bench) -> None:
    one = Policy(project_folders=("b",))
    assert chosen(bench, {"a/train.py"}, bench.forge.pull, one) == ("b",)


def test_where_it_is_not_told_what_changed_the_first_project_is_meant(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_words: str) -> frozenset[str]:
        raise TransientError("github_unavailable", "GitHub is away")

    monkeypatch.setattr(bench.forge, "changed_paths", refuse)
    assert chosen(bench, (), bench.forge.pull) == ("a",)


@pytest.mark.parametrize(
    ("changed", "folder"),
    [
        ({"libs/core/src/acme_core/models.py"}, "b"),
        ({"libs/core/pyproject.toml"}, "b"),
        ({"src/diffusers/pipelines/flux.py"}, "c"),  # of a library that is known by its name
        ({"libs/other.py", "docs/index.md"}, "a"),
        ({"libs/core/src/acme_core/models.py", "c/train.py"}, "c"),
    ],
)
def test_else_about_the_first_that_is_built_on_what_it_changes(bench: Bench, changed: set[str], folder: str) -> None:
    files = {
        "a/train.py": "import torch\n",
        "b/train.py": "import torch\nfrom acme_core import models\n",
        "c/train.py": "import torch\nimport diffusers\n",
        "libs/core/pyproject.toml": '[project]\nname = "acme-core"\n',
        "libs/core/src/acme_core/models.py": "",
        "libs/other.py": "",
        "setup.py": "from setuptools import setup\nsetup(name='diffusers')\n",
        "src/diffusers/__init__.py": "",
        "src/diffusers/pipelines/flux.py": "",
        "docs/index.md": "# Acme\n",
    }
    written(bench.forge.folder, files)
    assert chosen(bench, changed, bench.forge.pull) == (folder,)


def set_to(project: str | None = None, **more: object) -> ProposalNote:
    return ProposalNote(replace(Corrections(), project=project, **more))  # type: ignore[arg-type]  # keyword bag


@pytest.mark.parametrize(
    ("asked", "folder", "label"),
    [
        ("research/llm", "research/llm", "research/llm"),
        ("llm", "research/llm", "research/llm"),  # the end of one alone
        ("c", "c", "c"),
        ("examples/other", "examples/other", "examples/other"),  # no policy has to name it
        ("vision", "vision", "vision"),  # a folder's own path comes before the end of another's
    ],
)
def test_the_project_that_is_asked_for_is_meant(bench: Bench, asked: str, folder: str, label: str) -> None:
    places = ("research/llm", "labs/vision", "vision", "c", "examples/other")
    written(bench.forge.folder, {f"{place}/train.py": "" for place in places})
    policy = Policy(project_folders=("c", "research/llm", "labs/vision", "vision"))
    order = settled(bench.context, bench.order(policy=policy, project=asked))
    assert (order.policy.project_folders, order.project) == ((folder,), label)
    assert machine_name(order, "") == environment_name(5, 12, label)
    assert machine_name(order, "big") == environment_name(5, 12, f"{label}:big")
    assert settled(bench.context, order) is order


def test_the_only_project_is_no_choice(bench: Bench) -> None:
    written(bench.forge.folder, {"b/train.py": ""})
    for asked in ("", "b"):
        order = settled(bench.context, bench.order(policy=Policy(project_folders=("b",)), project=asked))
        assert (order.policy.project_folders, order.project) == (("b",), "")
        assert machine_name(order, "") == environment_name(5, 12)


def test_a_folder_that_is_not_there_is_refused_with_those_that_are_named(bench: Bench) -> None:
    written(bench.forge.folder, {"a/train.py": "", "x": ""})
    for asked in ("research", "x", "a/train.py"):
        with pytest.raises(UserError) as refused:
            settled(bench.context, bench.order(policy=SEVERAL, project=asked))
        assert refused.value.explanation.what == f"There is no folder `{asked}` in the repository."
        assert refused.value.explanation.why == "The policy names `a`, `b`, `c`."


def test_a_link_is_no_folder_of_the_repository(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (bench.forge.folder / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(UserError):
        settled(bench.context, bench.order(project="link"))


def test_what_was_set_for_the_pull_request_comes_before_what_it_changes(bench: Bench) -> None:
    written(bench.forge.folder, {f"{place}/train.py": "" for place in "abc"})
    bench.forge.changed = {"b/train.py"}
    note = set_to("c", vram_gib=48)
    subject = subject_of(bench.context, bench.forge.pull, SEVERAL, note)
    assert (subject.policy.project_folders, subject.project, subject.note) == (("c",), "c", note)
    elsewhere = subject_of(bench.context, bench.forge.pull, Policy(), note)
    assert (elsewhere.policy.project_folders, elsewhere.project) == (("c",), "c")


def test_what_was_said_of_one_projects_machine_is_not_said_of_anothers(bench: Bench) -> None:
    written(bench.forge.folder, {f"{place}/train.py": "" for place in "abc"})
    bench.forge.changed = {"b/train.py"}
    for note, same in ((set_to(vram_gib=48), "b"), (set_to("c", vram_gib=48), "c")):
        about = {asked: subject_of(bench.context, bench.forge.pull, SEVERAL, note, asked) for asked in "abc"}
        assert [asked for asked in "abc" if about[asked].note.corrections.vram_gib] == [same]


def test_a_set_project_that_is_gone_is_left_out_with_what_was_set_for_it(bench: Bench) -> None:
    written(bench.forge.folder, {f"{place}/train.py": "" for place in "ab"})
    bench.forge.changed = {"b/train.py"}
    subject = subject_of(bench.context, bench.forge.pull, SEVERAL, set_to("c", vram_gib=48))
    assert (subject.policy.project_folders, subject.note.corrections) == (("b",), Corrections())
    assert bench.progress.notes == ["Left out: what was set for `c`, because that folder is gone."]


def test_another_project_starts_without_the_corrections_of_the_one_before() -> None:
    first = Corrections().with_changes([Correction("project", "a"), Correction("vram", 48)])
    assert first == replace(Corrections(), project="a", vram_gib=48)
    assert first.with_changes([Correction("project", "a"), Correction("count", 2)]).vram_gib == 48
    assert first.with_changes([Correction("count", 2), Correction("project", "b")]) == replace(
        Corrections(), project="b", gpu_count=2
    )
    assert first.with_changes([Correction("project", None)]) == Corrections()
