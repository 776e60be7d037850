"""Lessons in which a small network learns to balance a pole: TensorFlow would take a card, and gains nothing by one."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.domain.patterns import regex

_GYMS = frozenset({"gym", "gymnasium"})
# Worlds of a few numbers, in which a policy of a few thousand parameters is learnt from one step at a time.
_TOY = regex(
    r"[\"'](?:CartPole|MountainCar(?:Continuous)?|Acrobot|Pendulum|FrozenLake|Taxi|CliffWalking|Blackjack)-v\d[\"']"
)
_LARGER = regex(r"conv|gpu|cuda|atari|NoFrameskip|pixels|mujoco|\bram-v", re.IGNORECASE)


def plays_in_a_toy_world(source: Source) -> bool:
    """Whether a program's agent learns in one of the small worlds that a gym brings, without looking at pictures or naming a card."""
    if source.code is None or not source.mentions("-v") or not source.code.imported() & _GYMS:
        return False
    return _TOY.search(source.text) is not None and _LARGER.search(source.text) is None
