from __future__ import annotations

import pytest

from gpu_lol_action.estimation.shown_size import parameters


@pytest.mark.parametrize(
    ("size_b", "shown"),
    [(6.738, "6.74 B parameters"), (70.55, "70.5 B parameters"), (405.9, "406 B parameters"), (1026.0, "1026 B parameters"),
     (0.124, "0.124 B parameters"), (0.0864, "86.4 M parameters"), (0.00967, "9.67 M parameters"), (0.00005, "50 k parameters"), (0.0, "0 B parameters")],
)  # fmt: skip
def test_small_networks_are_counted_in_millions(size_b: float, shown: str) -> None:
    assert parameters(size_b) == shown
