"""Processes that a program starts one a card, layouts that it writes out, and processes that are something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.gpu_counts.gpu_count import detect
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
TRAIN = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n    opt.step()\n"
ON_CORES = "import torch\nif __name__ == '__main__':\n    loss.backward()\n    opt.step()\n"
KERAS = "import tensorflow as tf\nif __name__ == '__main__':\n    model.fit(data)\n"
README = "# Use\n```\npython train.py{}\n```\n"


def counted(tree: Checkout) -> str | None:
    return next((f.value for f in detect(tree, primary_run(tree)) if f.field == "hardware.gpu_count"), None)


@pytest.mark.parametrize(
    ("program", "count"),
    [
        (TRAIN + "    mp.spawn(work, nprocs=4)\n", "4"),
        (TRAIN + "    mp.spawn(work, (args,), 2, join=True)\n", "2"),
        (TRAIN + "    n = 4\n    mp.spawn(work, nprocs=n)\n", "4"),
        (TRAIN + "    mp.spawn(work, nprocs=1)\n", None),
        (TRAIN + "    mp.spawn(work, nprocs=64)\n", None),
        (TRAIN + "    mp.spawn(work, nprocs=unknown())\n", None),
        (TRAIN + "    mp.spawn(work)\n", None),
        # Actors and loaders on cores.
        (ON_CORES + "    mp.spawn(work, nprocs=4)\n", None),
        (TRAIN + "    init_process_group('gloo')\n    mp.spawn(work, nprocs=4)\n", None),
        (TRAIN + "    init_process_group('nccl' if gpu else 'gloo')\n    mp.spawn(work, nprocs=4)\n", "4"),
        # Another program's start, with seconds to wait for it.
        (TRAIN + "    pexpect.spawn('ls', [], 10)\n", None),
        (TRAIN + "    notebook_launcher(work, (), 2)\n", "2"),
        (TRAIN + "    notebook_launcher(work, ())\n", None),
    ],
)
def test_processes_count_where_each_takes_a_card(checkout: Build, program: str, count: str | None) -> None:
    assert counted(checkout({"train.py": program, "README.md": README.format("")})) == count


def test_an_option_says_how_many_are_started(checkout: Build) -> None:
    program = TRAIN + "    parser.add_argument('--cards', default=2)\n    mp.spawn(work, nprocs=args.cards)\n"
    assert counted(checkout({"train.py": program, "README.md": README.format(" --cards 4")})) == "4"


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("MirroredStrategy(['GPU:0', 'GPU:1'])", "2"),
        ("MirroredStrategy(devices=['/gpu:0', '/gpu:1', '/gpu:2', '/gpu:3'])", "4"),
        ("MirroredStrategy(devices=['/gpu:0'])", None),
        ("MirroredStrategy(devices=['/gpu:0', '/gpu:0'])", None),
        ("MirroredStrategy(devices=['/cpu:0', '/cpu:1'])", None),
        ("MirroredStrategy()", None),
    ],
)
def test_copies_of_a_model_count(checkout: Build, call: str, count: str | None) -> None:
    program = KERAS + f"    tf.distribute.{call}\n"
    assert counted(checkout({"train.py": program, "README.md": README.format("")})) == count


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("init_device_mesh('cuda', (2, 4))", "8"),
        ("init_device_mesh('cuda', mesh_shape=(2, 2), mesh_dim_names=('a', 'b'))", "4"),
        ("init_device_mesh('cpu', (2, 2))", None),
        ("init_device_mesh('cuda', (size, 4))", None),
        ("init_device_mesh('cuda', (1, 1))", None),
        ("init_device_mesh('cuda', (16, 16))", None),
        ("init_device_mesh('cuda', shape)", None),
        ("ModelParallelStrategy(data_parallel_size=2, tensor_parallel_size=2)", "4"),
        # What is left open may be all of the machine; its parts are two cards at least.
        ("ModelParallelStrategy(data_parallel_size='auto', tensor_parallel_size=2)", "2"),
        ("ModelParallelStrategy(data_parallel_size=2, tensor_parallel_size='auto')", None),
    ],
)
def test_a_layout_written_out_counts(checkout: Build, call: str, count: str | None) -> None:
    assert counted(checkout({"train.py": TRAIN + f"    {call}\n", "README.md": README.format("")})) == count
