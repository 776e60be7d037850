"""On a Python that packages have left, what no list bounds stays at the last release with a build."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.packages.last_builds import with_last_builds
from gpu_lol_action.domain.tables import table_rows


@pytest.mark.parametrize(
    ("listed", "python", "expected"),
    [
        (["timm==0.9.2", "tqdm"], "3.7", ["timm==0.9.2", "tqdm", "safetensors<0.5"]),
        (["timm<=0.9"], "3.7", ["timm<=0.9", "safetensors<0.5"]),
        (["sentence-transformers==2.2.2"], "3.7", ["sentence-transformers==2.2.2", "safetensors<0.5"]),
        (["safetensors>=0.3", "transformers"], "3.7.16", ["safetensors>=0.3,<0.5", "transformers"]),
        (["Cython", "lmdb", "wandb"], "3.8", ["Cython", "lmdb<2", "wandb", "setproctitle<1.3.8"]),
    ],
)
def test_what_is_open_stays_at_the_last_builds(listed: list[str], python: str, expected: list[str]) -> None:
    kept, notes = with_last_builds(listed, python)
    assert list(kept) == expected
    assert len(notes) == 1
    assert all(text in notes[0] for text in set(expected) - set(listed))


@pytest.mark.parametrize(
    ("listed", "python"),
    [
        (["safetensors", "timm", "lmdb"], "3.11"),
        (["safetensors", "timm", "lmdb"], None),
        (["lmdb==1.4.1"], "3.8"),
        (["lmdb==2.1.1"], "3.8"),  # a pin is the lists' own
        (["lmdb<1.5"], "3.8"),
        (["numpy"], "3.7"),
        (["timm==0.6.12", "transformers<4.20", "peft<0.4"], "3.7"),  # from before they asked for safetensors
    ],
)
def test_all_else_stays(listed: list[str], python: str | None) -> None:
    assert with_last_builds(listed, python) == (tuple(listed), ())


def test_the_table_is_of_pythons_that_are_left() -> None:
    rows = table_rows("last_builds.csv")
    assert {row["python"] for row in rows} == {"3.7", "3.8"}
    assert all(package_name(row["package"]) == row["package"] for row in rows)
    assert len({(row["python"], row["package"]) for row in rows}) == len(rows)
