from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.command_lines.launch_texts import one_value
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
PROGRAM = "import torch\nloss.backward()\n"


def started(tree: Checkout) -> list[tuple[str, str, int | None]]:
    return [(str(item.evidence), item.target, item.processes) for item in launch_commands(tree)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"Makefile": "GPUS ?= 4\ntrain: data\n\ttorchrun --nproc_per_node=$(GPUS) train.py\nlint:\n\truff check\n"}, [("Makefile:3", "train.py", 4)]),
        ({"Dockerfile": 'FROM a\nRUN python prepare.py\nENTRYPOINT ["python", "serve.py"]\nCMD ["--port", "80"]\n'}, [("Dockerfile:3", "serve.py", None)]),
        ({"Dockerfile": 'FROM a\nCMD ["bash", "-c", "python serve.py"]\nFROM b\nCMD python app.py\n'}, [("Dockerfile:4", "app.py", None)]),
        ({"docker-compose.yml": "services:\n  a:\n    command: python serve.py --x 1\n"}, [("docker-compose.yml:3", "serve.py", None)]),
        ({"job.yaml": "kind: Job\nspec:\n  containers:\n  - command: [python, train.py]\n    resources:\n      limits:\n        nvidia.com/gpu: 4\n"}, [("job.yaml:4", "train.py", 4)]),
        # A script that counts its cards only to divide the batch of all; which card it is, is no count.
        ({"run.sh": "NUM_DEVICES=8\nSTEPS=$((128 / (4 * NUM_DEVICES)))\ndeepspeed train.py --steps $STEPS\n"}, [("run.sh:3", "train.py", 8)]),
        ({"run.sh": "NUM_DEVICES=64\ndeepspeed train.py\n"}, [("run.sh:2", "train.py", 8)]),
        ({"run.sh": "export NUM_GPU=2\naccelerate launch train.py\n"}, [("run.sh:2", "train.py", 2)]),
        ({"run.sh": "GPUS=3\nGPU=1\naccelerate launch train.py\n"}, [("run.sh:3", "train.py", None)]),
        ({"run.sh": "NUM_DEVICES=8\npython train.py\n"}, [("run.sh:2", "train.py", None)]),
        # The cards that a line leaves go before, and a launcher's own configuration.
        ({"run.sh": "NUM_GPUS=8\nCUDA_VISIBLE_DEVICES=0 accelerate launch train.py\n"}, [("run.sh:2", "train.py", 1)]),
        ({"run.sh": "NUM_GPUS=8\naccelerate launch --config_file acc.yaml train.py\n"}, [("run.sh:2", "train.py", None)]),
        ({"task.yaml": "resources:\n  accelerators: A100:8\nenvs:\n  LR: 1\nsetup: |\n  python prepare.py\nrun: |\n  cd x\n  torchrun --nproc_per_node=$SKYPILOT_NUM_GPUS_PER_NODE train.py --lr $LR\n"}, [("task.yaml:9", "train.py", 8)]),
        ({"go.slurm": "#SBATCH --nodes=2\n#SBATCH --gres=gpu:a100:8\nsrun python train.py\n"}, [("go.slurm:3", "train.py", 8)]),
        ({"go.sh": "#SBATCH --gpus=16\n#SBATCH -N 2\npython train.py\n"}, [("go.sh:3", "train.py", 8)]),
        ({"go.sh": 'N=8\nARGS=(\n  --nproc_per_node $N\n  --nnodes 1\n)\ntorchrun "${ARGS[@]}" train.py\n'}, [("go.sh:6", "train.py", 8)]),
        ({"go.sh": 'ARGS="\n  --nproc_per_node 2\n"\ntorchrun $ARGS train.py\n'}, [("go.sh:4", "train.py", 2)]),
        ({"go.sh": 'TASK=""\nCMD=" \\\n  src/$TASK.py --lr 1\n  "\nL="accelerate launch --num_processes 4"\nsrun bash -c "$L $CMD" 2>&1\n'}, [("go.sh:6", "src/$TASK.py", 4)]),
        ({"README.rst": "Use\n===\n::\n\n    python train.py\n\nor ``python other.py --x``\n"}, [("README.rst:5", "train.py", None), ("README.rst:7", "other.py", None)]),
        ({"README.md": "| a | `python train.py --x 1` | `python sample.py` |\n"}, [("README.md:1", "train.py", None), ("README.md:1", "sample.py", None)]),
        ({"README.md": "Needs:\n```pip install timm```\n\n```\npython train.py\n```\nor ```python other.py --x```\n"}, [("README.md:5", "train.py", None), ("README.md:7", "other.py", None)]),
        ({"README.md": "```\n$ CUDA_VISIBLE_DEVICES=0,1 python train.py # two of them\n./run.py [script.py]\n```\n"}, [("README.md:2", "train.py", 2), ("README.md:3", "./run.py", None)]),
    ],
)  # fmt: skip
def test_commands_of_each_kind_of_file(
    checkout: Build, files: dict[str, str], expected: list[tuple[str, str, int | None]]
) -> None:
    assert started(checkout(files)) == expected


