"""Packs of nodes for ComfyUI: modules that its server loads, none of which is started by itself.

Source: ComfyUI's documentation on custom nodes, which a folder's ``__init__.py`` hands over as ``NODE_CLASS_MAPPINGS``. People put them
into graphs that make pictures, films and sounds; a node that tunes a model is there for the few.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run


def is_tuning_node(checkout: Checkout, run: Run) -> bool:
    """Whether a run is a module of such a pack that trains, and no document tells how to start it."""
    if run.command is not None or run.behavior is not Behavior.TRAINS:
        return False
    return pack_of(checkout) is not None


def pack_of(checkout: Checkout) -> Source | None:
    """Return the module that the server loads, which takes along all of the pack's nodes; None where the checkout is no pack."""
    pack = checkout.find("__init__.py")
    return pack if pack is not None and pack.mentions("NODE_CLASS_MAPPINGS") else None
