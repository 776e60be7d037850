"""A folder that a command names and no file lies in: the one that it may have been renamed to."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.formats.paths import nearest_folder


@pytest.mark.parametrize(
    ("folders", "named", "place"),
    [
        (("baseline", "mmt"), "mtmt", 1),
        (
            ("scripts/cogvideox_fun", "scripts/flux", "scripts/z_image"),
            "scripts/xxx",
            0,
        ),  # what stands for any is none of them
        (("a/train_v1", "a/train_v2"), "a/trainv2", 1),
        (("b", "c"), "/home/me/project", 0),
        (("b", "c"), "", 0),
        (("b",), "c", 0),
        ((), "c", 0),
    ],
)
def test_the_folder_that_is_spelled_alike_is_taken(folders: tuple[str, ...], named: str, place: int) -> None:
    assert nearest_folder(folders, named) == place
