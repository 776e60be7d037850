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
from gpu_lol_action.domain.proposal_note import ProposalNote, note_from_json, note_to_json
from gpu_lol_action.domain.request import PullRequest
from gpu_lol_action.errors import TransientError, UserError
from gpu_lol_action.handlers.chosen_project import Choice, machine_name, settled
from tests.unit.handlers.conftest import Bench

SEVERAL = Policy(project_folders=("a", "b", "c"))


@pytest.fixture(autouse=True)
def projects(bench: Bench) -> None:
    written(bench.forge.folder, {f"{place}/train.py": "" for place in ("a", "a/deep", "b", "c")})


def chosen(bench: Bench, changed: Iterable[str], pull: PullRequest, policy: Policy = SEVERAL) -> tuple[str, ...]:
    """Return the projects that are left, by both ways to it: a tree that was read, and one that is asked for."""
    bench.forge.changed = set(changed)
    whole = read_checkout(bench.forge.folder)
    subject = Choice(bench.context, pull, policy, whole).subject(ProposalNote())
    for is_sure in (False, True):
        assert Choice(bench.context, pull, policy, is_sure=is_sure).subject(ProposalNote()) == subject
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
    assert Choice(bench.context, bench.forge.pull, SEVERAL).subject(ProposalNote()).project == "a"
    with pytest.raises(TransientError):  # but not where a machine would be rented for it
        settled(bench.context, bench.order(policy=SEVERAL))
    assert settled(bench.context, bench.order(policy=SEVERAL, project="b")).project == "b"


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


@pytest.mark.parametrize(
    ("asked", "folder"),
    [
        ("research/llm", "research/llm"),
        ("llm", "research/llm"),  # the end of one alone
        ("c", "c"),
        ("examples/other", "examples/other"),  # no policy has to name it
        ("vision", "vision"),  # a folder's own path comes before the end of another's
    ],
)
def test_the_project_that_is_asked_for_is_meant(bench: Bench, asked: str, folder: str) -> None:
    places = ("research/llm", "labs/vision", "vision", "examples/other")
    written(bench.forge.folder, {f"{place}/train.py": "" for place in places})
    policy = Policy(project_folders=("c", "research/llm", "labs/vision", "vision"))
    order = settled(bench.context, bench.order(policy=policy, project=asked))
    assert (order.policy.project_folders, order.project) == ((folder,), folder)
    assert machine_name(order, "") == environment_name(5, 12, f"{folder}:")
    assert machine_name(order, "big") == environment_name(5, 12, f"{folder}:big")
    assert settled(bench.context, order) is order


def test_a_profile_called_as_a_project_is_another_machine(bench: Bench) -> None:
    profile = settled(bench.context, bench.order(policy=Policy(), profile="a"))
    project = settled(bench.context, bench.order(policy=Policy(), project="a"))
    assert machine_name(profile, "a") != machine_name(project, "")


def test_the_only_project_is_no_choice(bench: Bench) -> None:
    for asked in ("", "b"):
        order = settled(bench.context, bench.order(policy=Policy(project_folders=("b",)), project=asked))
        assert (order.policy.project_folders, order.project) == (("b",), "")
        assert machine_name(order, "") == environment_name(5, 12)


def test_a_folder_that_is_not_there_is_refused_with_those_that_are_named(bench: Bench) -> None:
    written(bench.forge.folder, {"x": "", "pictures/cat.png": ""})
    for asked in ("research", "x", "a/train.py", "pictures"):
        with pytest.raises(UserError) as refused:
            settled(bench.context, bench.order(policy=SEVERAL, project=asked))
        assert f"There is no folder `{asked}` in the repository, or nothing in it" in refused.value.explanation.what
        assert refused.value.explanation.why == "The policy names `a`, `b`, `c`."


