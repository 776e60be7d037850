"""Programs that are near to training and do not train, and those that train under other names."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.program_behavior import program_behavior
from gpu_lol_action.analysis.runs.runs import primary_run
from tests.unit.analysis.conftest import Build

HELPERS = "import torch\n\ndef first_step(model, optimizer):\n    model.sum().backward()\n    optimizer.step()\n    optimizer.zero_grad()\n\ndef pick(x):\n    return x.max()\n"
BUILD = "import torch\nfrom lab.helpers import {}\nfrom lab.inference import look\n\ndef main():\n    {}\n    look()\n\nif __name__ == '__main__':\n    main()\n"
INFER = "import torch\n\ndef look():\n    net = torch.hub.load('a/b', 'c')\n    return net.cuda().generate()\n"


@pytest.mark.parametrize(
    ("taken", "called", "expected"),
    [("pick", "pick(1)", Behavior.INFERS), ("first_step", "first_step(1, 2)", Behavior.TRAINS)],
)
def test_a_helper_that_nobody_calls_trains_nothing(
    checkout: Build, taken: str, called: str, expected: Behavior
) -> None:
    files = {"lab/__init__.py": "", "lab/helpers.py": HELPERS, "lab/inference.py": INFER, "build.py": BUILD.format(taken, called)}  # fmt: skip
    tree = checkout(files)
    script = tree.find("build.py")
    assert script is not None
    assert program_behavior(tree, script) is expected


TRAINER = "import torch\n\nclass Trainer:\n    def train_step(self, loss):\n        loss.backward()\n        self.optimizer.zero_grad()\n"
DEPTHS = "import torch\nimport lab\n\ndef depths(config):\n    net = lab.get_network(config).cuda()\n    net.eval()\n    {}\n\nif __name__ == '__main__':\n    depths({{}})\n"


@pytest.mark.parametrize(
    ("trainer", "program", "expected"),
    [
        (TRAINER, DEPTHS.format("net(1)"), Behavior.INFERS),
        (TRAINER, DEPTHS.format("lab.Trainer(net).train_step(1)"), Behavior.TRAINS),
        (TRAINER, DEPTHS.format("getattr(lab, config['class'])(net)"), Behavior.TRAINS),
        (TRAINER, DEPTHS.format("hydra.utils.instantiate(config['trainer'])"), Behavior.TRAINS),
        (TRAINER.replace("class", "@TRAINERS.register_module()\nclass"), DEPTHS.format("net(1)"), Behavior.TRAINS),
        (f"{TRAINER}\nKINDS = {{'plain': Trainer}}\n", DEPTHS.format("net(1)"), Behavior.TRAINS),
        (f"{TRAINER}\nTrainer().train_step(1)\n", DEPTHS.format("net(1)"), Behavior.TRAINS),
    ],
    ids=[
        "never made",
        "made",
        "made by a name that is read",
        "made by Hydra",
        "registered",
        "in a table",
        "made as it is imported",
    ],
)
def test_a_trainer_that_a_package_offers_trains_only_where_it_is_made(
    checkout: Build, trainer: str, program: str, expected: Behavior
) -> None:
    offer = "from lab.network import (\n    get_network,\n)\nfrom lab.training import Trainer\n\n__all__ = [\n    'Trainer',\n]\n"
    network = "import torch\n\ndef get_network(config):\n    return torch.hub.load('a/b', 'c')\n"
    files = {"lab/__init__.py": offer, "lab/network.py": network, "lab/training.py": trainer, "depths.py": program}
    tree = checkout(files)
    script = tree.find("depths.py")
    assert script is not None
    assert program_behavior(tree, script) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("generation_train.py", Behavior.TRAINS), ("train_generation.py", Behavior.TRAINS), ("generation_sample.py", Behavior.INFERS)],
)  # fmt: skip
def test_the_last_word_of_a_name_says_what_it_is_for(checkout: Build, name: str, expected: Behavior) -> None:
    loop = "import torch\n\nclass Loop:\n    def run(self, loss):\n        loss.backward()\n"
    program = "import torch\nfrom loop import Loop\nif __name__ == '__main__':\n    Loop().run(torch.ones(1).cuda())\n"
    tree = checkout({"loop.py": loop, name: program})
    script = tree.find(name)
    assert script is not None
    assert program_behavior(tree, script) is expected


def test_a_runner_of_openmmlab_trains(checkout: Build) -> None:
    program = "import torch\nfrom mmcv.runner import EpochBasedRunner, load_checkpoint\nif __name__ == '__main__':\n    load_checkpoint(net)\n    EpochBasedRunner(net).run([loader], [('train', 1)])\n"
    tree = checkout({"train.py": program})
    assert primary_run(tree).behavior is Behavior.TRAINS


@pytest.mark.parametrize(("library", "expected"), [("tensorflow", Behavior.TRAINS), ("torch", Behavior.INFERS)])
def test_only_tensorflow_s_models_train_by_that(checkout: Build, library: str, expected: Behavior) -> None:
    network = f"import {library}\n\nclass Net:\n    def predict(self):\n        return self.net.predict()\n"
    program = "from network import Net\nif __name__ == '__main__':\n    model = Net()\n    model.train()\n"
    tree = checkout({"network.py": network, "main.py": program})
    script = tree.find("main.py")
    assert script is not None
    assert program_behavior(tree, script) is expected


ROUTED = 'import importlib\nimport lab.{folder}.build\nimport lab.{folder}.train_net\n\ndef main():\n    modules = {{\n        "build": lab.{folder}.build,\n        "train_net": lab.{folder}.train_net,\n    }}\n    args.func(args)\n'
BY_NAME = "import os\nfrom importlib import import_module\nCOMMANDS = [\"build\", \"train_net\"]\n\ndef main():\n    for name in COMMANDS:\n        import_module('.'.join(['lab', 'commands', name]))\n"


@pytest.mark.parametrize(("router", "folder"), [(ROUTED.format(folder="apps"), "apps"), (BY_NAME, "commands")])
@pytest.mark.parametrize(("verb", "expected"), [("build", Behavior.INFERS), ("train_net", Behavior.TRAINS)])
def test_a_command_starts_the_module_of_its_verb(
    checkout: Build, router: str, folder: str, verb: str, expected: Behavior
) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "lab"\nversion = "1"\n[project.scripts]\nlab = "lab.command_line:main"\n',
        "README.md": f"# Lab\n```\nlab {verb} -o out\n```\n",
        "lab/__init__.py": "",
        "lab/command_line.py": router,
        f"lab/{folder}/__init__.py": "",
        f"lab/{folder}/build.py": f"{INFER}\ndef main(args):\n    look()\n",
        f"lab/{folder}/train_net.py": "import torch\n\ndef main(args):\n    loss.cuda().backward()\n    optimizer.step()\n",
    }
    assert primary_run(checkout(files)).behavior is expected


@pytest.mark.parametrize("load", ["Net.load_from_checkpoint(path)", "Net().load_state_dict(torch.load(path))"])
def test_a_program_that_loads_what_was_trained_runs_it(checkout: Build, load: str) -> None:
    program = f"import torch\nfrom net import Net\nif __name__ == '__main__':\n    net = {load}\n    net.diversify(ligand.to('cuda'))\n"
    tree = checkout({"optimize.py": program, "net.py": "class Net: pass\n"})
    source = tree.find("optimize.py")
    assert source is not None
    assert program_behavior(tree, source) is Behavior.INFERS
