"""Networks whose forward takes turns: static methods, tables asked for a time, grids, folded pictures, parts out of order."""

from __future__ import annotations

import pytest

from tests.support.networks import Build, network


def test_a_static_forward_is_handed_what_it_computes(checkout: Build) -> None:
    code = """
def far():
    x = [1, 2, 3, 4, 5]
    return x

class Act(nn.Module):
    @staticmethod
    def forward(x):
        return x * F.hardtanh(x + 3, 0.0, 6.0) / 6.0

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, 2, 1)
        self.act = Act()
        self.second = nn.Conv2d(8, 4, 3, 2, 1)

    def forward(self, x):
        return self.second(self.act(self.first(x)))

net = Net()
"""
    found = network(checkout, code)
    convolutions = 8 * 32 * 32 + 4 * 16 * 16
    assert convolutions <= found.outputs <= convolutions + 3 * 8 * 32 * 32  # arithmetic of the activation besides


def test_a_table_of_positions_gives_one_row_for_a_time(checkout: Build) -> None:
    code = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros(5000, 16)
        self.time = nn.Linear(16, 32)

    def forward(self, x, timesteps):
        return self.time(self.table[timesteps])

net = Net()
"""
    assert network(checkout, code).outputs == 32


def test_features_over_a_grid_are_as_many_as_the_grid_has_places(checkout: Build) -> None:
    code = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(2, 8)

    def forward(self, x):
        h, w = x.shape[2:]
        ys, xs = torch.meshgrid(torch.arange(h), torch.linspace(0, 1, 16))
        grid = torch.stack([ys, xs], dim=-1)
        return self.embed(grid)

net = Net()
net.first = nn.Conv2d(3, 4, 1)
"""
    found = network(checkout, code.replace("self.embed = ", "self.first = nn.Conv2d(3, 4, 1)\n        self.embed = "))
    assert found.outputs == 64 * 16 * 2 + 64 * 16 * 8


def test_a_side_of_less_than_one_was_not_followed(checkout: Build) -> None:
    """Laid out as more than it has, a tensor is taken for as many numbers, and not spread over a grid of its own."""
    code = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 1)

    def forward(self, x):
        x = self.first(x)
        a = x.view(1, -1, 7, 4000, 1)
        b = x.view(1, 1, 1, 1, -1)
        return a - b

net = Net()
"""
    assert network(checkout, code).outputs <= 3 * 4 * 64 * 64


@pytest.mark.parametrize(("slices", "side"), [(True, 32), (False, 64)])
def test_a_picture_is_folded_before_the_first_convolution(checkout: Build, slices: bool, side: int) -> None:
    folded = "torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], 1)"
    code = f"""
class Focus(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.conv = nn.Conv2d(inner * 4, outer, 3, 1, 1)

    def forward(self, x):
        return self.conv({folded if slices else "x"})

net = nn.Sequential(Focus(3, 8))
"""
    found = network(checkout, code)
    assert found.outputs == 8 * side**2 + (12 * 32**2 if slices else 0)


PLANNER = """
class Block(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.conv = nn.Conv1d(inner, outer, 3, padding=1)

    def forward(self, x, cond):
        return self.conv(x)

class Planner(nn.Module):
    def __init__(self, steps=2):
        super().__init__()
        self.time = nn.Linear(8, 8)
        self.middle = Block(64, 64)
        self.downs = nn.ModuleList([Block(steps, 32), Block(32, 64)])

    def forward(self, sample, timestep):
        sample = einops.rearrange(sample, 'b h t -> b t h')
        timestep = timestep.expand(sample.shape[0])
        cond = self.time(timestep)
        x = sample
        for down in self.downs:
            x = down(x, cond)
        return self.middle(x, cond)

net = Planner()
"""


def test_the_part_that_reads_what_goes_in_says_what_that_is(checkout: Build) -> None:
    """A constructor may make the parts for the time and the middle first."""
    found = network(checkout, PLANNER)
    assert found.is_sequence
    assert found.outputs == 32 + 64 + 64


def test_a_planner_is_followed_along_its_horizon(checkout: Build) -> None:
    code = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--horizon', type=int, default=16)\nargs = p.parse_args()\n"
    found = network(checkout, code + PLANNER)
    assert not found.is_sequence
    assert 16 * (32 + 64 + 64) <= found.outputs <= 16 * (32 + 64 + 64) + 8


def test_where_a_method_comes_first_parts_are_taken_as_they_were_made(checkout: Build) -> None:
    code = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 4, 4)
        self.head = nn.Linear(8, 10)

    def features(self, x):
        return self.stem(x).mean([-2, -1])

    def forward(self, x):
        return self.head(self.features(x))

net = Net()
"""
    assert network(checkout, code).outputs == 8 * 16 * 16 + 10
