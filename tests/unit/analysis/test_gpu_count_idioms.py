"""Ways in which repositories write how many cards a run takes, and what looks alike and says nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.gpu_count import detect
from gpu_lol_action.analysis.runs import primary_run
from gpu_lol_action.analysis.texts import is_fence

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
