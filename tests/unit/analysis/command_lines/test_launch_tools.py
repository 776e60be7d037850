from __future__ import annotations

import pytest

from gpu_lol_action.analysis.command_lines.launch_tools import split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # A manual's brackets say what may stand there; behind an option they are what its reader fills in.
        ("./run.py [script.py]", ["./run.py"]),
        ("train.py --model-path [MODEL-PATH] --id [MODEL_ID]", ["train.py", "--model-path", "[MODEL-PATH]", "--id", "[MODEL_ID]"]),
        ("train.py [DATA]", ["train.py"]),
        ("train.py --fp16 [OPTIONS]", ["train.py", "--fp16"]),
        ("train.py --fp16 [ARGS]", ["train.py", "--fp16"]),
        ("train.py --lr=1 [LR]", ["train.py", "--lr=1"]),
        ("train.py --gpus [0,1] [...]", ["train.py", "--gpus", "[0,1]", "..."]),
    ],
)  # fmt: skip
def test_words_in_brackets_are_dropped_unless_an_option_takes_them(text: str, words: list[str]) -> None:
    assert split_words(text) == words
