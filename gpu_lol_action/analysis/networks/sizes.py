"""Pixels of what a network is given: what the run says, else the usual number, which is noted as such."""

from __future__ import annotations

from gpu_lol_action.analysis.networks.machine import Machine


def side_of(machine: Machine) -> float:
    """Return the pixels of a side of what goes in; where nothing says them, what is kept rests on an assumption from now on."""
    machine.kept.is_size_assumed = machine.kept.is_size_assumed or machine.is_size_open
    return float(machine.size)
