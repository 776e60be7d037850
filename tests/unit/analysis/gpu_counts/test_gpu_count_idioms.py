"""Ways in which repositories write how many cards a run takes, and what looks alike and says nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.texts import is_fence
from gpu_lol_action.analysis.gpu_counts.gpu_count import detect
from gpu_lol_action.analysis.runs.runs import all_runs, primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"
SPREAD = TRAIN + "    torch.nn.DataParallel(model)\n"
FABRIC = TRAIN + "    strategy = ModelParallelStrategy(data_parallel_size=4, tensor_parallel_size=1)\n"
INFER = "from transformers import AutoModelForCausalLM as A\nkwargs = dict(device_map='auto')\nmodel = A.from_pretrained('a/b', **kwargs)\nmodel.generate(x)\n"
HYDRA = "import hydra, torch\n@hydra.main(config_path='conf', config_name='config')\ndef main(cfg):\n    loss.backward()\n    opt.step()\nmain()\n"
GROUPS = {"train.py": HYDRA, "conf/config.yaml": "devices: 1\n", "conf/big.yaml": "devices: 4\n"}


def shell(text: str) -> str:
    return f"# Use\n```\n{text}\n```\n"


PLAIN = shell("python train.py")


def counted(tree: Checkout) -> str | None:
    return next((f.value for f in detect(tree, primary_run(tree)) if f.field == "hardware.gpu_count"), None)


@pytest.mark.parametrize(
    ("files", "value"),
    [
        ({"README.md": shell("python train.py --gpu-ids 0 1 2 3")}, "4"),
        ({"README.md": shell("python train.py --gpu_ids '[0,1]'")}, "2"),
        ({"README.md": shell("python train.py --distributed-world-size 8")}, "8"),
        ({"README.md": shell("python train.py --config c.yaml"), "c.yaml": "GPUS: (0,1,2,3)\nlr: 1\n", "train.py": SPREAD}, "4"),
        ({"README.md": shell("python train.py --config c.yaml"), "c.yaml": "num_gpu: 8\n"}, "8"),
        ({"README.md": shell("python train.py --config c.yaml"), "c.yaml": "# trained with 8 GPUs\nlr: 1\n"}, "8"),
        ({"README.md": shell("deepspeed train.py --deepspeed d.json"),
          "d.json": '{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}'}, "8"),
        ({"train.py": SPREAD + "    parser.add_argument('--gpus', default='0,1,2,3')\n"}, "4"),
        ({"train.py": SPREAD + "    os.environ['CUDA_VISIBLE_DEVICES'] = '0,1'\n"}, "2"),
        ({"train.py": TRAIN + "    mp.spawn(work, nprocs=4)\n"}, "4"),
        ({"train.py": TRAIN + "    notebook_launcher(work, num_processes=2)\n"}, "2"),
        ({"train.py": FABRIC}, "4"),
        ({"train.py": SPREAD, "README.md": "# Training\nWe used three V100 GPUs.\n" + PLAIN}, "3"),
        ({"train.py": SPREAD, "README.md": "# 训练\n训练使用8张A100。\n" + PLAIN}, "8"),
        ({"train.py": SPREAD, "README.md": "# Training\nWe trained on 64 A100 GPUs.\n" + PLAIN}, "8"),
        ({"train.py": INFER, "README.md": "GPU memory: ≥3×80GB required\n" + PLAIN}, "3"),
        ({**GROUPS, "README.md": shell("python train.py --config-name big")}, "4"),
        ({**GROUPS, "README.md": shell("python train.py --config-path conf --config-name=big")}, "4"),
    ],
)  # fmt: skip
def test_a_count_is_read_however_it_is_written(checkout: Build, files: dict[str, str], value: str) -> None:
    assert counted(checkout({"train.py": TRAIN, "README.md": PLAIN, **files})) == value


@pytest.mark.parametrize(
    "program",
    [
        SPREAD
        + "    parser.add_argument('--devices', default='0,1,2,3')\n    parser.add_argument('--use_multi_gpu', action='store_true')\n",
        TRAIN + "    parser.add_argument('--gpus', default='0,1,2,3')\n",  # nothing spreads over them
        SPREAD + "    parser.add_argument('--gpus', default='0')\n",
        TRAIN + "    mp.spawn(work, nprocs=torch.cuda.device_count())\n",
        TRAIN + "    init_device_mesh('cuda', (size, 4))\n",
    ],
)
def test_what_waits_for_something_else_is_no_count(checkout: Build, program: str) -> None:
    assert counted(checkout({"train.py": program, "README.md": PLAIN})) is None


@pytest.mark.parametrize(("program", "count"), [("demo.py", None), ("train.py", "8")])
def test_the_cards_of_a_training_section_are_of_a_training(checkout: Build, program: str, count: str | None) -> None:
    infer = "import torch, yaml\ncfg = yaml.safe_load(open('net.yaml'))\nmodel.eval()\nwith torch.no_grad():\n    model(x.cuda())\n"
    files = {"train.py": TRAIN, "demo.py": infer, "net.yaml": "TRAIN:\n  WORLD_SIZE: 8\n  BATCH_SIZE: 32\n"}
    tree = checkout({**files, "README.md": shell(f"python {program} --cfg net.yaml")})
    assert counted(tree) == count


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("deepspeed --hostfile=hosts.txt train.py", "8"),
        ("deepspeed --hostfile hosts.txt --num_gpus 2 train.py", "2"),
        ("deepspeed --hostfile= train.py", None),
        ("deepspeed train.py", None),
    ],
)
def test_machines_of_a_list_are_taken_whole(checkout: Build, command: str, count: str | None) -> None:
    program = TRAIN + "    deepspeed.initialize(model=model)\n"
    assert counted(checkout({"train.py": program, "README.md": shell(command)})) == count


def test_a_model_named_by_config_name_is_no_file_of_hydra(checkout: Build) -> None:
    tree = checkout(
        {"train.py": TRAIN, "conf/gpt2.yaml": "devices: 4\n", "README.md": shell("python train.py --config_name gpt2")}
    )
    assert counted(tree) is None


def test_a_sentence_that_begins_with_evaluation_is_not_on_training(checkout: Build) -> None:
    text = "# Training\nEvaluate the fine-tuned model with 2 GPUs.\n"
    assert counted(checkout({"train.py": SPREAD, "README.md": text + PLAIN})) is None


def test_a_fence_with_a_language_ends_no_block() -> None:
    assert is_fence("```bash")
    assert not is_fence("```bash", is_code=True)
    assert is_fence("```", is_code=True)


@pytest.mark.parametrize(
    ("line", "ends"),
    [("```", True), ("  ```  ", True), ("~~~", True), ("````", True), ("```python", False), ("``` sh", False),
     ("```{r, echo=FALSE}", False), ("```python title='a b'", False), ("~~~yaml", False), ("```pip install x```", False), ("text", False)],
)  # fmt: skip
def test_only_bare_marks_end_a_block(line: str, ends: bool) -> None:
    assert is_fence(line, is_code=True) is ends


def test_a_block_that_nobody_ended_leaves_the_page_as_it_is(checkout: Build) -> None:
    page = (
        "# Install\n```bash\npip install torch\n\n```bash\ncd here\n```\n\n# Training\nWe trained on 4 V100 GPUs.\n\n"
    )
    assert counted(checkout({"train.py": SPREAD, "README.md": page + PLAIN})) == "4"


INFER_DIVIDED = "import torch\nif __name__ == '__main__':\n    fully_shard(model.cuda())\n    model.generate(x)\n"
TRAIN_DIVIDED = TRAIN + "    fully_shard(model)\n"


@pytest.mark.parametrize(
    ("program", "commands", "count"),
    [
        # What infers fits on one card where it is started plainly; what trains is divided as its other command says.
        (INFER_DIVIDED, "python run.py --task a\ntorchrun --nproc_per_node=8 run.py --task a", None),
        (TRAIN_DIVIDED, "python run.py --x\ntorchrun --nproc_per_node=8 run.py", "8"),
        (TRAIN_DIVIDED, "python run.py --x\ntorchrun --nproc_per_node=8 other.py", None),
        (TRAIN, "python run.py --x\ntorchrun --nproc_per_node=8 other.py", None),
    ],
)
def test_another_commands_count_is_for_what_trains(
    checkout: Build, program: str, commands: str, count: str | None
) -> None:
    tree = checkout({"run.py": program, "other.py": TRAIN, "README.md": shell(commands)})
    plain = next(r for r in all_runs(tree) if r.command is not None and "torchrun" not in r.command.text)
    assert next((f.value for f in detect(tree, plain) if f.field == "hardware.gpu_count"), None) == count


ACCELERATE = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmachine_rank: 0\nnum_machines: {}\nnum_processes: {}\n"
ACCELERATED = TRAIN + "    Accelerator().prepare(model)\n"


@pytest.mark.parametrize(
    ("path", "text", "count"),
    [
        ("accelerate.yaml", ACCELERATE.format(1, 4), "4"),
        ("work/a.yaml", ACCELERATE.format(1, 4), "4"),
        ("work/train/a.yaml", ACCELERATE.format(1, 4), "4"),
        ("work/train/configs/accelerate/a.yaml", ACCELERATE.format(1, 4), "4"),
        ("configs/a.yaml", ACCELERATE.format(1, 4), "4"),
        ("a.yaml", ACCELERATE.format(2, 16), "8"),
        # Another part of the tree, below the program, one process, another tool's file.
        ("other/a.yaml", ACCELERATE.format(1, 4), None),
        ("other/configs/a.yaml", ACCELERATE.format(1, 4), None),
        ("work/training/a.yaml", ACCELERATE.format(1, 4), None),
        ("work/train/sub/a.yaml", ACCELERATE.format(1, 4), None),
        ("a.yaml", ACCELERATE.format(1, 1), None),
        ("a.yaml", "num_processes: 4\n", None),
    ],
)
def test_a_launchers_configuration_counts_beside_its_program(
    checkout: Build, path: str, text: str, count: str | None
) -> None:
    files = {"work/train/train.py": ACCELERATED, path: text}
    assert counted(checkout({**files, "README.md": shell("torchrun --nproc_per_node=$N work/train/train.py")})) == count


@pytest.mark.parametrize(
    ("files", "count"),
    [
        # A model divided over one card may be repeated over any number.
        ({"c.yaml": "tensor_parallel_size: 1\n"}, None),
        ({"c.yaml": "tensor_parallel_size: 4\n"}, "4"),
        ({"c.yaml": "world_size: 8\n"}, "8"),
        ({"c.yaml": "distributed_world_size: 64\n"}, "8"),
        ({"c.yaml": "world_size: 1\n"}, None),
        ({"c.yaml": "num_devices: 4\n"}, "4"),
    ],
)
def test_a_configuration_counts(checkout: Build, files: dict[str, str], count: str | None) -> None:
    tree = checkout({"train.py": TRAIN, "README.md": shell("python train.py --config c.yaml"), **files})
    assert counted(tree) == count


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        # Set in one branch, asked for in another.
        ("    n_gpu = 1 if x else torch.cuda.device_count()\n    n_gpu = 1\n", None),
        ("    n_gpu = 1\n", "1"),
        ("    parser.add_argument('--n_gpu', default=1)\n    torch.cuda.device_count()\n", "1"),
    ],
)
def test_a_one_that_a_program_sets_beside_asking_is_no_count(checkout: Build, lines: str, count: str | None) -> None:
    assert counted(checkout({"train.py": TRAIN + lines, "README.md": PLAIN})) == count


@pytest.mark.parametrize(
    ("told", "count"),
    [
        ("torchrun --nproc_per_node=N train.py", "8"),  # the reader is to say how many
        ("torchrun --nproc_per_node=2 train.py", "2"),
        ("python train.py", None),  # started plainly
    ],
)
def test_a_launcher_without_a_number_takes_that_of_another_command(
    checkout: Build, told: str, count: str | None
) -> None:
    train = "import torch\nimport torch.distributed as dist\ndist.init_process_group('nccl')\nloss.backward()\noptimizer.step()\n"
    files = {
        "train.py": train,
        "script/train_large.sh": "torchrun --nproc_per_node=8 train.py --model large\n",
        "README.md": f"# N\n## Training\n```\n{told}\n```\n",
    }
    assert counted(checkout(files)) == count


@pytest.mark.parametrize(
    ("others", "count"),
    [
        ("torchrun --nproc_per_node=8 train.py\n", "8"),
        ("torchrun --nproc_per_node=8 train.py\naccelerate launch --num_processes 1 train.py\n", None),
        ("torchrun --nproc_per_node=8 other.py\n", None),
        ("```\n```\naccelerate launch --num_processes 8 train.py\n", None),  # the page shows both ways
    ],
)
def test_what_a_user_answered_once_is_what_all_other_launches_say(
    checkout: Build, others: str, count: str | None
) -> None:
    train = "import torch\nfrom accelerate import Accelerator\na = Accelerator()\na.backward(loss)\noptimizer.step()\n"
    files = {
        "train.py": train,
        "other.py": train,
        "cluster/job.slurm": f"#!/bin/bash\n#SBATCH --nodes=1\n{others if '`' not in others else ''}",
        "README.md": f"# N\n## Training\n```\naccelerate launch train.py\n{others if '`' in others else ''}```\n",
    }
    assert counted(checkout(files)) == count


@pytest.mark.parametrize(("joins", "count"), [("rpc.init_rpc('w', rank, world_size)", 1), ("dist.init_process_group('nccl')", 3)])  # fmt: skip
def test_ranks_that_call_each_other_are_roles_and_no_cards(checkout: Build, joins: str, count: int) -> None:
    program = (
        "import torch\nimport torch.distributed as dist\nimport torch.distributed.rpc as rpc\nimport torch.multiprocessing as mp\n"
        f"def work(rank, world_size):\n    {joins}\n    torch.nn.Linear(2, 2).cuda()(torch.ones(2).cuda()).sum().backward()\n"
        "if __name__ == '__main__':\n    world_size = 3\n    mp.spawn(work, args=(world_size,), nprocs=world_size)\n"
    )
    files = {"main.py": program, "README.md": "```\npython main.py\n```\n"}
    assert analyze(checkout(files)).proposed.hardware.gpu_count == count


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("expert_parallel_degree=8, tensor_parallel_degree=2", "8"),
        ("data_parallel_shard_degree=-1, tensor_parallel_degree=4", "4"),
        ("spmd_backend='ours'", None),
    ],
)
def test_torchtitans_degrees_are_cards(checkout: Build, given: str, count: str | None) -> None:
    program = TRAIN + f"    ParallelismConfig({given})\n"
    assert counted(checkout({"train.py": program, "README.md": PLAIN})) == count


@pytest.mark.parametrize(
    ("config", "count"),
    [
        ("parallel = dict(pipeline=2, tensor=dict(size=2, mode='1d'))\n", "4"),
        ("SIZE = 4\nparallel = dict(\n    pipeline=1,\n    tensor=dict(mode='2d', size=SIZE),\n)\n", "4"),
        ("parallel = dict(pipeline=1, tensor=dict(size=1, mode=None))\n", None),
        ("parallel = 4\n", None),
    ],
)
def test_colossals_parts_of_a_model_are_cards(checkout: Build, config: str, count: str | None) -> None:
    command = shell("colossalai run --nproc_per_node <world> train.py --config config.py")
    assert counted(checkout({"train.py": TRAIN, "config.py": config, "README.md": command})) == count


@pytest.mark.parametrize(
    ("listed", "count"),
    [
        ("vvgpu=[[0, 1, 2, 3]]", "4"),
        ("vvgpu=[[0]]", "1"),
        ("vvgpu = [\n    [0, 1],\n    [0, 1]]", "2"),
        ("gpus=None", None),
    ],
)
def test_hugectrs_solver_lists_the_cards(checkout: Build, listed: str, count: str | None) -> None:
    program = f"import hugectr\nsolver = hugectr.CreateSolver({listed})\nmodel = hugectr.Model(solver)\nmodel.fit(max_iter=10)\n"
    assert counted(checkout({"train.py": program, "README.md": PLAIN})) == count


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ("This example has been tested on 8 x 24GB A5000 GPUs.", "8"),
        ("The evaluation was tested on 8 x 24GB A5000 GPUs.", None),
        ("The inference code was tested on 8 x 24GB A5000 GPUs.", None),
        ("The code was tested on a server with 8 A5000 GPUs, using one GPU per run.", None),
    ],
)
def test_what_a_divided_run_was_tested_on(checkout: Build, said: str, count: str | None) -> None:
    readme = f"# Ours\n{said}\n# Steps\nSee `run.sh`.\n"
    files = {"README.md": readme, "run.sh": "accelerate launch --multi_gpu train.py\n", "train.py": TRAIN}
    assert counted(checkout(files)) == count


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("python [EXP_PATH] --amp_backend native -b 8 --gpus 8", "8"),
        ("torchrun --nproc_per_node=4 <your script>", "4"),
        ("accelerate launch --num_processes 2 path/to/script.py", "2"),
        ("python [EXP_PATH] --ckpt_path [CKPT_PATH] -e -b 8 --gpus 8", None),  # evaluates
        ("python [EXP_PATH] --gpus 1", None),
        ("python [EXP_PATH] --gpus 0,1", None),
        ("python -m torch.distributed.launch --nproc_per_node=4 <script.py>", "4"),
        ("python other.py --gpus 8", None),
        # Another program's, of which only an argument is left open.
        ("python other.py --config <config> --gpus 8", None),
        ("python other.py --data path/to/data --gpus 8", None),
    ],
)
def test_a_command_that_leaves_its_program_open_counts_where_none_starts_the_run_s_own(
    checkout: Build, command: str, count: str | None
) -> None:
    files = {"README.md": shell(command), "exps/one.py": TRAIN, "other.py": "print(1)\n"}
    assert counted(checkout(files)) == count


def test_a_run_with_a_command_of_its_own_takes_no_count_of_an_open_one(checkout: Build) -> None:
    files = {"README.md": shell("python exps/one.py\npython [EXP_PATH] --gpus 8"), "exps/one.py": TRAIN}
    assert counted(checkout(files)) is None
