"""What is known of a network of one's own once it was followed, and of several that are there at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_lol_action.domain.finding import Evidence


@dataclass(frozen=True, slots=True)
class OwnNetwork:
    """A network of one's own: weights, numbers per sample (per position of a sequence) that its layers keep, and where it stands.

    ``shape`` are the numbers of a transformer by the field that they speak for, as the program computes them before it builds it;
    ``known_as`` is a name under which the checkout itself registers the network.
    """

    name: str
    parameters: int
    outputs: int
    at_work: int
    is_sequence: bool
    layers: int
    unknown: int
    evidence: Evidence
    shape: tuple[tuple[str, int], ...] = ()
    known_as: str = ""


def together(found: Sequence[OwnNetwork]) -> OwnNetwork:
    """Return several networks as one: sums, under the largest one's name."""
    largest = max(found, key=lambda network: (network.parameters, network.evidence))
    # What is said per position does not add up with what is said of a whole sample.
    is_mixed = len({network.is_sequence for network in found}) > 1
    is_open = is_mixed or any(network.unknown >= network.layers for network in found)
    return OwnNetwork(
        largest.name,
        sum(network.parameters for network in found),
        sum(network.outputs for network in found),
        max(network.at_work for network in found),
        largest.is_sequence,
        layers := sum(network.layers for network in found),
        # One of them that was not understood leaves the whole unknown.
        layers if is_open else sum(n.unknown for n in found),
        largest.evidence,
    )