def test_a_folder_whose_programs_are_looked_at_only_where_it_is_named_is_there(bench: Bench) -> None:
    written(bench.forge.folder, {"benchmarks/train.py": "import torch\n"})
    assert settled(bench.context, bench.order(policy=SEVERAL, project="benchmarks")).project == "benchmarks"


def test_a_link_is_no_folder_of_the_repository(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "train.py").write_text("")
    (bench.forge.folder / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(UserError):
        settled(bench.context, bench.order(project="link"))


def test_a_named_folder_that_the_head_does_not_have_is_passed_over(bench: Bench) -> None:
    gone = Policy(project_folders=("gone", "b"))
    assert chosen(bench, {"gone/train.py"}, bench.forge.pull, gone) == ("b",)
    assert chosen(bench, (), replace(bench.forge.pull, number=0), gone) == ("b",)


def test_where_the_head_has_no_named_folder_at_all_nothing_is_rented(bench: Bench) -> None:
    lost = Policy(project_folders=("gone", "away"))
    assert Choice(bench.context, bench.forge.pull, lost).subject(ProposalNote()).project == "gone"
    with pytest.raises(UserError):
        settled(bench.context, bench.order(policy=lost))


# --- what was set --------------------------------------------------------------------------------------------
def set_to(project: str | None = None, *, vram_gib: int, about: str = "") -> ProposalNote:
    return ProposalNote(Corrections(vram_gib, project=project), about=about or project or "")


def test_what_was_set_for_the_pull_request_comes_before_what_it_changes(bench: Bench) -> None:
    bench.forge.changed = {"b/train.py"}
    note = set_to("c", vram_gib=48)
    for policy in (SEVERAL, Policy()):
        subject = Choice(bench.context, bench.forge.pull, policy).subject(note)
        assert (subject.policy.project_folders, subject.project, subject.note) == (("c",), "c", note)


def test_what_was_said_of_one_projects_machine_is_not_said_of_anothers(bench: Bench) -> None:
    bench.forge.changed = {"b/train.py"}
    for note, same in ((set_to(about="b", vram_gib=48), "b"), (set_to("c", vram_gib=48), "c")):
        choice = Choice(bench.context, bench.forge.pull, SEVERAL)
        assert [asked for asked in "abc" if choice.subject(note, asked).note.corrections.vram_gib] == [same]
    # A push may make it about another one.
    moved = set_to(about="b", vram_gib=48)
    bench.forge.changed = {"a/train.py"}
    assert Choice(bench.context, bench.forge.pull, SEVERAL).subject(moved).note.corrections == Corrections()


def test_a_set_project_that_is_gone_is_told_and_nothing_is_rented_instead(bench: Bench) -> None:
    bench.forge.changed = {"b/train.py"}
    policy, note = Policy(project_folders=("a", "b")), set_to("gone", vram_gib=48)
    subject = Choice(bench.context, bench.forge.pull, policy).subject(note)
    assert (subject.project, subject.gone, subject.note.corrections.vram_gib) == ("b", "gone", None)
    with pytest.raises(UserError) as refused:
        Choice(bench.context, bench.forge.pull, policy, is_sure=True).subject(note)
    assert refused.value.explanation.fix == "/gpu-lol set project=auto"
    assert Choice(bench.context, bench.forge.pull, policy, is_sure=True).subject(note, "a").project == "a"


def test_another_project_starts_without_the_corrections_of_the_one_before() -> None:
    def given(note: ProposalNote, project: str, *changes: Correction) -> Corrections:
        return note.on(project).corrected(changes, "ada").corrections

    first = ProposalNote().on("a").corrected([Correction("vram", 48)], "ada")
    assert given(first, "a", Correction("project", "a")) == replace(Corrections(), project="a", vram_gib=48)
    assert given(first, "b", Correction("count", 2), Correction("project", "b")) == replace(
        Corrections(), project="b", gpu_count=2
    )
    assert given(first, "a", Correction("count", 2)).vram_gib == 48
    assert note_from_json(note_to_json(first)) == first
