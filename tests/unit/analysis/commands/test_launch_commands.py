from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand, launch_commands, parse_command
from gpu_lol_action.analysis.files.checkout import Source, read_checkout
from gpu_lol_action.analysis.formats.paths import Form, Role

SOURCE = Source("run.sh", Form.SHELL, Role.WORKLOAD, "")


def parsed(text: str) -> LaunchCommand:
    found = parse_command(text, {}, SOURCE, 1)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "tool", "target", "processes"),
    [
        ("python train.py", "python", "train.py", None),
        ("python3 -u src/train.py --lr 1e-4", "python", "src/train.py", None),
        ("../../build/tools/caffe train --solver=s.prototxt --gpu=0,1,2,3", "caffe", "caffe train", 4),
        ("caffe train -solver s.prototxt", "caffe", "caffe train", None),
        ("mpirun -np 4 $TOOLS/caffe train --solver=s.prototxt", "mpirun", "caffe train", 4),
        ("${MPI_BIN}mpirun -np 2 lib/caffe/bin/caffe train --solver=s.prototxt", "mpirun", "caffe train", 2),
        ("mpirun -np 4 /opt/bin/fairseq-train data", "mpirun", "fairseq-train", 4),
        ("dlrover-run --standalone --nproc_per_node=4 train.py", "torchrun", "train.py", 4),
        ("python -m oneflow.distributed.launch --nproc_per_node 2 train.py", "torchrun", "train.py", 2),
        ("python ./multiproc.py --nproc_per_node 8 ./train.py", "python", "./multiproc.py", 8),
        ("python -um net.train --lr 1e-4", "python", "net.train", None),
        ("python -Bu -m net.train", "python", "net.train", None),
        ("python3 -OO train.py", "python", "train.py", None),
        ("torchrun --standalone --nproc_per_node=8 train.py", "torchrun", "train.py", 8),
        ("torchrun --nproc_per_node=4 train.py --version v1 --bf16 True", "torchrun", "train.py", 4),
        ("torchrun --nproc-per-node 4 --nnodes 2 train.py", "torchrun", "train.py", 4),
        ("python -m torch.distributed.launch --nproc_per_node 2 train.py", "torchrun", "train.py", 2),
        ("python -m paddle.distributed.launch --gpus=0,1,2,3 train.py --amp", "fleetrun", "train.py", 4),
        ("python -m paddle.distributed.launch --devices 0 train.py", "fleetrun", "train.py", 1),
        ("fleetrun --gpus $GPUS train.py", "fleetrun", "train.py", None),
        ("CUDA_VISIBLE_DEVICES=0,1,2 python train.py", "python", "train.py", 3),
        ("accelerate launch --num_processes 4 train.py --lr 1", "accelerate", "train.py", 4),
        ("accelerate launch -m axolotl.cli.train x.yml", "accelerate", "axolotl.cli.train", None),
        ("deepspeed --num_gpus=8 train.py --deepspeed ds.json", "deepspeed", "train.py", 8),
        ("deepspeed --include localhost:0,1 train.py", "deepspeed", "train.py", 2),
        ("uv run python train.py", "python", "train.py", None),
        ("llamafactory-cli train configs/sft.yaml", "llamafactory-cli", "llamafactory-cli train", None),
        ("vllm serve a/b --tensor-parallel-size 2", "vllm", "vllm serve", 2),
        (
            "tune run --nproc_per_node 2 full_finetune_distributed --config x",
            "tune",
            "tune full_finetune_distributed",
            2,
        ),
        ("mpirun -np 16 python train.py", "mpirun", "train.py", 16),
        ("accelerate launch --num_processes 16 --num_machines 2 train.py", "accelerate", "train.py", 8),
        ("accelerate launch --multi_gpu train.py", "accelerate", "train.py", None),
        ("torchrun --nproc_per_node=8 -m scripts.base_train -- --depth=20", "torchrun", "scripts.base_train", 8),
        ("torchrun --nproc_per_node=gpu train.py", "torchrun", "train.py", None),
        ("srun --gres=gpu:4 -N 1 python -u train.py", "python", "train.py", 4),
        ("srun -p big --gpus-per-node a100:2 python train.py", "python", "train.py", 2),
        ("docker run --gpus 2 -v a:b image:tag python serve.py --x", "python", "serve.py", 2),
        ("conda run -n vllm python serve.py", "python", "serve.py", None),
        ("uv run train.py --lr 1", "python", "train.py", None),
        ("./train.py --lr 1", "python", "./train.py", None),
        ("lightning run model --devices=4 train.py", "lightning", "train.py", 4),
        ("horovodrun -np 8 python train.py", "horovodrun", "train.py", 8),
        ("NPROC_PER_NODE=4 swift sft --model a", "swift", "swift sft", 4),
        (
            "python -m vllm.entrypoints.openai.api_server --model a -tp 4",
            "python",
            "vllm.entrypoints.openai.api_server",
            4,
        ),
        ("vllm serve a -tp 2 --pipeline-parallel-size 2", "vllm", "vllm serve", 4),
        ("uvicorn api.server:app --port 80", "uvicorn", "api.server", None),
        ("bash -c 'torchrun --nproc_per_node 2 train.py'", "torchrun", "train.py", 2),
        ("python train.py ${arg#--} --lr 1", "python", "train.py", None),
    ],
)
def test_parse_command(text: str, tool: str, target: str, processes: int | None) -> None:
    found = parsed(text)
    assert (found.tool, found.target, found.processes) == (tool, target, processes)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ls",
        "pip install torch",
        "conda create -n vllm python=3.10",
        "uv pip install vllm",
        "torchrun",
        "docker build -t vllm .",
        "python path/to/train.py",
        "python your_script.py",
        "python train_xxx.py",
        "torchrun ${SCRIPT}",
        "python *.py",
        "python -m pip install x",
        "python -m pytest",
        "vllm →",
        "swift build",
        "swift upload bucket site",
        "echo torchrun",
        'if [ ! -f "pretrain_gpt.py" ]',
        "cd x",
    ],
)
def test_parse_command_ignores_what_starts_nothing(text: str) -> None:
    assert parse_command(text, {}, SOURCE, 1) is None


