"""What click's options start with fills the parameters of the function below them, though nothing calls it with any."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.python.values import Value
from tests.unit.analysis.conftest import Build

COMMAND = (
    "import click\n\n@click.command()\n@click.option('--px', default={start})\ndef main(px):\n    build(px)\n\n{rest}"
)
GUARD = "if __name__ == '__main__':\n    main()\n"


def told(checkout: Build, program: str) -> str | None:
    source = checkout({"train.py": program}).find("train.py")
    assert source is not None
    return Follower((), (), (source,)).text(source, Value(None, reference="px", path="px"), "main")


@pytest.mark.parametrize("rest", [GUARD, "", "main(standalone_mode=False)\n"])
def test_an_option_starts_what_its_function_is_given(checkout: Build, rest: str) -> None:
    assert told(checkout, COMMAND.format(start=320, rest=rest)) == "320"


def test_who_calls_the_function_itself_says_what_it_gets(checkout: Build) -> None:
    assert told(checkout, COMMAND.format(start=320, rest="main(64)\n")) == "64"


@pytest.mark.parametrize(
    "program",
    [
        COMMAND.format(start=320, rest=GUARD) + "@click.command()\n@click.option('--px', default=64)\ndef other(px):\n    pass\n",
        COMMAND.format(start=320, rest=GUARD).replace("click", "clack"),
        COMMAND.format(start="size()", rest=GUARD),
    ],
)  # fmt: skip
def test_what_is_not_told_in_one_way_is_not_told(checkout: Build, program: str) -> None:
    assert told(checkout, program) is None
