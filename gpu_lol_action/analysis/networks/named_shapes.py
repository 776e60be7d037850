"""Layers, width, heads and vocabulary of a transformer, as a program computes them before it builds it."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.networks.values import Value

_SHAPE = (
    ("model.layers", ("n_layer", "n_layers", "num_layers", "num_hidden_layers")),
    ("model.hidden_size", ("n_embd", "hidden_size", "d_model", "dim", "hidden_dim")),
    ("model.vocabulary", ("vocab_size", "n_vocab")),
    ("model.attention_heads", ("n_head", "n_heads", "num_heads", "num_attention_heads")),
)
MOST_OF_A_SHAPE = 1_000_000


def shape_of(named: Mapping[str, Value]) -> tuple[tuple[str, int], ...]:
    """Return the numbers that were computed; none where layers or width is not known."""
    found = []
    for name, keys in _SHAPE:
        value = next((named[key] for key in keys if key in named), None)
        if (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and 0 < value < MOST_OF_A_SHAPE
            and value == int(value)
        ):
            found.append((name, int(value)))
    return tuple(found) if [name for name, _ in found][:2] == ["model.layers", "model.hidden_size"] else ()
