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
        COMMAND.format(start=320, rest=GUARD) + "@click.command()\n@click.option('--px', default=64)\ndef main(px):\n    pass\n",
        COMMAND.format(start=320, rest=GUARD).replace("click", "clack"),
        COMMAND.format(start="size()", rest=GUARD),
    ],
)  # fmt: skip
def test_what_is_not_told_in_one_way_is_not_told(checkout: Build, program: str) -> None:
    assert told(checkout, program) is None


OTHER = "@click.command()\n@click.option(\n    '--px',\n    default=64,\n)\ndef other(px):\n    pass\n"


def test_another_commands_option_is_none_of_a_functions(checkout: Build) -> None:
    assert told(checkout, f"{COMMAND.format(start=320, rest=OTHER)}{GUARD}") == "320"
    assert told(checkout, f"import click\n{OTHER}def main(px):\n    build(px)\n\n{GUARD}") is None
    assert (
        told(checkout, f"import click\n{OTHER}@click.command()\n@click.argument('px')\ndef main(px):\n    build(px)\n")
        is None
    )


def test_a_function_starts_with_its_own_value(checkout: Build) -> None:
    assert told(checkout, f"import click\ndef main(px=224):\n    build(px)\n\nrun(main)\n{OTHER}") == "224"