def test_options_and_configurations() -> None:
    found = parsed("accelerate launch --config_file a.yaml train.py --config b.yaml --batch-size=4 --bf16 model.lr=3")
    assert found.options == {
        "config_file": "a.yaml",
        "config": "b.yaml",
        "batch_size": "4",
        "bf16": "True",
        "model.lr": "3",
    }
    assert found.configs == ("a.yaml", "b.yaml")


def test_commands_are_read_from_fences_and_scripts_with_variables(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(
        "run python not_this.py\n```sh\nMODEL=a/b-7b\npython train.py \\\n  --model $MODEL\n```\nor `python other.py --x 1`\n"
    )
    (tmp_path / "go.sh").write_text("N=${GPUS:-4}\ntorchrun --nproc_per_node=$N train.py && python eval.py\n")
    found = launch_commands(read_checkout(tmp_path))
    shown = [(str(item.evidence), item.target, item.processes, item.options.get("model")) for item in found]
    assert shown == [
        ("README.md:4", "train.py", None, "a/b-7b"),
        ("README.md:7", "other.py", None, None),
        ("go.sh:2", "train.py", 4, None),
        ("go.sh:2", "eval.py", None, None),
    ]


@given(st.text(max_size=300))
def test_any_line_is_answered(text: str) -> None:
    found = parse_command(text, {"X": "y"}, SOURCE, 1)
    assert found is None or found.target


@pytest.mark.parametrize(
    "text",
    [
        "python train.py --help",
        "python train.py --version",
        "python train.py -h --lr 1",
        "llamafactory-cli version",
        "accelerate env",
    ],
)
def test_who_asks_for_help_starts_nothing(text: str) -> None:
    assert parse_command(text, {}, SOURCE, 1) is None


@pytest.mark.parametrize(
    ("text", "is_started"),
    [
        ("train.py                Training loop code.", False),
        ("src/train.py  - trains the model on all cards", False),
        ("train.py Functions for training", False),
        ("train.py fit", True),
        ("train.py coco resnet", True),
        ("train.py config.yaml", True),
        ("train.py --lr 1e-4", True),
        ("./train.py Training loop code", True),
        ("python train.py Training loop code", True),
    ],
)
def test_a_list_of_files_starts_none_of_them(text: str, *, is_started: bool) -> None:
    assert (parse_command(text, {}, SOURCE, 1) is not None) is is_started


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("Launch training with `ns-train net-ngp --data <folder>`.", ["ns-train net-ngp"]),
        ("Start `llamafactory-cli train sft.yaml` here.", ["llamafactory-cli train"]),
        # A tool's name, and its name with a verb, are spoken of.
        ("It is a method of `ns-train`, as `ns-train nerfacto` is.", []),
        ("See `swift sft` and `swift pt`.", []),
    ],
)
def test_a_tool_that_a_sentence_starts_goes_on_with_options(tmp_path: Path, text: str, targets: list[str]) -> None:
    (tmp_path / "README.md").write_text(f"# Net\n{text}\n")
    assert [command.target for command in launch_commands(read_checkout(tmp_path))] == targets
