"""Agents that learn in the smallest worlds of Gym (a pole to balance, a lake to cross): a network of a few neurons, which cores carry.

TensorFlow takes a card that is there without being told, so that no word of a program says that it needs none; programs of PyTorch ask
by habit whether one is there. Who trains in such worlds alone, and speaks of a card in no other words, means the machine at hand.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.patterns import regex

_WORLD = regex(r"[\"']([A-Z][A-Za-z]{2,40}?)(?:8x8|Continuous|Hardcore)?-v\d[\"']")
# Gym's classic control, toy texts and boxes in two dimensions, as its documentation lists them.
_SMALL = frozenset({"CartPole", "Pendulum", "MountainCar", "Acrobot", "FrozenLake", "Taxi", "CliffWalking", "Blackjack", "NChain", "Roulette", "LunarLander", "BipedalWalker"})  # fmt: skip
_OF_CARDS = regex(r"\b(?:GPUs?|CUDA)\b|/device:", re.IGNORECASE)
# The habit: a card if there is one. What it is put on by that name says nothing more.
_IF_THERE = regex(
    r"[\"']cuda(?::0)?[\"'] if (?:\w{1,30} and )?(?:torch\.)?cuda\.is_available\(\)(?: and \w{1,30})? else|"
    r"(?:torch|th)\.cuda\.(?:is_available\(\)|manual_seed(?:_all)?\(|empty_cache\(\))|run on the GPU if possible"
)
_LOOKS = regex(
    r"\bconv(?:olution)?[123]d", re.IGNORECASE
)  # at pictures of the world, which take more than a few neurons


@remembered
def lives_in_small_worlds(checkout: Checkout) -> bool:
    """Whether the programs of a checkout play in Gym's smallest worlds and in no other, and neither they nor a document speak of a card."""
    programs = checkout.of(Form.PYTHON, Form.NOTEBOOK)
    if not any(_plays(source) for source in programs):
        return False
    worlds = {found[1] for source in programs for found in _WORLD.finditer(source.text)}
    if not worlds or not worlds <= _SMALL or any(_LOOKS.search(source.text) for source in programs):
        return False
    return not any(
        _OF_CARDS.search(_IF_THERE.sub("", source.text))
        for source in (*programs, *checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,)))
    )


def _plays(source: Source) -> bool:
    code = source.code
    return code is not None and code.may_import("gym") and bool(code.imported() & {"gym", "gymnasium"})
