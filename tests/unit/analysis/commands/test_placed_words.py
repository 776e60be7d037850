"""Words of a command that its program takes by their place."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.commands.placed_words import with_placed
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

HEAD = "import argparse\nimport torch\nparser = argparse.ArgumentParser()\n"
TAIL = "args = parser.parse_args()\nif __name__ == '__main__':\n    loss.cuda().backward()\n    optimizer.step()\n"


@pytest.mark.parametrize(
    ("declared", "words", "options"),
    [
        ("parser.add_argument('llm')\n", ["qwen2_7b"], {"llm": "qwen2_7b"}),
        (
            "parser.add_argument('model', type=str)\nparser.add_argument('--lr')\nparser.add_argument('data-set')\n",
            ["a/b", "c4"],
            {"model": "a/b", "data_set": "c4"},
        ),
        ("parser.add_argument('files', nargs='+')\nparser.add_argument('out')\n", ["a", "b"], {}),
        # What a reader puts in is nothing that is said.
        ("parser.add_argument('model')\n", ["MODEL_DIR"], {}),
        ("parser.add_argument('model')\n", ["/path/to/model"], {}),
        ("parser.add_argument('--model')\n", ["a/b"], {}),
        ("sub = parser.add_subparsers()\nparser.add_argument('model')\n", ["train", "a/b"], {}),
    ],
)
def test_a_word_has_the_name_of_its_place(
    checkout: Build, declared: str, words: list[str], options: dict[str, str]
) -> None:
    script = checkout({"train.py": HEAD + declared + TAIL}).find("train.py")
    assert with_placed({}, script, words) == options


def test_what_the_command_says_by_name_stays(checkout: Build) -> None:
    script = checkout({"train.py": HEAD + "parser.add_argument('model')\n" + TAIL}).find("train.py")
    assert with_placed({"model": "a"}, script, ["b"]) == {"model": "a"}
    assert with_placed({"model": "a"}, None, ["b"]) == {"model": "a"}


def test_the_run_is_told_so(checkout: Build) -> None:
    readme = "```\ntorchrun --nproc_per_node 2 train.py qwen2_7b --lr 1e-4\n```\n"
    run = primary_run(checkout({"README.md": readme, "train.py": HEAD + "parser.add_argument('llm')\n" + TAIL}))
    assert run is not None
    assert run.options["llm"] == "qwen2_7b"
