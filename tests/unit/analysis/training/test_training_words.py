"""What says that a program trains where its own calls do not: modes that a command names, steps that a base class takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.spec import WorkloadType

Build = Callable[[Mapping[str, str]], Checkout]
LOADS = "import torch\nnet = torch.load('a.pt').cuda()\nnet.load_state_dict(torch.load('b.pt'))\n"
STEPS = "import torch\nfrom models import create_model\nmodel = create_model(opt)\nmodel.load_networks(3)\nfor data in loader:\n    model.set_input(data)\n    {step}\n"


@pytest.mark.parametrize(
    ("option", "workload"),
    [
        ("--opr train", WorkloadType.TRAINING),
        ("--command train", WorkloadType.TRAINING),
        ("--split train", WorkloadType.INFERENCE),
    ],
)
def test_a_mode_that_the_command_names(checkout: Build, option: str, workload: WorkloadType) -> None:
    tree = checkout({"main.py": LOADS, "README.md": f"```\npython main.py {option}\n```\n"})
    assert analyze(tree).spec.meta.workload_type is workload


@pytest.mark.parametrize("step", ["model.optimize_parameters()", "agent._train(data)"])
def test_a_step_that_another_module_takes(checkout: Build, step: str) -> None:
    tree = checkout({"main.py": STEPS.format(step=step) + LOADS, "README.md": "```\npython main.py\n```\n"})
    assert analyze(tree).spec.meta.workload_type is WorkloadType.TRAINING


def test_what_a_library_hands_on_to_boosted_trees_is_its_user_s_choice(checkout: Build) -> None:
    project = "[build-system]\nrequires=['hatchling']\n[project]\nname = 'easy'\nversion = '1'\ndependencies = ['scikit-learn', 'lightgbm']\n"
    module = "import lightgbm\n\ndef make(use_gpu):\n    return lightgbm.LGBMClassifier(device='gpu') if use_gpu else lightgbm.LGBMClassifier()\n"
    tree = checkout({"pyproject.toml": project, "easy/__init__.py": "", "easy/models.py": module})
    assert analyze(tree).spec.meta.workload_type is WorkloadType.CPU_ONLY


def test_a_function_that_is_named_for_training_is_asked_of_its_module(checkout: Build) -> None:
    files = {
        "simclr.py": "import torch\nfrom utils.steps import simclr_train\nmodel = make()\nmodel.load_state_dict(torch.load('a.pt'))\n"
        "def main():\n    for epoch in range(9):\n        simclr_train(loader, model, epoch)\nif __name__ == '__main__':\n    main()\n",
        "utils/steps.py": "import torch\ndef simclr_train(loader, model, epoch):\n    loss = model(loader).cuda()\n    loss.backward()\n",
    }
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.TRAINING
    files["simclr.py"] = files["simclr.py"].replace("simclr_train(loader, model, epoch)", "model(loader)")
    assert analyze(checkout(files)).spec.meta.workload_type is WorkloadType.INFERENCE


@pytest.mark.parametrize(
    ("name", "workload"), [("inference_faces", WorkloadType.INFERENCE), ("score_faces", WorkloadType.TRAINING)]
)
def test_what_infers_by_its_name_is_the_work_under_testing_too(
    checkout: Build, name: str, workload: WorkloadType
) -> None:
    files = {
        "README.md": f"# Testing\n```\npython {name}.py -i in\n```\n",
        f"{name}.py": LOADS,
        "engine/train.py": "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n",
    }
    assert analyze(checkout(files)).spec.meta.workload_type is workload
