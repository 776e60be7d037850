"""What is told of requirements that were installed in another way than they are asked for."""

from __future__ import annotations

import pytest

from gpu_lol_action.domain.environment import CheckStatus
from gpu_lol_action.launch.setup import parse_setup_output
from gpu_lol_action.launch.setup_notes import read_notes

NONCE = "0123456789abcdef"


def test_nothing_is_told_of_an_install_as_usual() -> None:
    assert read_notes(["start requirements", "end requirements 0 12", "done"]) == ()


def test_each_kind_is_told_once_with_all_its_names() -> None:
    notes = read_notes(
        ["note older pip<24.1", "note older setuptools<81", "note older setuptools<66 wheel<0.40", "note older setuptools<81", "note open",
         "note aside fsspec", "note aside Other_Pack"]
    )  # fmt: skip

    assert [note.sentence for note in notes] == [
        "Installed with older tools, which an old package needs: `pip<24.1`, `setuptools<81`, `setuptools<66 wheel<0.40`.",
        "Built in sight of what is installed: a package imports for its build what it does not name.",
        "The other requirements contradict `fsspec`, `Other_Pack`: they were installed last, as asked for.",
    ]
    assert {(note.name, note.status, bool(note.fix)) for note in notes} == {("set-up", CheckStatus.NOTED, True)}


def test_what_took_the_place_of_the_images_own_is_told_with_its_release() -> None:
    notes = read_notes(["note moved torch==2.6.0", "note moved torchvision==0.21.0", "note moved torch==2.6.0"])
    assert [note.sentence for note in notes] == [
        "The image's `torch` 2.6.0, `torchvision` 0.21.0 gave way: the requirements ask for other releases."
    ]
    assert "CUDA" in notes[0].fix


def test_one_that_waited_and_did_not_help_is_not_told() -> None:
    notes = read_notes(["note aside torch", "note as_asked"])
    assert [note.sentence for note in notes] == [
        "The requirements contradict each other: each was installed as it is asked for."
    ]


@pytest.mark.parametrize(
    "line", ["note aside ](https://evil.example) @all", "note older rm -rf", "note older setuptools<81`", "note aside ", "note",
             "note moved torch", "note moved torch==$(id)", "note moved <b>==2"]
)  # fmt: skip
def test_what_is_not_ours_is_not_repeated(line: str) -> None:
    assert read_notes([line]) == ()


def test_a_failed_set_up_tells_its_failure_alone() -> None:
    lines = ["start requirements", "note open", "end requirements 1 3"]
    reading = parse_setup_output("".join(f"::gpu-lol-setup {NONCE} {line}\n" for line in lines), NONCE)

    assert reading.failed is not None
    assert reading.notes == ()


def test_programs_that_guess_the_marker_tell_nothing() -> None:
    said = ["::gpu-lol-setup x note open", f"::gpu-lol-setup {NONCE} done"]
    assert parse_setup_output("\n".join(said), NONCE).notes == ()
