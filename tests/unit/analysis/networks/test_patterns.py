"""Sides of tensors as einops names them, windows side by side, and rows of a tensor: what a network gives by them."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.networks.forms import numel_of, rows_of, shrunk
from gpu_lol_action.analysis.networks.patterns import packed, patterned, unpacked
from gpu_lol_action.analysis.networks.tensors import matrix_product
from gpu_lol_action.analysis.networks.values import UNKNOWN, Tensor, Value
from gpu_lol_action.analysis.networks.windows import folded, slid, unfolded

Shape = tuple[float, ...]


def tensor(*shape: float) -> Tensor:
    return Tensor(numel_of(shape), shape)


@pytest.mark.parametrize(
    ("shape", "pattern", "sizes", "expected"),
    [
        ((2, 3, 32, 48), "b c (h p) (w q) -> b (h w) (p q c)", {"p": 16, "q": 16}, (2, 6, 768)),
        ((1, 1, 64), "() n d -> b n d", {"b": 4}, (4, 1, 64)),  # repeat
        ((8, 64), "n d -> b n d", {"b": 4}, (4, 8, 64)),
        ((2, 64, 7, 7), "b c h w -> b c", {}, (2, 64)),  # reduce
        ((2, 64, 7, 5), "b (h d) ... -> b h (...) d", {"h": 4}, (2, 4, 35, 16)),
        ((2, 3, 4, 5), "b ... d -> b d ...", {}, (2, 5, 3, 4)),
        ((2, 3, 4), "b n d -> b 1 n d", {}, (2, 1, 3, 4)),
        ((2, 3, 4), "b n -> n b", {}, None),  # of another rank
        ((2, 3, 4), "b n d -> b n e", {}, None),
        ((2, 3, 4), 7, {}, None),
        ((2, 3, 4), "no arrow", {}, None),
    ],
)
def test_a_pattern_moves_repeats_and_takes_together(
    shape: Shape, pattern: Value, sizes: dict[str, Value], expected: Shape | None
) -> None:
    found = patterned(tensor(*shape), pattern, sizes)
    assert found.shape == expected
    assert found.numel == (numel_of(expected) if expected else numel_of(shape))


def test_packed_tensors_come_apart_again() -> None:
    whole, stars = packed([tensor(2, 64), tensor(2, 14, 14, 64)], "b * d")
    assert whole.shape == (2, 1 + 196, 64)
    assert stars == [[], [14, 14]]
    assert [part.shape for part in unpacked(whole, stars, "b * d")] == [(2, 64), (2, 14, 14, 64)]
    assert unpacked(whole, UNKNOWN, "b * d") is UNKNOWN
    assert packed([Tensor(64.0)], "b * d")[0].numel == 64.0


@pytest.mark.parametrize(
    ("places", "named", "expected"),
    [
        ((), {"kernel_size": 14, "stride": 7}, (1, 3 * 196, 31 * 31)),
        (([7, 7], 1, 2, 4), {}, (1, 3 * 49, 56 * 56)),
        ((UNKNOWN,), {}, None),
    ],
)
def test_windows_are_laid_side_by_side(
    places: tuple[Value, ...], named: dict[str, Value], expected: Shape | None
) -> None:
    assert unfolded(tensor(1, 3, 224, 224), places, named).shape == expected


def test_windows_are_put_back_and_slide_along_one_side() -> None:
    assert folded(tensor(1, 27, 64), (8, 3), {}).shape == (1, 3, 8, 8)
    assert slid(tensor(2, 96, 7), (1, 16, 8)).shape == (2, 11, 7, 16)
    assert slid(tensor(2, 96, 7), (1, 128, 8)).shape is None


def test_rows_of_a_tensor_are_as_many_as_its_first_side() -> None:
    assert [row.shape for row in rows_of(tensor(3, 5))] == [(5,)] * 3
    assert len(rows_of(tensor(50_000, 5))) == 1
    assert len(rows_of(Tensor(None))) == 1


def test_each_side_has_its_own_window() -> None:
    assert shrunk(tensor(1, 8, 8, 32, 32), [1, 2, 2], 3, [1, 3, 3], [0, 1, 1]).shape == (1, 8, 8, 16, 16)


def test_stacks_of_matrices_spread_over_each_other() -> None:
    assert matrix_product(tensor(8, 64), tensor(4, 64, 100)).shape == (4, 8, 100)
