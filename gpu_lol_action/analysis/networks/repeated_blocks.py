"""A block that was followed for the model which repeats it.

Where a model's class is not known whole, its largest class that is may be the block of which it is made: 0.2 billion weights for 7.
The shape that its configuration says tells so: the block is as large as one of the shape's layers.
"""

from __future__ import annotations

from gpu_lol_action.estimation.known_models import ModelFacts

FEWEST_REPEATED = 4
"""Blocks from which on one of them is far from the whole."""
LIKE_A_LAYER = 1.5
"""How near a block is to a layer's share of the weights: gates make blocks larger, an embedding may be counted twice."""


def is_one_layer(own_b: float, shape: ModelFacts) -> bool:
    """Whether a network of ``own_b`` billion weights is as large as one of the layers of a shape."""
    if shape.layers < FEWEST_REPEATED:
        return False
    within_b = shape.parameters_b - shape.vocabulary * shape.hidden_size / 1e9
    return 1 / LIKE_A_LAYER < own_b * shape.layers / max(within_b, 1e-9) < LIKE_A_LAYER
