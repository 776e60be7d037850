from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.gpu_counts.gpu_count import detect
from gpu_lol_action.analysis.gpu_counts.ray_workers import ray_workers
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.runs.settings import Scope
from gpu_lol_action.domain.finding import Confidence

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
DDP = TRAIN + "    torch.nn.parallel.DistributedDataParallel(model)\n"


def counted(tree: Checkout) -> tuple[str, Confidence] | None:
    found = [item for item in detect(tree, primary_run(tree)) if item.field == "hardware.gpu_count"]
    return (found[0].value, found[0].confidence) if found else None


def shell(text: str) -> str:
    return f"```\n{text}\n```\n"


@pytest.mark.parametrize(
    ("files", "value"),
    [
        # The launcher's word, over everything else.
        ({"README.md": "Trained on 8 A100 GPUs.\n" + shell("torchrun --nproc_per_node=2 train.py --devices 4")}, "2"),
        ({"README.md": shell("sbatch go.slurm"), "go.slurm": "#SBATCH --gres=gpu:4\ntorchrun --nproc_per_node=$SLURM_GPUS train.py\n"}, "4"),
        ({"README.md": shell("python train.py --device 0,1,2")}, "3"),
        ({"README.md": shell("python train.py --world_size 2")}, "2"),
        ({"README.md": shell("python train.py --multiprocessing-distributed --world-size 2 --rank 0 data")}, "8"),
        ({"README.md": shell("python train.py trainer.devices=4 trainer.precision=16")}, "4"),
        ({"README.md": shell("python train.py trainer.n_gpus_per_node=8 trainer.nnodes=1")}, "8"),
        ({"README.md": shell("ray job submit -- python train.py --actor_num_gpus_per_node 4 --critic_num_gpus_per_node 2")}, "4"),
        ({"README.md": shell("CONFIG=a.toml ./run.sh"), "run.sh": 'NGPU=${NGPU:-"8"}\ntorchrun --nproc_per_node=${NGPU} train.py --c ${CONFIG}\n'}, "8"),
        # Its configuration.
        ({"README.md": shell("accelerate launch --config_file a.yaml train.py"), "a.yaml": "num_processes: 16\nnum_machines: 2\n"}, "8"),
        ({"README.md": shell("python train.py --config c.yaml"), "c.yaml": "trainer:\n  devices: 4\n  num_nodes: 1\n"}, "4"),
        ({"README.md": shell("python train.py configs/net_4xb16.py"), "configs/net_4xb16.py": "model = dict(type='x')\n"}, "4"),
        ({"run_2gpu.sh": "accelerate launch train.py\n"}, "2"),
        # Its program.
        ({"README.md": shell("torchrun --nproc_per_node=$N train.py"), "train.py": DDP + "    assert world_size == 4, 'four'\n"}, "4"),
        # What a getter of one kind of parallelism insists on is no number of processes.
        ({"README.md": "# Training\nTrain on 4 GPUs.\n" + shell("torchrun --nproc_per_node=$N train.py"), "train.py": DDP + "    assert get_pipeline_model_parallel_world_size() == 1\n"}, "4"),
        ({"README.md": "# Training\nTrain on 4 GPUs.\n" + shell("torchrun --nproc_per_node=$N train.py"), "train.py": DDP + "    assert ddp_world_size == 8, 'eight'\n"}, "8"),
        ({"README.md": "# Training\nTrain on 4 GPUs.\n" + shell("torchrun --nproc_per_node=$N train.py"), "train.py": DDP + "    assert self._world_size == 2, 'two'\n"}, "2"),
        ({"README.md": "# Training\nTrain on 4 GPUs.\n" + shell("torchrun --nproc_per_node=$N train.py"), "train.py": DDP + "    assert self.dcp_world_size == 1, 'not yet'\n"}, "4"),
        ({"README.md": "# Training\nTrain on 4 GPUs.\n" + shell("torchrun --nproc_per_node=$N train.py"), "train.py": DDP + "    if not cuda:\n        # one\n        assert world_size == 1, 'NCCL'\n"}, "4"),
        # The documentation, for a run that spreads over a number it does not say.
        ({"README.md": "# Training\nWe used 8 A100 GPUs.\n" + shell("torchrun --nproc_per_node=N train.py")}, "8"),
        ({"README.md": "# Training\nRun on 4 V100 GPUs:\n" + shell("python train.py"), "train.py": DDP}, "4"),
        # Another command of a program that divides its model.
        ({"README.md": shell("python train.py\npython train.py --x\ntorchrun --nproc_per_node=2 train.py"), "train.py": TRAIN + "    fully_shard(model)\n"}, "2"),
    ],
)  # fmt: skip
def test_the_count_is_what_the_run_says(checkout: Build, files: dict[str, str], value: str) -> None:
    found = counted(checkout({"train.py": TRAIN, **files}))
    assert found is not None
    assert found[0] == value


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": shell("python train.py"), "train.py": DDP},
        {"README.md": shell("python train.py"), "train.py": TRAIN + "    torch.distributed.init_process_group()\n    rank = os.environ['LOCAL_RANK']\n"},
        {"README.md": "You may also use `torchrun`.\n" + shell("python train.py"), "train.py": DDP},
        # Being able to is no count, nor are documents on other things.
        {"README.md": "# Serving\nWe serve on 8 A100 GPUs.\n# Training\n" + shell("python train.py"), "train.py": DDP},
        {"README.md": "Evaluated on 4 V100 GPUs.\n" + shell("python train.py"), "train.py": TRAIN},
        {"README.md": shell("python train.py --gpu 0"), "train.py": TRAIN},
        {"README.md": "Others ran it on 8 A100 GPUs.\n" + shell("python sample.py"), "sample.py": "import torch\nmodel.cuda().generate(x)\n"},
    ],
)  # fmt: skip
def test_what_could_run_on_several_says_no_count(checkout: Build, files: dict[str, str]) -> None:
    tree = checkout({"train.py": TRAIN, **files})
    assert counted(tree) is None
    assert analyze(tree).spec.hardware.gpu_count == 1


