"""A block that was followed for the model which repeats it."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.networks.repeated_blocks import is_one_layer
from gpu_lol_action.estimation.model_facts import shape_model


@pytest.mark.parametrize(
    ("own_b", "layers", "expected"),
    [
        (0.2, 32, True),  # 32 of them are the seven billion
        (0.02, 32, False),
        (1.5, 32, False),
        (0.2, 2, False),  # of two blocks one is not far from the whole
    ],
)
def test_a_block_is_as_large_as_a_layer_of_the_shape(own_b: float, layers: int, expected: bool) -> None:
    shape = shape_model("net", layers=layers, hidden_size=4096, vocabulary=64000)
    assert is_one_layer(own_b, shape) is expected
