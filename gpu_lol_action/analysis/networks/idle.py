"""Networks that a run which only infers does not compute, though a module that it imports can build them.

What judged the pictures of a generator while that learned is of no use later; and a function that converts an older checkpoint
builds a network only to fill it. What weights come from a pickle then is, nobody tells.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.networks.machine import Root
from gpu_lol_action.analysis.networks.values import Instance
from gpu_lol_action.domain.patterns import regex

# ELECTRA's discriminator is what is used of it; an actor and its critic are one network.
_JUDGE = regex(r"(?!\w{0,60}(?:Electra|ELECTRA|Actor))\w{0,60}(?:Discriminator\w{0,40}|PatchGAN\w{0,40}|Critic)")
_CONVERTER = regex(r"_?convert_\w{1,80}|\w{0,80}_from_(?:tf|tensorflow|keras|caffe2?|legacy)(?:_\w{1,40})?")


def is_average(root: Root, others: Sequence[Root]) -> bool:
    """Whether a network is nothing but a copy of another one, kept for the mean of its weights: it is never trained."""
    held = root.network.attributes.values() if isinstance(root.network, Instance) else ()
    inner = [each for each in held if isinstance(each, Instance) and each.is_network]
    if len(inner) != 1 or not isinstance(root.network, Instance) or root.network.home is None:
        return False
    is_named = regex(r"(?i)ema|average|swa").search(root.network.home.node.name) is not None
    homes = [other.network.home for other in others if other is not root and isinstance(other.network, Instance)]
    return is_named and inner[0].home is not None and any(home is inner[0].home for home in homes)


def is_judge(root: Root) -> bool:
    """Whether a network is called, by its class's name, what tells a generator's pictures from others while that is trained."""
    home = root.network.home if isinstance(root.network, Instance) else None
    return home is not None and _JUDGE.fullmatch(home.node.name) is not None


def only_fills(root: Root) -> bool:
    """Whether a network is built in a module's function that is named for converting an older checkpoint, to be filled from that."""
    return any(
        _CONVERTER.fullmatch(name) and node.lineno <= root.line <= (node.end_lineno or node.lineno)
        for name, node in root.program.functions.items()
    )