def test_machines_are_counted_apart_from_their_gpus(checkout: Build) -> None:
    tree = checkout({"train.py": TRAIN, "go.sh": "torchrun --nnodes=2 --nproc_per_node=8 train.py\n"})
    hardware = analyze(tree).spec.hardware
    assert (hardware.gpu_count, hardware.num_nodes) == (8, 2)


def test_eight_are_answered_eight_and_a_launchers_word_is_surest(checkout: Build) -> None:
    tree = checkout({"train.py": TRAIN, "README.md": shell("torchrun --standalone --nproc_per_node=8 train.py")})
    assert counted(tree) == ("8", Confidence.HIGH)
    assert analyze(tree).spec.hardware.gpu_count == 8


def test_a_documented_count_weighs_least(checkout: Build) -> None:
    tree = checkout(
        {"train.py": DDP, "README.md": "# Train\nOn 4 A100 GPUs:\n" + shell("torchrun --nproc_per_node=N train.py")}
    )
    assert counted(tree) == ("4", Confidence.LOW)


LARGE = "from transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n    model = AutoModelForCausalLM.from_pretrained(path{})\n    model.generate(x)\n"


@pytest.mark.parametrize(
    ("text", "placed", "value"),
    [
        ("We recommend using 4 x A100 GPU with 80GB memory.", ", device_map='auto'", "4"),
        # The program keeps to one card, or nobody demands several.
        ("We recommend using 4 x A100 GPU with 80GB memory.", "", None),
        ("See also the 4 x A100 results.", ", device_map='auto'", None),
    ],
)
def test_cards_that_are_demanded_count_where_layers_are_spread(
    checkout: Build, text: str, placed: str, value: str | None
) -> None:
    tree = checkout({"README.md": f"{text}\n" + shell("python infer.py"), "infer.py": LARGE.format(placed)})
    said = counted(tree)
    assert (said and said[0]) == value


def test_cards_of_a_documented_run_count_where_the_program_cuts_its_model_into_stages(checkout: Build) -> None:
    program = "import torch\nfrom accelerate import prepare_pippy\nif __name__ == '__main__':\n    prepare_pippy(model.cuda())\n    model.generate(x)\n"
    tree = checkout(
        {"README.md": "When running on 2x4090's:\n" + shell("accelerate launch infer.py"), "infer.py": program}
    )
    assert counted(tree) == ("2", Confidence.LOW)


PMAP = "import jax\nif __name__ == '__main__':\n    jax.pmap(jax.value_and_grad(loss))(x)\n"


@pytest.mark.parametrize(("head", "value"), [("Training time", "8"), ("Latency", None)])
def test_head_of_a_table_says_what_its_rows_are_about(checkout: Build, head: str, value: str | None) -> None:
    table = f"Hardware | {head}\n--- | ---\nTPU v3-8 | 13h\nGPU V100 x8 | 1h 58m\n"
    tree = checkout(
        {
            "README.md": f"# Results\n{table}\n# Start\n" + shell("python main.py"),
            "main.py": PMAP,
            "requirements.txt": "jax\n",
        }
    )
    said = counted(tree)
    assert (said and said[0]) == value


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ("a.to('cuda:0')\nb.to('cuda:1')\n", "2"),
        ("device = 'cuda'  # 'cpu', 'cuda:0', 'cuda:1' and so on\n", None),
        ("device = 'cuda'  # examples: 'cuda:0', or \"cuda:1\"\n", None),
        ("a.cuda(0)\nb.cuda(1)\nc.cuda(2)\n", "3"),
        ("a.to('cuda:1')\n", None),  # one card, if not the first
        ("p.add_argument('--device', help='\"cuda:0\" or \"cuda:1\"')\n", None),
    ],
)
def test_cards_on_which_the_program_puts_its_parts(checkout: Build, lines: str, value: str | None) -> None:
    found = counted(checkout({"train.py": f"{lines}{TRAIN}"}))
    assert (found[0] if found else None) == value


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("num_workers=4, use_gpu=True", ["4"]),
        ("num_workers=WORKERS, use_gpu=True", ["8"]),
        ("num_workers=4, use_gpu=False", []),
        ("num_workers=4", []),
        ("num_workers=args.workers, use_gpu=True", ["2"]),  # what it starts with, where no command says another
        ("num_workers=count(), use_gpu=True", []),
    ],
)
def test_rays_workers_take_a_gpu_each_where_they_are_told_to(checkout, config, expected):
    program = (
        "import argparse\nfrom ray.train import ScalingConfig\nWORKERS = 16\np = argparse.ArgumentParser()\n"
        f"p.add_argument('--workers', type=int, default=2)\nargs = p.parse_args()\nc = ScalingConfig({config})\n"
    )
    script = checkout({"train.py": program}).find("train.py")
    assert [finding.value for finding in ray_workers(script, Scope(()), (script,))] == expected
