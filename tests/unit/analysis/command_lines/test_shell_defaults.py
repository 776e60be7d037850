"""Defaults that a launch script writes as a test of whether a variable is set."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.command_lines.shell_branches import with_taken_branches
from gpu_lol_action.analysis.command_lines.shell_defaults import as_default, first_turn
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build


@pytest.mark.parametrize(
    "line",
    [
        '[ -z "${BATCH}" ] && BATCH=8',
        "[ -z $BATCH ] && BATCH=8  # the paper's",
        '  [[ -z "$BATCH" ]] && export BATCH="8"',
        'test -z "${BATCH:-}" && BATCH=8',
        '[ -n "$BATCH" ] || BATCH=8',
        "if [ -z ${BATCH+x} ]; then BATCH=8; fi",
    ],
)
def test_a_test_that_sets_what_nobody_has_is_a_default(line: str) -> None:
    assert as_default(line) == 'BATCH="${BATCH:-8}"'


@pytest.mark.parametrize(
    "line",
    [
        '[ -z "$MODE" ] && BATCH=8',  # of another variable
        '[ -n "$BATCH" ] && BATCH=8',
        '[ -z "$BATCH" ] || BATCH=8',
        '[ -z "$BATCH" ] && echo "BATCH=8"',
        '[ -z "$BATCH" ] && BATCH=$(nvidia-smi -L | wc -l)',
        '[ -z "$BATCH" ] && exit 1',
        "BATCH=8",
    ],
)
def test_what_does_anything_else_is_left_as_it_is(line: str) -> None:
    assert as_default(line) == line


@pytest.mark.parametrize(
    ("head", "batches"),
    [
        ("BATCH=2", ["BATCH=2"]),
        ("", ["BATCH=8"]),  # nobody has set it: what fills it in is not left out
        ("BATCH=$1", ["BATCH=$1", "BATCH=8"]),
    ],
)
def test_a_branch_for_what_is_not_set_counts_only_there(head: str, batches: list[str]) -> None:
    script = f'{head}\nif [ -z "$BATCH" ]; then\n  BATCH=8\nfi\n'
    lines = with_taken_branches(iter(enumerate(script.split("\n"), 1)), {})
    assert [line.strip() for _, line in lines if "BATCH=" in line] == batches


def test_the_branch_for_what_is_set_counts_where_it_is() -> None:
    script = 'MODE=full\nif [[ ! -n "${MODE}" ]]; then\n  BATCH=1\nelse\n  BATCH=2\nfi\n'
    lines = with_taken_branches(iter(enumerate(script.split("\n"), 1)), {})
    assert [line.strip() for _, line in lines if "BATCH=" in line] == ["BATCH=2"]


def test_the_run_has_a_scripts_defaults_unless_the_caller_sets_them(checkout: Build) -> None:
    files = {
        "train.py": "import torch\nloss.backward()\noptimizer.step()\n",
        "run.sh": '[ -z "${GPUS}" ] && GPUS=4\n[ -z "${LR}" ] && LR=1e-4\ntorchrun --nproc_per_node $GPUS train.py --lr $LR\n',
    }
    command = primary_run(checkout({**files, "README.md": "```\nbash run.sh\n```\n"})).command
    assert command is not None
    assert (command.processes, command.options["lr"]) == (4, "1e-4")
    command = primary_run(checkout({**files, "README.md": "```\nGPUS=2 bash run.sh\n```\n"})).command
    assert command is not None
    assert command.processes == 2


def test_a_program_that_only_buffers_or_ranks_another_is_looked_through(checkout: Build) -> None:
    files = {"train.py": "import torch\nloss.backward()\noptimizer.step()\n"}
    line = "CUDA_VISIBLE_DEVICES=0 stdbuf -oL -eL nice -n 10 python train.py --lr 1e-4"
    command = primary_run(checkout({**files, "README.md": f"```\n{line}\n```\n"})).command
    assert command is not None
    assert (command.target, command.options["lr"]) == ("train.py", "1e-4")


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("for RANK in 64;", 'RANK="64"'),
        ("  for lr in 1e-4 3e-4; do", 'lr="1e-4"'),
        ("for model in 'a/b-7b' c/d  # both", 'model="a/b-7b"'),
        ("for i in $(seq 1 5); do", "for i in $(seq 1 5); do"),
        ("for f in *.json; do", "for f in *.json; do"),
        ('for m in "${MODELS[@]}"; do', 'm="${MODELS[0]}"'),
        ("for m in ${MODELS[*]}  # all", 'm="${MODELS[0]}"'),
        ("for s in 1 2; do python train.py --seed $s; done", "for s in 1 2; do python train.py --seed $s; done"),
    ],
)
def test_a_loop_over_words_begins_with_the_first(line: str, first: str) -> None:
    assert first_turn(line) == first


def test_what_a_loop_starts_has_its_first_values(checkout: Build) -> None:
    files = {
        "train.py": "import torch\nloss.backward()\noptimizer.step()\n",
        "run.sh": "for RANK in 64 128;\ndo\n    for BS in 8; do\n        python train.py --lora_r $RANK --batch_size $BS\n    done\ndone\n",
    }
    command = primary_run(checkout(files)).command
    assert command is not None
    assert (command.options["lora_r"], command.options["batch_size"]) == ("64", "8")


@pytest.mark.parametrize(
    ("readme", "count"),
    [
        ("export GPUS=2\nexport OUT=x\n\nbash run.sh", 2),
        ("export GPUS=2\nGPUS=3 bash run.sh", 3),  # what stands before the command is nearer
        ("GPUS=2\nbash run.sh", 4),  # not handed on to what is started
        ("export GPUS={number_of_gpus}\nbash run.sh", 4),
        ("bash run.sh\nexport GPUS=2", 4),
    ],
)
def test_a_script_has_what_was_exported_before(checkout: Build, readme: str, count: int) -> None:
    files = {
        "train.py": "import torch\nloss.backward()\noptimizer.step()\n",
        "run.sh": "torchrun --nproc_per_node ${GPUS:-4} train.py\n",
        "README.md": f"```\n{readme}\n```\n",
    }
    command = primary_run(checkout(files)).command
    assert command is not None
    assert command.processes == count


def test_what_a_command_overrides_is_no_longer_the_configuration_s(checkout: Build) -> None:
    files = {
        "train.py": "import hydra\nimport torch\n\n@hydra.main(config_path='config', config_name='base')\ndef main(cfg):\n    loss.backward()\n    optimizer.step()\n",
        "config/base.yaml": "model:\n  path: deepseek-ai/deepseek-llm-7b-chat\ndata:\n  batch_size: 4\n",
        "run.sh": "python train.py {model} data.batch_size=8\n",
        "README.md": "```\nbash run.sh\n```\n",
    }
    named = []
    for given in ("model.path=$MODEL", "model.path=Qwen/Qwen2.5-1.5B", ""):
        tree = checkout({**files, "run.sh": files["run.sh"].format(model=given)})
        named.append({finding.value for finding in analyze(tree).findings if finding.field == "model.id"})
    assert named == [set(), {"Qwen/Qwen2.5-1.5B"}, {"deepseek-ai/deepseek-llm-7b-chat"}]


@pytest.mark.parametrize(
    ("readme", "model"),
    [
        ('model_dir="model directory"\nbash run.sh ${model_dir}', "MODELS/foo-7b"),
        ("bash run.sh path/to/model", "MODELS/foo-7b"),
        ("bash run.sh <model>", "MODELS/foo-7b"),
        ("model_dir=MODELS/foo-13b\nbash run.sh ${model_dir}", "MODELS/foo-13b"),
        ("bash run.sh MODELS/foo-13b", "MODELS/foo-13b"),
    ],
)
def test_what_tells_what_belongs_in_its_place_is_a_blank(checkout: Build, readme: str, model: str) -> None:
    files = {
        "train.py": "import torch\nloss.backward()\noptimizer.step()\n",
        "run.sh": 'model=${1:-"MODELS/foo-7b"}\npython train.py --model $model\n',
        "README.md": f"```\n{readme}\n```\n",
    }
    command = primary_run(checkout(files)).command
    assert command is not None
    assert command.options["model"] == model
