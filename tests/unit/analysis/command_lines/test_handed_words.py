"""A script hands on the words that it is started with."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.command_lines.handed_words import ALL, handed_words, with_handed
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"


def put(script: str, words: list[str], text: str) -> str:
    return with_handed(text, handed_words(script, words))


@pytest.mark.parametrize(
    ("script", "text", "expected"),
    [
        ('python a.py "$@"', 'a.py "$@"', "a.py --x 1 '2 3'"),
        ("python a.py $*", "a.py $*", "a.py --x 1 '2 3'"),
        ("python a.py ${@:2}", "a.py ${@:2}", "a.py 1 '2 3'"),
        ("python a.py ${@:2:1}", "a.py ${@:2:1} y", "a.py 1 y"),
        ("C=$1\nshift\npython a.py $@", "a.py $@", "a.py 1 '2 3'"),
        ("C=$1; shift 2\npython a.py $@", "a.py $@", "a.py '2 3'"),
        # What a function is called with, and what a loop leaves of them, is not told.
        ("run() {\n  python a.py $@\n}\nrun b", "a.py $@", "a.py $@"),
        ('while [ "$#" -gt 0 ]; do\n  shift\ndone\npython a.py $@', "a.py $@", "a.py $@"),
        ("python a.py $1", "a.py $@", "a.py $@"),
    ],
)
def test_the_words_are_put_in(script: str, text: str, expected: str) -> None:
    assert put(script, ["--x", "1", "2 3"], text) == expected


def test_what_the_reader_has_is_no_variable_of_the_script() -> None:
    assert put("a $@", ["--data", "$DATA", "--out=${OUT}"], "a $@") == "a --data '<DATA>' '--out=<OUT>'"


def test_nothing_is_handed_on_where_nothing_is_handed() -> None:
    assert handed_words("a $@", []) == {}
    assert handed_words("a $@", ["b"] * 500) == {}
    assert ALL in handed_words("a $@", ["b"])


def test_the_document_s_options_are_the_program_s(checkout: Build) -> None:
    files = {
        "train.py": TRAIN,
        "train.sh": 'python train.py \\\n  --fp16 \\\n  "$@"\n',
        "dist.sh": "CONFIG=$1\nGPUS=$2\nARGS=${@:3}\ntorchrun --nproc_per_node=$GPUS train.py $CONFIG $ARGS\n",
        "README.md": "```\n./train.sh --batch_size=2 \\\n  --model a/b\nbash dist.sh c.yaml 8 --lr 1\n```\n",
    }
    first, second = launch_commands(checkout(files))
    assert {"fp16": "True", "batch_size": "2", "model": "a/b"}.items() <= first.options.items()
    assert (second.processes, second.configs, second.options["lr"]) == (8, ("c.yaml",), "1")


@pytest.mark.parametrize("form", ["Pass them to `./train.sh`:\n", "```\n./train.sh [...] --dropout 1\n```\n"])
def test_a_form_without_its_options_stands_behind_the_command_that_has_them(checkout: Build, form: str) -> None:
    readme = f"# Train\n{form}\nThis works:\n```\n./train.sh --batch_size=2\n```\n"
    tree = checkout({"train.py": TRAIN, "train.sh": 'python train.py "$@"\n', "README.md": readme})
    run = primary_run(tree)
    assert run is not None
    assert run.options.get("batch_size") == "2"
