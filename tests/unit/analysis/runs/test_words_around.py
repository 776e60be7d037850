"""Sentences right around a documented training tell whether it is the one meant."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"
OTHER = "\n## Train\n```\npython big.py\n```\n"


def started(checkout: Build, readme: str) -> str | None:
    run = primary_run(checkout({"small.py": TRAIN, "big.py": TRAIN, "README.md": readme}))
    return run.script.path if run is not None and run.script is not None else None


@pytest.mark.parametrize(
    ("above", "below", "path"),
    [
        ("Run with small depth to test", "", "big.py"),
        ("To quickly test-run a small model with 1 GPU:", "", "big.py"),
        ("For debugging:", "", "big.py"),
        ("A quick sanity check:\n", "", "big.py"),
        ("Train:", "Note:\nIt is not recommended to use a single GPU for training.", "big.py"),
        ("Train:", "*This example is just used for illustrative purposes.*", "big.py"),
        # What says nothing of the sort, or says it elsewhere.
        ("Train:", "", "small.py"),
        ("Train and test it:", "", "small.py"),
        ("We tested it with small pictures.", "", "small.py"),
        ("Train:", "It is recommended to use a single GPU.", "small.py"),
        ("Run with small depth to test\n\nsomething else first\n\nand more\n\nTrain:", "", "small.py"),
        ("Train:", "### Notes\nIt is not recommended to use a single GPU.", "small.py"),
    ],
)
def test_the_words_that_lead_to_a_command_count(checkout: Build, above: str, below: str, path: str) -> None:
    readme = f"# Net\n\n{above}\n```\npython small.py\n```\n\n{below}\n{OTHER}"
    assert started(checkout, readme) == path


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ("# quick test\npython small.py\n# all of it\npython big.py", "big.py"),
        ("# all of it\npython small.py\n# quick test\npython big.py", "small.py"),
    ],
)
def test_a_remark_above_a_command_counts(checkout: Build, block: str, path: str) -> None:
    assert started(checkout, f"# Net\n```\n{block}\n```\n") == path


def test_what_is_only_tried_out_is_the_run_where_there_is_no_other(checkout: Build) -> None:
    assert started(checkout, "# Net\nFor debugging:\n```\npython small.py\n```\n") == "small.py"


@pytest.mark.parametrize(
    ("first", "path"),
    [
        ("To start a debugging run:\n\n`python small.py --a 1`", "big.py"),
        ("For a debug run start `python small.py --a 1`.", "big.py"),
        ("To start it:\n\n`python small.py --a 1`", "small.py"),
        ("It is no debugging run.\n\n\n\n\nStart it:\n`python small.py --a 1`", "small.py"),
    ],
)
def test_the_words_that_lead_to_a_command_between_backticks_count(checkout: Build, first: str, path: str) -> None:
    assert started(checkout, f"# Net\n\n{first}\n{OTHER}") == path
