"""What is found once of a program's networks: names that stay what they are, runs that differ in nothing that is asked for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.media import networks as media_networks
from gpu_lol_action.analysis.media.networks import own_network
from gpu_lol_action.analysis.networks.inputs import InputSizes
from gpu_lol_action.analysis.networks.machine import Machine
from tests.support.networks import Build, network

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 4)

    def forward(self, x):
        return self.net(x)

net = Net()
"""


def test_a_name_that_was_a_library_s_is_what_the_module_gives_it_later(checkout: Build) -> None:
    code = """
from sizes import width

def made():
    return nn.Linear(width, 4)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = made()

    def forward(self, x):
        return self.net(x)

early = made()
width, height = 8, 4
net = Net()
"""
    assert network(checkout, code).parameters == 8 * 4 + 4


def test_an_option_that_is_made_later_is_asked_for_again(checkout: Build) -> None:
    code = """
import argparse

def table():
    return [("--width", 8)]

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, 4)

    def forward(self, x):
        return self.net(x)

parser = argparse.ArgumentParser()
args = parser.parse_args()
early = args.width
for name, value in table():
    parser.add_argument(name, default=value)
net = Net(args.width)
"""
    assert network(checkout, code).parameters == 8 * 4 + 4


@pytest.mark.parametrize(("config", "times"), [("width = 2 * 4\nname = 'a'\n", 1), ("model = dict(type='Net')\n", 2)])
def test_files_of_settings_alone_make_no_other_run(
    checkout: Build, monkeypatch: pytest.MonkeyPatch, config: str, times: int
) -> None:
    tree = checkout({"train.py": f"import torch.nn as nn\n{NET}", "config/a.py": config})
    script, beside = tree.find("train.py"), tree.find("config/a.py")
    assert script is not None
    assert beside is not None
    followed: list[Sequence[Source]] = []

    def mappings_of(_machine: Machine, sources: Sequence[Source]) -> dict[str, dict[str, object]]:
        followed.append(sources)
        return {}

    monkeypatch.setattr(media_networks, "mappings_of", mappings_of)
    found = [own_network((script,), InputSizes(64, configs=configs)) for configs in ((), (beside,), ())]
    assert len(set(found)) == 1
    assert len(followed) == times
