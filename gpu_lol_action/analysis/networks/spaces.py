"""What an agent's networks are built for: the spaces of an environment, which only running it would tell.

Nobody's memory depends on them: of states the largest that is usual stands for all, MuJoCo's Humanoid with 376 numbers and 17
actions (Todorov et al. 2012); programs that play Atari's games see four pictures of 84 pixels and choose among 18 actions
(Mnih et al. 2015).
"""

from __future__ import annotations

from gpu_lol_action.analysis.networks.forms import numel_of
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.values import UNKNOWN, Instance, Tensor, Value
from gpu_lol_action.domain.patterns import regex

SPACE = "Space"
STATE, ACTIONS, CHOICES = 376, 17, 18
PICTURE = (4, 84, 84)
OBSERVATIONS = frozenset({"observation_space", "single_observation_space", "obs_space", "observation_spec"})
ACTION_SPACES = frozenset({"action_space", "single_action_space", "act_space", "action_spec"})
_PICTURES = regex(r"NoFrameskip|\bALE/|[Aa]tari|[Pp]rocgen|pixels\b|Breakout|Pong\b")
_TASKS = ("env_id", "env", "env_name", "game", "task", "env_type", "gym_id", "environment")


def space_of(machine: Machine, name: str) -> Value:
    """Return the space that an environment has under a name; ``UNKNOWN`` for all other names."""
    if name in OBSERVATIONS:
        shape = list(PICTURE) if _sees_pictures(machine) else [STATE]
        return Instance(None, SPACE, attributes={"shape": shape, "n": STATE, "low": 0, "high": 1})
    if name in ACTION_SPACES:
        limits = [1.0] * ACTIONS
        return Instance(None, SPACE, attributes={"shape": [ACTIONS], "n": CHOICES, "low": limits, "high": limits})
    return UNKNOWN


def drawn_from(space: Instance) -> Tensor:
    """Return what a space gives when it is drawn from."""
    shape = tuple(float(side) for side in space.attributes["shape"])
    return Tensor(numel_of(shape), shape)


def _sees_pictures(machine: Machine) -> bool:
    """Whether the run's environment is one of pictures, by its name, else by what the program speaks of."""
    tasks = [machine.option(task) for task in _TASKS]
    named = [task for task in tasks if isinstance(task, str)]
    if named:
        return any(_PICTURES.search(task) for task in named)
    return bool(machine.programs) and _PICTURES.search(machine.programs[0].source.text) is not None
