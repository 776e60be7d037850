"""Amounts in wordings that nobody wrote down: the noun that stands nearest says what they are of."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.documents.documented_amounts import memory_phrases


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("The video card needs at the very least 12GB.", [12.0]),
        ("É preciso uma placa de vídeo com memória suficiente (mínimo 16 GB).", [16.0]),
        ("Necesitas una tarjeta gráfica de al menos 12 GB.", [12.0]),
        ("Mindestens 16 GB auf der Grafikkarte", [16.0]),
        # Nearest is something else, or nothing of a card is spoken of.
        ("You need a GPU and at least 32 GB of RAM.", []),
        ("At least 100 GB of disk space is required beside the GPU.", []),
        ("At least 40 GB are required for the checkpoints; a GPU helps.", []),
        ("It requires 24 GB.", []),
        # Nobody demands it.
        ("On our video card it was 12GB or so.", []),
        # The card's own size, which says which one it is.
        ("An RTX 3090 (24 GB) or another card is required.", []),
    ],
)
def test_an_amount_is_of_what_is_named_nearest(line: str, expected: list[float]) -> None:
    assert [phrase.size_gb for phrase in memory_phrases(line)] == expected
