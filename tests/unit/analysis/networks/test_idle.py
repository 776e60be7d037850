"""Networks that a run which only infers does not compute: judges of what a generator made, and what is only built to be converted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]
HEAD = "import torch\nfrom torch import nn\n"
RUN = "```\npython generate.py --network a.pkl\n```\n"
GENERATE = f"{HEAD}import legacy\ndef main():\n    net = legacy.load('a.pkl')['G'].cuda()\n    net.generate(torch.randn(1, 512))\nif __name__ == '__main__':\n    main()\n"
NET = "class {}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.first = nn.Linear(512, 4096)\n        self.last = nn.Linear(4096, 512)\n    def forward(self, x):\n        return self.last(self.first(x))\n"
LOAD = "import pickle\ndef load(path):\n    return pickle.load(open(path, 'rb'))\n"


def known(checkout: Build, legacy: str, start: str = GENERATE) -> list[str]:
    tree = {"generate.py": start, "legacy.py": HEAD + LOAD + legacy, "README.md": RUN}
    return [finding.value for finding in analyze(checkout(tree)).findings if finding.field == "media.own_network"]


@pytest.mark.parametrize(
    ("name", "is_taken"),
    [
        ("Discriminator", False),
        ("NLayerDiscriminator", False),
        ("Critic", False),
        ("Generator", True),
        ("ActorCritic", True),
        ("ElectraDiscriminator", True),
    ],
)
def test_what_judged_a_generator_is_not_what_is_run(checkout: Build, name: str, is_taken: bool) -> None:
    built = f"{NET.format(name)}def main():\n    return {name}()\n"
    assert known(checkout, built) == [name] * is_taken


@pytest.mark.parametrize(
    ("name", "is_taken"),
    [("convert_old", False), ("load_from_tf", False), ("build", True), ("converted", True)],
)
def test_what_is_built_to_be_filled_from_an_older_checkpoint_is_not_what_is_run(
    checkout: Build, name: str, is_taken: bool
) -> None:
    built = f"{NET.format('Net')}def {name}(old=None):\n    return Net()\ndef main():\n    return {name}()\n"
    assert known(checkout, built) == ["Net"] * is_taken


def test_a_builder_that_may_fill_its_network_builds_it_all_the_same(checkout: Build) -> None:
    built = f"{NET.format('Net')}def build({{}}):\n    return Net()\ndef main(path=''):\n    return build(checkpoint=path)\n"
    assert known(checkout, built.format("checkpoint=None")) == ["Net"]
    assert known(checkout, built.format("checkpoint")) == []  # its weights tell how large it is


def test_a_training_needs_its_judge_and_a_program_that_converts_computes_what_it_builds(checkout: Build) -> None:
    built = f"{NET.format('Discriminator')}def main():\n    return Discriminator()\n"
    steps = GENERATE.replace("net.generate(torch.randn(1, 512))", "net(1).backward()\n    torch.optim.Adam(net).step()")
    assert known(checkout, built, steps) == ["Discriminator"]
    own = f"{HEAD}{NET.format('Net')}def convert_old():\n    return Net().cuda()\nnet = convert_old()\nnet.load_state_dict(torch.load('a'))\nprint(net.generate(1))\n"
    assert known(checkout, "", own) == ["Net"]
