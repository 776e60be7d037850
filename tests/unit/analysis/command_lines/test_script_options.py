"""A script that takes options of its own is read with those that it is started with."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.command_lines.script_options import TOLD, set_by_options
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from tests.unit.analysis.conftest import Build

HEAD = 'LR=1e-6\nGPUS=8\nMODEL=/your/model\nLORA=false\nwhile [[ $# -gt 0 ]]; do\n  case "$1" in\n'
TAIL = "    *) echo unknown; exit 1;;\n  esac\ndone\ntorchrun --nproc_per_node=$GPUS train.py --model $MODEL --lr $LR --use_lora $LORA\n"
SCRIPT = (
    HEAD + '    --lr) LR="$2"; shift 2;;\n    -g|--gpus)\n      GPUS=$2\n      shift 2\n      ;;\n'
    '    --model=*) MODEL="${1#*=}"; shift;;\n    --lora) LORA=true; shift;;\n' + TAIL
)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("--lr 1e-4 --gpus 2", {"LR": "1e-4", "GPUS": "2"}),
        ("-g 4", {"GPUS": "4"}),
        ("--model=a/b --lora", {"MODEL": "a/b", "LORA": "true"}),
        ("--model=<model> --lr $LR", {}),
        ("", {}),
    ],
)
def test_options_set_the_script_s_variables(words: str, found: dict[str, str]) -> None:
    said = dict(set_by_options(SCRIPT, words.split()) or {})
    assert set(said.pop(TOLD, "").split("\x1f")) - {""} == set(found)
    assert said == found


@pytest.mark.parametrize("script", ['python train.py "$@"\n', "case $1 in\n  a) X=$2;;\nesac\n", 'LR="$2"\n'])
def test_a_script_without_options_takes_none(script: str) -> None:
    assert set_by_options(script, ["--lr", "1"]) is None


def test_letters_set_them_as_well() -> None:
    script = 'GPU=8\nwhile getopts "g:c:h" opt; do\n  case $opt in\n    g)\n      GPU=$OPTARG\n      ;;\n    c) CONFIG="$OPTARG";;\n  esac\ndone\n'
    found = dict(set_by_options(script, ["-g", "4", "-c", "small"]) or {})
    assert (found["GPU"], found["CONFIG"]) == ("4", "small")


def test_the_program_is_started_with_them(checkout: Build) -> None:
    readme = "```\nbash run.sh --lr 1e-4 \\\n  -g 2 --model=meta-llama/Llama-2-7b-hf\nbash run.sh\n```\n"
    tree = checkout({"run.sh": SCRIPT, "train.py": "import torch\n", "README.md": readme})
    first, second = launch_commands(tree)
    assert (first.processes, first.options["lr"], first.options["model"]) == (2, "1e-4", "meta-llama/Llama-2-7b-hf")
    assert (first.options["use_lora"], second.processes, second.options["lr"]) == ("false", 8, "1e-6")


def test_a_letter_that_is_not_given_leaves_what_the_script_starts_with(checkout: Build) -> None:
    script = 'GPU=4\nwhile getopts "g:c:" opt; do\n  case $opt in\n    g)\n      GPU=$OPTARG\n      ;;\n    c)\n      CONFIG="${OPTARG}"\n      ;;\n  esac\ndone\ntorchrun --nproc_per_node=$GPU train.py --model $CONFIG\n'
    tree = checkout({"run.sh": script, "train.py": "import torch\n", "README.md": "```\nsh run.sh -c small\n```\n"})
    (command,) = launch_commands(tree)
    assert (command.processes, command.options["model"]) == (4, "small")


CUT = (
    'function init {\n  for var in "$@"\n  do\n    case $var in\n      --task=*)\n        task=$(echo $var | cut -f2 -d=)\n      ;;\n'
    "      --input_model=*)\n        input_model=$(echo $var |cut -f2 -d=)\n      ;;\n    esac\n  done\n}\n"
    'init "$@"\npython main.py --model ${input_model} --task ${task}\n'
)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("--task=t2v --input_model=a/b", {"task": "t2v", "input_model": "a/b"}),
        ("--input_model=/path/to/Llama-2-7b-hf", {"input_model": "/path/to/Llama-2-7b-hf"}),
        ("--input_model=/path/to/model", {}),
    ],
)
def test_what_is_cut_out_of_an_option_s_word_sets_them_as_well(words: str, found: dict[str, str]) -> None:
    said = dict(set_by_options(CUT, words.split()) or {})
    said.pop(TOLD, "")
    assert said == found
