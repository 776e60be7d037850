"""Commands that name a program of which there are several, and what such a program is when nothing but its name tells."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.gpu_counts.machines_for_rent import detect
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

OTHER = "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n"
OWN = (
    "import argparse, torch\np = argparse.ArgumentParser()\np.add_argument('--data_type')\np.add_argument('--config_file')\n"
    + OTHER
)
TOLD = "# Net\nGo to the folder `src`:\n```\npython main.py --data_type tables --config_file a.json\n```\n"
BY_A_LIBRARY = "import torch, farlib\nif __name__ == '__main__':\n    farlib.experiment(task='a')\n"


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python main.py --data_type tables --config_file a.json", "src/main.py"),
        ("python main.py --data_type tables", "detr/main.py"),  # one word may stand anywhere
        ("python main.py", "detr/main.py"),
        ("python detr/main.py --data_type tables --config_file a.json", "detr/main.py"),
    ],
)
def test_of_programs_with_one_name_the_one_that_knows_the_options_is_meant(
    checkout: Build, command: str, path: str
) -> None:
    readme = f"# Net\n```\n{command}\n```\n"
    run = primary_run(checkout({"detr/main.py": OTHER, "src/main.py": OWN, "README.md": readme}))
    assert run is not None
    assert run.script is not None
    assert run.script.path == path


@pytest.mark.parametrize(
    ("name", "behavior"),
    [
        ("train.py", Behavior.TRAINS),
        ("pretrain.py", Behavior.TRAINS),
        ("trained.py", None),
        ("steps.py", None),
        ("tokenizer/train.py", None),
    ],
)
def test_a_program_named_for_training_trains_by_a_library_that_is_not_here(
    checkout: Build, name: str, behavior: Behavior | None
) -> None:
    run = primary_run(checkout({name: BY_A_LIBRARY, "README.md": f"# Net\n```\npython {name} --epochs 3\n```\n"}))
    assert (run.behavior if run is not None else None) == behavior


@pytest.mark.parametrize(
    ("launch", "counted"),
    [
        ("torchrun --nproc_per_node 16 main.py", {"hardware.gpu_count": "8", "hardware.num_nodes": "2"}),
        ("torchrun --nproc_per_node 16 --nnodes 4 main.py", {"hardware.gpu_count": "8", "hardware.num_nodes": "8"}),
        ("torchrun --nproc_per_node 8 --nnodes 4 main.py", {"hardware.gpu_count": "8", "hardware.num_nodes": "4"}),
        ("torchrun --nproc_per_node 4 main.py", {"hardware.gpu_count": "4"}),
    ],
)
def test_more_cards_than_machines_for_rent_have_are_several_machines(
    checkout: Build, launch: str, counted: Mapping[str, str]
) -> None:
    tree = checkout({"main.py": OTHER, "README.md": f"# Net\n```\n{launch}\n```\n"})
    found = detect(tree, primary_run(tree))
    assert {each.field: each.value for each in found} == counted
    assert all("machines for rent have 8" in each.why for each in found if " 16 " in each.why)


ANSWERS = (
    "import torch\nfrom accelerate import Accelerator\nfrom transformers import AutoModelForCausalLM\nif __name__ == '__main__':\n"
    "    model = Accelerator().prepare(AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf'))\n    model.generate(x)\n"
)


@pytest.mark.parametrize(("processes", "machines"), [(8, 1), (16, 2)])
def test_copies_on_more_cards_than_machines_for_rent_have_are_counted_once(
    checkout: Build, processes: int, machines: int
) -> None:
    readme = f"# Net\n```\naccelerate launch --num_processes {processes} main.py\n```\n"
    hardware = analyze(checkout({"main.py": ANSWERS, "README.md": readme})).spec.hardware
    assert (hardware.gpu_count, hardware.num_nodes) == (8, machines)