def test_a_remark_in_a_list_of_arguments_hides_no_later_ones(checkout: Build) -> None:
    script = 'ARGS=(\n  --model_name "b"  # or "c"\n  --lr 1 # not 2\n)\nMORE=(\n  --training_type "lora"\n)\n'
    tree = checkout({"go.sh": script + 'python train.py "${ARGS[@]}" "${MORE[@]}"\n'})
    (found,) = launch_commands(tree)
    assert found.options == {"model_name": "b", "lr": "1", "training_type": "lora"}


def test_magics_of_notebooks_are_commands(checkout: Build) -> None:
    cells = [{"cell_type": "code", "source": "x = 1\n!python train.py --lr 1\n"}]
    found = started(checkout({"a.ipynb": json.dumps({"cells": cells}), "train.py": PROGRAM}))
    assert found == [("a.ipynb", "train.py", None)]


def test_a_document_leads_into_scripts_with_what_it_hands_them(checkout: Build) -> None:
    tree = checkout(
        {
            "README.md": "# Use\n```\nGPUS=4 bash scripts/train.sh configs/a.py 8\nmake demo\n```\n",
            "scripts/train.sh": "CONFIG=$1\nN=${2:-1}\nPORT=${PORT:-29500}\ntorchrun --nproc_per_node=$N tools/train.py $CONFIG\n",
            "Makefile": "demo:\n\tpython demo.py\nother:\n\tpython other.py\n",
        }
    )
    found = launch_commands(tree)
    assert [(item.target, item.processes, str(item.evidence), str(item.said)) for item in found] == [
        ("tools/train.py", 8, "scripts/train.sh:4", "README.md:3"),
        ("demo.py", None, "Makefile:2", "README.md:4"),
    ]
    assert found[0].configs == ("configs/a.py",)
    assert found[0].section == "Use"
    assert all(item.is_documented for item in found)


def test_scripts_that_start_each_other_end(checkout: Build) -> None:
    tree = checkout({"a.sh": "bash b.sh x\npython train.py\n", "b.sh": "bash a.sh y\n"})
    assert {target for _, target, _ in started(tree)} == {"train.py"}


def test_a_console_script_is_the_module_behind_it(checkout: Build) -> None:
    tree = checkout(
        {
            "pyproject.toml": '[project]\nname="speak"\n[project.scripts]\nspeak = "speak.cli:main"\n[tool.x]\ny = "a.b:c"\n',
            "README.md": "```\nspeak audio.wav --model base\n```\n",
            "speak/cli.py": "import torch\n",
        }
    )
    assert started(tree) == [("README.md:2", "speak.cli", None)]


def test_a_file_whose_name_begins_like_a_launcher_is_only_mentioned(checkout: Build) -> None:
    text = "`torchrun_main.py` is the program.\n```\ntorchrun --nproc_per_node 2 torchrun_main.py --rank 8\n```\n"
    tree = checkout({"README.md": text, "torchrun_main.py": "import torch\nloss.cuda().backward()\n"})
    assert [(command.target, command.processes) for command in launch_commands(tree)] == [("torchrun_main.py", 2)]


