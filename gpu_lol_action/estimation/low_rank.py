"""What optimizers remember that keep their moments in a subspace of each matrix: GaLore, Q-GaLore, APOLLO, Q-APOLLO.

Of a matrix of m x n weights, m the shorter side, with rank r:

- GaLore (Zhao et al. 2024, table 1): a projection of m r numbers and two moments of n r each;
- Q-GaLore (Zhang et al. 2024): the same with a projection of 4 bits and moments of 8, and weights of 8 bits;
- APOLLO (Zhu et al. 2024, table 1): two moments of n r; the projection is drawn again from its seed; Q-APOLLO: on weights of 8 bits.

Embeddings, head and norms have Adam's two moments per weight, as in these papers' programs. Where no rank is said it is a
quarter of the hidden size, GaLore's own choice for its models of 1 and 7 B parameters (512 of 2048, 1024 of 4096).
"""

from __future__ import annotations

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.vram_shape import layer_shape

_LOW_RANK = regex(r"galore|apollo")
_QUANTIZED = regex(r"q[_-]?(?:galore|apollo)")
_MINI = regex(r"apollo[_-]mini")  # one row for a whole matrix
USUAL_SHARE = 4
PROJECTION_4_BIT = 0.53  # a scale for each block, as of other 4-bit states


@record(frozen=True, slots=True)
class Remembered:
    """Numbers in billions: those of moments, and those of projections, which are kept at a width of their own."""

    moments_b: float
    projections_b: float


def is_low_rank(optimizer: str) -> bool:
    """Whether an optimizer's moments lie in a subspace."""
    return _LOW_RANK.search(optimizer.lower()) is not None


def has_quantized_weights(optimizer: str) -> bool:
    """Whether the optimizer trains weights that lie at 8 bit (Q-GaLore, Q-APOLLO)."""
    return _QUANTIZED.search(optimizer.lower()) is not None


def projection_width(optimizer: str, moment_bytes: float) -> float:
    """Return bytes per number of a projection: those of a moment, or 4 bits in Q-GaLore."""
    return PROJECTION_4_BIT if has_quantized_weights(optimizer) else moment_bytes


def remembered(optimizer: str, model: ModelFacts, rank: int) -> Remembered | None:
    """Return the numbers that such an optimizer keeps of a model; None for other optimizers, and where no shape is known."""
    name = optimizer.lower()
    if not is_low_rank(name) or not model.has_shape:
        return None
    rank = 1 if _MINI.search(name) else rank or max(1, model.hidden_size // USUAL_SHARE)
    moments = projections = adapted = 0.0
    for short, long in _matrices(model):
        low = min(rank, int(short))
        adapted += short * long
        moments += 2 * long * low
        projections += 0.0 if "apollo" in name else short * low
    whole = max(model.parameters_b - adapted * model.layers / 1e9, 0.0)
    return Remembered(moments * model.layers / 1e9 + 2 * whole, projections * model.layers / 1e9)


def _matrices(model: ModelFacts) -> list[tuple[float, float]]:
    """Return the sides of one layer's matrices, the shorter first."""
    shape = layer_shape(model)
    hidden, keys = float(shape.hidden), shape.hidden * shape.kv_share
    sides = [(hidden, hidden)] * 2 + [(keys, hidden)] * 2 + [(hidden, shape.inner)] * shape.mlp_matrices
    return [(min(side), max(side)) for side in sides]
