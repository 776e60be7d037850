"""Work that code puts on a card, though nothing that it imports is known to compute on one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
LONG = "# Hands\n" + "It tells what a hand points at. " * 20


def workload(checkout: Build, files: Mapping[str, str]) -> str:
    return analyze(checkout(files)).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("painter = painter.to('cuda')", "inference"),
        ("painter.cuda()", "inference"),
        ("device = 'cuda' if there() else 'cpu'", "cpu-only"),
        ("painter.paint('a house')", "cpu-only"),
    ],
)  # fmt: skip
def test_a_block_of_code_in_a_document(checkout: Build, line: str, expected: str) -> None:
    block = f"\n```\nfrom ourpaint import MODELS\npainter = MODELS.build(config)\n{line}\n```\n"
    assert workload(checkout, {"README.md": LONG + block, "config.py": "model = dict(type='Painter')\n"}) == expected


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("'--device', default='cuda:0'", "inference"),
        ("'--device', default='cpu'", "cpu-only"),
        ("'--device', help='cuda or cpu'", "cpu-only"),
    ],
)
def test_a_program_that_starts_on_a_card(checkout: Build, option: str, expected: str) -> None:
    program = (
        f"import argparse\nimport ourpose\nparser = argparse.ArgumentParser()\nparser.add_argument({option})\n"
        "if __name__ == '__main__':\n    ourpose.look(parser.parse_args())\n"
    )
    assert workload(checkout, {"README.md": LONG, "look.py": program}) in {expected, "interactive"} - (
        {"interactive"} if expected == "cpu-only" else set()
    )


def test_a_library_s_list_is_complete(checkout: Build) -> None:
    setup = "from setuptools import setup\nsetup(name='explain', install_requires=['numpy'], packages=['explain'])\n"
    files = {
        "setup.py": setup,
        "explain/__init__.py": "import numpy\n",
        "notebooks/one.py": "import theirs\ntheirs.load().to('cuda')\n",
    }
    assert workload(checkout, {"README.md": LONG, **files}) == "cpu-only"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("${TITAN_ROOT}/run_train.sh ${MORE} 2>&1 | tee log", "training"),
        ("bash $LAB_DIR/scripts/finetune_all.sh", "training"),
        ("${ROOT}/download.sh", "cpu-only"),
    ],
)
def test_a_script_that_starts_another_checkout_s_training(checkout: Build, command: str, expected: str) -> None:
    assert workload(checkout, {"README.md": LONG, "bench.sh": f"#!/bin/bash\ncd $HOME\n{command}\n"}) == expected


def test_a_promise_of_cores_yields_to_a_program_that_starts_on_a_card(checkout: Build) -> None:
    program = (
        "import argparse\nimport torch\nfrom ourpose import init\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--device', {})\nargs = parser.parse_args()\n"
        "if __name__ == '__main__':\n    init('net.pth', device=args.device)(torch.zeros(9))\n"
    )
    readme = LONG + "The models run fast on a CPU.\n"
    assert workload(checkout, {"README.md": readme, "look.py": program.format("default='cuda:0'")}) != "cpu-only"
    assert workload(checkout, {"README.md": readme, "look.py": program.format("default='cpu'")}) == "cpu-only"


@pytest.mark.parametrize(
    ("words", "expected"), [("We train it, then train it again: training.", "training"), ("", "interactive")]
)
def test_where_nothing_starts_the_readme_says_what_is_done(checkout: Build, words: str, expected: str) -> None:
    module = "import torch\nclass Learner:\n    device_count = torch.cuda.device_count()\n"
    assert workload(checkout, {"README.md": f"{LONG}\n{words}", "learner.py": module}) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("CUDA_VISIBLE_DEVICES=0,1 python score.py --batch 8", "inference"),
        ("CUDA_VISIBLE_DEVICES=0 \\\npython score.py", "inference"),
        ("CUDA_VISIBLE_DEVICES= python score.py", "cpu-only"),
        ("CUDA_VISIBLE_DEVICES=-1 python score.py", "cpu-only"),
        ("python score.py  # CUDA_VISIBLE_DEVICES=0 is not used", "cpu-only"),
    ],
)
def test_a_program_that_is_started_with_cards_left_to_it(checkout: Build, line: str, expected: str) -> None:
    files = {"README.md": f"{LONG}\n```bash\n{line}\n```\n", "score.py": "from ourscores import Score\nScore.main()\n"}
    assert workload(checkout, files) == expected


def test_cards_left_to_a_strangers_program_are_none_of_this_one(checkout: Build) -> None:
    readme = f"{LONG}\n```bash\nCUDA_VISIBLE_DEVICES=0 python train.py\n```\n"
    files = {"README.md": readme, "queue.py": "import os\nif __name__ == '__main__':\n    print(os.stat('/'))\n"}
    assert workload(checkout, files) == "cpu-only"


def test_the_form_of_any_readers_command_is_no_training_of_this_one(checkout: Build) -> None:
    shown = "```bash\ntorchrun {} train.py {}\n```\n"
    files = {"watch.py": "import os\nif __name__ == '__main__':\n    print(os.stat('/'))\n"}
    assert workload(checkout, {"README.md": LONG + shown.format("...", "..."), **files}) == "cpu-only"
    assert workload(checkout, {"README.md": LONG + shown.format("--nproc_per_node 4", "-c a"), **files}) == "training"


INDEX = "import faiss\nimport numpy as np\n{before}index = {made}\nindex.add(np.zeros((9, 128), 'float32'))\n"


@pytest.mark.parametrize(
    ("before", "made", "expected"),
    [
        ("", "faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, faiss.IndexFlatL2(128))", "inference"),
        ("", "faiss.GpuIndexFlatL2(res, 128)", "inference"),
        ("", "faiss.IndexFlatL2(128)", "cpu-only"),
        # A program that asks first works without one.
        ("if faiss.get_num_gpus():\n    pass\n", "faiss.index_cpu_to_all_gpus(flat)", "cpu-only"),
        (
            "index = flat\nif args.use_gpu:\n    index = faiss.index_cpu_to_all_gpus(flat)\n",
            "faiss.IndexFlatL2(128)",
            "cpu-only",
        ),
        # What stands elsewhere guards nothing.
        (
            "try:\n    x = np.load('x.npy')\nexcept OSError:\n    x = None\n",
            "faiss.index_cpu_to_all_gpus(flat)",
            "inference",
        ),
        (
            "try:\n    faiss.StandardGpuResources()\nexcept AttributeError:\n    pass\n",
            "faiss.IndexFlatL2(128)",
            "cpu-only",
        ),
        ("# faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, index)\n", "faiss.IndexFlatL2(128)", "cpu-only"),
    ],
)
def test_an_index_that_is_kept_on_a_card(checkout: Build, before: str, made: str, expected: str) -> None:
    program = INDEX.format(before=before, made=made)
    assert workload(checkout, {"main.py": program, "requirements.txt": "faiss-gpu-cu12\nnumpy\n"}) == expected


RLLIB = "from ray.rllib.algorithms.ppo import PPOConfig\nalgo = PPOConfig().resources(num_gpus={count}).build()\nalgo.train()\n"


@pytest.mark.parametrize(("count", "cards"), [("1", 1), ("0", 0)])
def test_a_card_that_is_ordered_from_ray(checkout: Build, count: str, cards: int) -> None:
    found = analyze(checkout({"main.py": RLLIB.format(count=count), "requirements.txt": "ray[rllib]\ntorch\n"}))
    assert (found.spec.hardware.gpu_count or 0) == cards


@pytest.mark.parametrize(
    ("program", "lists", "cards"),
    [
        ("from numba import cuda\n@cuda.jit\ndef kernel(a):\n    a[0] = 1\nkernel[1, 1](a)\n", "numba\n", 1),
        ("from numba import cuda\n@cuda.jit\ndef k(a):\n    a[0] = 1\ntry:\n    n = int(input())\nexcept ValueError:\n    n = 4\nk[1, n](a)\n", "numba\n", 1),
        ("import ray\n@ray.remote(num_gpus=1)\ndef f(): ...\n", "ray\n", 1),
        ("import ray\nprint('use num_gpus=1 for a card')\n", "ray\n", 0),
        ("from numba import jit\n@jit\ndef f(a):\n    return a\nf(1)\n", "numba\n", 0),
        ("from numba import cuda\nif cuda.is_available():\n    @cuda.jit\n    def k(a): ...\n", "numba\n", 0),
        ("from paddleocr import PaddleOCR\nPaddleOCR(lang='en', use_gpu=True).ocr('a.png')\n", "paddlepaddle-gpu\n", 1),
        ("import numba\nTEXT = '''\n@cuda.jit\ndef k(a): ...\n'''\n", "numba\n", 0),
        ("from paddleocr import PaddleOCR\nprint('(use_gpu=True) is faster')\nPaddleOCR(use_gpu=False).ocr('a')\n", "paddlepaddle-gpu\n", 0),
        ("import ray\nTEXT = '''\n@ray.remote(num_gpus=1)\n'''\n", "ray\n", 0),
        ("from paddleocr import PaddleOCR\nPaddleOCR(lang='en', use_gpu=False).ocr('a.png')\n", "paddlepaddle-gpu\n", 0),
        ("import paddleocr\ndef read(use_gpu=True):\n    return use_gpu\n", "paddleocr\n", 0),
    ],
)  # fmt: skip
def test_a_kernel_of_numba_and_a_switch_of_paddle_take_a_card(
    checkout: Build, program: str, lists: str, cards: int
) -> None:
    found = analyze(checkout({"main.py": program, "requirements.txt": lists}))
    assert (found.spec.hardware.gpu_count or 0) == cards


@pytest.mark.parametrize(
    ("sentence", "gigabytes"), [("Requires a CUDA-ready GPU with 24 GB VRAM.", 24), ("It draws scenes.", None)]
)
def test_a_readme_s_demand_counts_for_what_it_starts_also_where_no_program_names_a_device(
    checkout: Build, sentence: str, gigabytes: int | None
) -> None:
    files = {
        "train.py": "import torch\nfrom renderer import render\ndef training():\n    render().backward()\n"
        "if __name__ == '__main__':\n    training()\n",
        "README.md": f"# Scenes\n\n{sentence}\n```\npython train.py -s data\n```\n",
        "requirements.txt": "torch\n",
    }
    found = analyze(checkout(files))
    assert found.spec.hardware.vram_required_gb == gigabytes


@pytest.mark.parametrize(
    "sentence",
    [
        "Training requires a GPU with 24 GB of VRAM, the demo runs on any laptop.",
        "The original model requires a GPU with 24 GB VRAM. Ours does not.",
    ],
)
def test_a_demand_for_something_else_is_none_of_a_program_on_a_cpu(checkout: Build, sentence: str) -> None:
    program = "import torch\nfrom torchvision.models import resnet18\nm = resnet18().to(torch.device('cpu'))\nprint(m(torch.zeros(1, 3, 224, 224)))\n"
    readme = f"# Demo\n\n{sentence}\n```\npython demo.py\n```\n"
    files = {"demo.py": program, "README.md": readme, "requirements.txt": "torch\ntorchvision\n"}
    assert workload(checkout, files) == "cpu-only"


@pytest.mark.parametrize("recipe", ["@which nvcc || echo none", "@nvcc --version || true"])
def test_a_makefile_that_only_looks_for_a_compiler_needs_none(checkout: Build, recipe: str) -> None:
    files = {
        "Makefile": f"all:\n\t{recipe}\n",
        "train.py": "import torch\nnet.cuda()\nloss.backward()\n",
        "requirements.txt": "torch\n",
    }
    assert (analyze(checkout(files)).spec.environment.base_image or "").endswith("-runtime")


def test_a_makefile_that_compiles_cuda_gets_an_image_with_a_compiler(checkout: Build) -> None:
    files = {"Makefile": "all:\n\tnvcc -o mm mm.cu\n", "mm.cu": "__global__ void k(float *a) { a[0] = 1; }\n"}
    assert (analyze(checkout(files)).spec.environment.base_image or "").endswith("-devel")