def test_a_launcher_of_the_repositorys_own_is_handed_the_script_that_it_starts(checkout: Build) -> None:
    tree = checkout(
        {
            "README.md": "```\nGPUS_PER_NODE=8 ./tools/dist.sh 16 ./configs/big.sh\n```\n```\n./tools/dist.sh 4 configs/small.sh\n```\n",
            "tools/dist.sh": "GPUS=$1\npython tools/launch.py --nproc_per_node ${GPUS_PER_NODE} ${@:2}\n",
            "tools/launch.py": "import subprocess\n",
            "configs/big.sh": "python -u main.py --width 8\n",
            "configs/small.sh": "python -u main.py --width 2\n",
            "main.py": PROGRAM,
        }
    )
    found = [(str(c.evidence), c.processes, c.is_documented) for c in launch_commands(tree) if c.target == "main.py"]
    assert found == [("configs/big.sh:1", 8, True), ("configs/small.sh:1", 4, True)]


@pytest.mark.parametrize("word", ["", "export ", "declare -a ", "local ", "readonly "])
def test_list_over_several_lines_is_put_whole_whatever_declares_it(checkout, word):
    script = f'{word}ARGS=(\n    --nproc_per_node=8\n    --endpoint=$(hostname)\n    --nnodes=2  # two\n)\nsrun torchrun "${{ARGS[@]}}" train.py\n'
    tree = checkout({"run.sh": script, "train.py": "import torch\nloss.backward()\n"})
    (command,) = launch_commands(tree)
    assert (command.tool, command.processes, command.nodes) == ("torchrun", 8, 2)


def test_job_of_azures_is_read_with_its_inputs(checkout):
    job = (
        "$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json\ncode: src\ncommand: >-\n  python train.py\n"
        "  --epochs ${{inputs.epochs}}\n  --lr ${{inputs.unset}}\ninputs:\n  epochs: 3\nenvironment: azureml:x@latest\n"
        "distribution:\n  type: pytorch\n  process_count_per_instance: 4\nresources:\n  instance_count: 2\n"
    )
    (command,) = launch_commands(checkout({"job.yml": job, "src/train.py": "import torch\nloss.backward()\n"}))
    assert (command.target, command.processes, command.nodes, command.options["epochs"]) == ("train.py", 4, 2, "3")
    assert launch_commands(checkout({"job.yml": job.replace("azuremlschemas", "other")})) == ()


@pytest.mark.parametrize(
    "line",
    [
        "torchrun --nproc_per_node=$(nvidia-smi -L | wc -l) train.py --lr 1",
        "torchrun --nproc_per_node $(nvidia-smi --list-gpus | grep GPU | wc -l) train.py --lr 1 | tee log",
    ],
)
def test_pipe_within_what_is_asked_for_parts_no_command(checkout, line):
    tree = checkout({"README.md": f"```\n{line}\n```\n", "train.py": PROGRAM})
    (command,) = launch_commands(tree)
    assert (command.target, command.processes, command.is_divided, command.options["lr"]) == (
        "train.py",
        None,
        True,
        "1",
    )


def test_a_command_behind_an_object_in_quotes_over_several_lines(checkout: Build) -> None:
    job = 'ray job submit --address=\'http://a.example\' \\\n  --runtime-env-json=\'{{\n  "env_vars": {{\n    "A": "1"\n  }}\n}}\' -- {}\n'
    work = "B=1 python3 -m verl.trainer.main_ppo \\\n  trainer.n_gpus_per_node=8"
    assert started(checkout({"go.sh": job.format(work)})) == [("go.sh:1", "verl.trainer.main_ppo", None)]


def test_a_quote_that_opens_no_object_takes_no_further_lines(checkout: Build) -> None:
    text = "echo it's {done\nA='[x]'\npython train.py --a '{' --b '}'\npython more.py --a=\\'{\n"
    assert [target for _, target, _ in started(checkout({"go.sh": text}))] == ["train.py", "more.py"]


CLONE = (
    "export CUDA_VISIBLE_DEVICES=0,1,2,3\nN=$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\\n' | wc -l)\n"
    'code="/path/to/net"\nL="accelerate launch --num_processes=$N"\nS="$code/{}"\n$L $S\n'
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("train.py", [("go.sh:6", "train.py", 4)]),
        ("tune.py", []),
        ("your_train.py", []),
        ("<name>.py", []),
    ],
)
def test_a_script_of_variables_starts_what_lies_where_the_reader_has_cloned_it(
    checkout: Build, name: str, expected: list[tuple[str, str, int]]
) -> None:
    assert started(checkout({"go.sh": CLONE.format(name), "train.py": PROGRAM})) == expected


