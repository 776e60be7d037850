"""Experiments of Determined start the program that they name, on the slots that they ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
MODEL = "import torch\nfrom determined.pytorch import PyTorchTrial\nclass OurTrial(PyTorchTrial):\n    def train_batch(self, batch):\n        self.context.backward(loss)\n"
EXPERIMENT = "name: ours\nhyperparameters:\n  global_batch_size: 32\nresources:\n  slots_per_trial: 4\nsearcher:\n  name: single\n"


@pytest.mark.parametrize(
    ("entry", "target"),
    [
        ("entrypoint: model_def:OurTrial", "model_def.py"),
        ("entrypoint: parts.model:OurTrial", "parts/model.py"),
        ("entrypoint: python3 -m determined.launch.horovod --autohorovod --trial model_def:OurTrial", "model_def.py"),
        ("entrypoint: python3 -m determined.launch.torch_distributed python3 tune.py --lr 1", "tune.py"),
        ("entrypoint: >-\n  python3 -m determined.launch.deepspeed\n  python3 tune.py", "tune.py"),
        ("entrypoint:\n  - python3\n  - -m\n  - determined.launch.torch_distributed\n  - --\n  - python3\n  - tune.py", "tune.py"),
    ],
)  # fmt: skip
def test_the_program_of_an_experiment(checkout: Build, entry: str, target: str) -> None:
    files = {"model_def.py": MODEL, "parts/model.py": MODEL, "tune.py": MODEL, "const.yaml": f"{EXPERIMENT}{entry}\n"}
    (command,) = launch_commands(checkout(files))
    assert (command.target, command.processes) == (target, 4)


@pytest.mark.parametrize(("slots", "cards", "machines"), [("8", 8, 1), ("16", 8, 2), ("64", 8, 8)])
def test_more_slots_than_a_machine_has_are_several(checkout: Build, slots: str, cards: int, machines: int) -> None:
    text = f"{EXPERIMENT.replace('4', slots)}entrypoint: model_def:OurTrial\n"
    (command,) = launch_commands(checkout({"model_def.py": MODEL, "const.yaml": text}))
    assert (command.processes, command.nodes) == (cards, machines)


def test_a_file_with_another_entrypoint_is_no_experiment(checkout: Build) -> None:
    files = {"model_def.py": MODEL, "service.yaml": "name: ours\nentrypoint: model_def:OurTrial\nport: 80\n"}
    assert launch_commands(checkout(files)) == ()


def test_the_experiment_that_a_document_creates_goes_before_what_it_infers_with(checkout: Build) -> None:
    files = {
        "README.md": "# Tuning\n\n```sh\ndet e create second.yaml .\n```\n\nThen:\n\n```sh\npython ask.py\n```\n",
        "model_def.py": MODEL,
        "ask.py": "import torch\nmodel = torch.load('m.pt')\nmodel.generate('x')\nif __name__ == '__main__':\n    main()\n",
        "first.yaml": f"{EXPERIMENT}entrypoint: model_def:OurTrial\n",
        "second.yaml": f"{EXPERIMENT.replace('4', '2')}entrypoint: model_def:OurTrial\n",
    }
    found = analyze(checkout(files)).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == ("training", 2)


def test_a_trial_of_a_librarys_base_trains(checkout: Build) -> None:
    model = (
        "import determined.pytorch\nimport model_hub.huggingface as hf\n"
        "class OurTrial(hf.BaseTransformerTrial):\n    def evaluate(self, batch):\n        return {}\n"
    )
    found = analyze(
        checkout({"model_def.py": model, "const.yaml": f"{EXPERIMENT}entrypoint: model_def:OurTrial\n"})
    ).spec
    assert (found.meta.workload_type.value, found.hardware.gpu_count) == ("training", 4)
