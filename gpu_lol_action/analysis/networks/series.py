"""What a forecaster of time series is given: steps of the past with a number of variables each, and marks of their time.

The options are those of Informer (Zhou et al. 2021), which its many successors kept: ``seq_len`` steps of ``enc_in`` variables,
and for the decoder the last ``label_len`` of them with the ``pred_len`` that are asked for.
"""

from __future__ import annotations

from gpu_lol_action.analysis.networks.forms import numel_of
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.values import Tensor
from gpu_lol_action.domain.patterns import regex

MARKS = 4
"""Month, day, weekday and hour."""
SENSED = 2
"""A speed and the time of the day."""
_STEPS = ("seq_in_len", "seq_length", "seq_len", "window", "input_length")
MOST_STEPS, MOST_VARIABLES = 2**16, 2**14
_OF_SERIES = regex(
    r"x|inputs?|batch_x|x_(?:mark_)?(?:enc|dec)|(?:enc|dec)_(?:x|input|inp|mark)|history(?:_data)?|past_\w+"
)


def series_input(machine: Machine, name: str) -> Tensor | None:
    """Return what a parameter of that name is given by a run that forecasts; None where it is none, or of another name."""
    if not _OF_SERIES.fullmatch(name):
        return None
    steps, variables = _whole(machine, "seq_len", MOST_STEPS), _whole(machine, "enc_in", MOST_VARIABLES)
    if steps is None or variables is None:
        return _of_sensors(machine, name)
    if "dec" in name:
        steps = (_whole(machine, "label_len", MOST_STEPS) or 0) + (_whole(machine, "pred_len", MOST_STEPS) or steps)
        variables = _whole(machine, "dec_in", MOST_VARIABLES) or variables
    shape = (1.0, float(steps), float(MARKS if "mark" in name else variables))
    return Tensor(numel_of(shape), shape, name=name)


def _of_sensors(machine: Machine, name: str) -> Tensor | None:
    """Return what a network of graphs over time is given: features, sensors and steps (Wu et al. 2019, Graph WaveNet)."""
    steps = next((found for key in _STEPS if (found := _whole(machine, key, MOST_STEPS)) is not None), None)
    nodes = _whole(machine, "num_nodes", MOST_VARIABLES)
    if steps is None or nodes is None:
        return None
    shape = (1.0, float(_whole(machine, "in_dim", MOST_VARIABLES) or SENSED), float(nodes), float(steps))
    return Tensor(numel_of(shape), shape, name=name)


def _whole(machine: Machine, name: str, most: int) -> int | None:
    value = machine.option(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most else None