def test_a_command_kept_with_quotes_inside_is_one_value(checkout: Build) -> None:
    script = """N=8
CMD=" \\
    train.py \\
    --config "configs/xl.yaml" \\
    --use_ema
    "
LAUNCH="torchrun \\
    --nproc_per_node $N \\
    "
bash -c "$LAUNCH $CMD"
"""
    files = {"train.py": "import torch\nloss.backward()\noptimizer.step()\n", "run.sh": script}
    command = primary_run(checkout({**files, "README.md": "```\nbash run.sh\n```\n"})).command
    assert command is not None
    assert (command.target, command.processes, command.options["config"]) == ("train.py", 8, "configs/xl.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('A="x --y "1" --z"', 'A="x --y 1 --z"'),
        ('A="x"', 'A="x"'),
        ('A="1" B="2" python train.py', 'A="1" B="2" python train.py'),
        ('echo "a" "b"', 'echo "a" "b"'),
    ],
)
def test_inner_quotes_are_joined_as_a_shell_does(text: str, value: str) -> None:
    assert one_value(text) == value


@pytest.mark.parametrize(("word", "count"), [("${GPU_NUM}", 4), ("<gpus>", 4), ("2", 2)])
def test_a_blank_that_a_script_is_handed_leaves_its_fallback(checkout: Build, word: str, count: int) -> None:
    files = {
        "train.py": "import torch\nloss.backward()\noptimizer.step()\n",
        "run.sh": "GPUS=${2-4}\ntorchrun --nproc_per_node $GPUS train.py\n",
        "README.md": f"```\nbash run.sh ${{/PATH/TO/IT}} {word}\n```\n",
    }
    command = primary_run(checkout(files)).command
    assert command is not None
    assert command.processes == count


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("- Start with `ns-train net-ngp --data <folder>`. This names a folder.", "ns-train net-ngp"),
        ("Then `$ llamafactory-cli train --stage sft` does.", "llamafactory-cli train"),
        ("`ns-train -h` lists `ns-train net-ngp`.", None),
        ("`netstat --all` shows it.", None),
    ],
)
def test_a_tool_with_an_option_is_a_command_between_backticks(
    checkout: Callable[[Mapping[str, str]], Checkout], words: str, target: str | None
) -> None:
    found = [f"{item.tool} {item.words[0]}" for item in launch_commands(checkout({"README.md": f"# N\n{words}\n"}))]
    assert found == ([target] if target else [])


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("    - `torchrun --nproc_per_node 8 train.py --lr 1e-4`", 8),
        ("\t* Then run `accelerate launch --num_processes 4 train.py` there.", 4),
        (f"- `torchrun --nproc_per_node 2 train.py {'--name a_long_value ' * 20}`", 2),
        ("    torchrun --nproc_per_node 8 train.py", 8),  # set in as code
        ("    - the file `train.py`", None),
    ],
)
def test_a_list_that_is_set_in_tells_its_commands_between_backticks(
    checkout: Callable[[Mapping[str, str]], Checkout], line: str, count: int | None
) -> None:
    found = launch_commands(checkout({"README.md": f"# N\n1. First:\n{line}\n", "train.py": "import torch\n"}))
    assert [command.processes for command in found] == ([count] if count else [])


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("CARDS=4; torchrun --nproc_per_node=$CARDS train.py --lr 1", 4),
        ("export CARDS=4 && torchrun --nproc_per_node=$CARDS train.py --lr 1", 4),
        ("test -f a || CARDS=4; torchrun --nproc_per_node=$CARDS train.py --lr 1", None),
    ],
)
def test_what_a_line_sets_first_stands_in_what_follows(checkout, line, count):
    (command,) = launch_commands(checkout({"README.md": f"Run `{line}`.\n\n```\n{line}\n```\n", "train.py": PROGRAM}))[
        :1
    ]
    assert (command.target, command.processes) == ("train.py", count)
