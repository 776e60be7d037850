"""A pool that is a function makes the picture smaller by its steps, and the channels come last."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.networks.values import Tensor, Value
from gpu_lol_action.analysis.networks.windowed_pools import window_pooled
from tests.unit.analysis.conftest import Build

PICTURE = Tensor(64 * 64 * 8.0, (1.0, 64.0, 64.0, 8.0))


@pytest.mark.parametrize(
    ("places", "named", "side"),
    [
        ([[2, 2]], {"strides": [2, 2]}, 32),
        ([[2, 2], [2, 2], "SAME"], {}, 32),
        ([], {"window_shape": [3, 3], "strides": [2, 2], "padding": "SAME"}, 32),
        ([], {"window_shape": [3, 3], "strides": [2, 2], "padding": "VALID"}, 31),
        ([[3, 3]], {}, 62),  # Flax steps by one
        ([], {"window_shape": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}, 32),
        ([], {"ksize": 2, "strides": 2, "padding": "SAME"}, 32),
        ([[0, 0]], {}, 64),
        ([["a", 2]], {"strides": [2, 2]}, 64),
        ([[2, 2]], {"strides": [0, 2]}, 64),
        ([[2, 2, 2]], {"strides": [2, 2]}, 64),
        ([], {}, 64),
    ],
)
def test_a_window_and_its_steps_shrink_the_sides(places: list[Value], named: dict[str, Value], side: int) -> None:
    found = window_pooled(PICTURE, [PICTURE, *places], named)
    assert found.shape == (1.0, side, side, 8.0)
    assert found.numel == side * side * 8


def test_an_unknown_form_stays_unknown() -> None:
    assert window_pooled(Tensor(100.0), [Tensor(100.0), [2, 2]], {}).numel == 100


def test_a_network_of_flax_is_smaller_behind_each_pool(checkout: Build) -> None:
    program = """import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(8, (3, 3))(x)
        x = nn.max_pool(x, (2, 2), strides=(2, 2))
        return nn.Conv(8, (3, 3))(x)


params = Net().init(jax.random.PRNGKey(0), jnp.ones([1, 64, 64, 3]))
state = TrainState.create(apply_fn=Net().apply, params=params, tx=optax.adam(1e-3))
grads = jax.grad(loss)(params)
state = state.apply_gradients(grads=grads)
"""
    found = analyze(checkout({"requirements.txt": "jax[cuda12]\nflax\noptax\n", "train.py": program})).findings
    facts = {finding.field: finding.value for finding in found}
    assert int(facts["media.own_parameters"]) == (3 * 9 + 1) * 8 + (8 * 9 + 1) * 8
    assert int(facts["media.own_outputs"]) == 8 * (64 * 64 + 2 * 32 * 32 + 32 * 32)


def test_a_pool_of_that_name_beside_pytorch_has_the_channels_in_front(checkout: Build) -> None:
    program = """import torch
from torch import nn
from {where} import {pool}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x):
        return self.second({pool}(self.first(x), 2))


net = Net().cuda()
for x, y in DataLoader(data, batch_size=4):
    loss = (net(torch.zeros(4, 3, 64, 64).cuda()) - y).sum()
    loss.backward()
    optimizer.step()
"""

    def outputs(where: str, pool: str) -> list[str]:
        files = {"requirements.txt": "torch\n", "train.py": program.format(where=where, pool=pool)}
        return [f.value for f in analyze(checkout(files)).findings if f.field == "media.own_outputs"]

    assert outputs("elsewhere", "max_pool") == outputs("torch.nn.functional", "max_pool2d") != []
