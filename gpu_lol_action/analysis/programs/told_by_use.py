"""Programs that run a model without a call that says so: told from their options, from the names of what they call, or from a device."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.texts import may_give
from gpu_lol_action.analysis.programs.card_by_word import BOOSTING
from gpu_lol_action.domain.patterns import regex

# Options that only a program that writes or draws with a model has, whatever it calls the function that does.
_OPTIONS = frozenset({"max_new_tokens", "max_gen_len", "num_inference_steps", "guidance_scale"})
_CALLED = regex(r"generate_(?:text|image|video|speech|audio|story|caption)s?(?:_|$)")
_ON_A_CARD = regex(r"\bdevice\s?=\s?[\"']cuda(?::\d{1,2})?[\"']|\bgetPlatformByName\(\s?[\"']CUDA[\"']")


def uses_a_model(script: Source, *, uses_gpu: bool) -> bool:
    """Whether a program of which no call tells runs a model; ``uses_gpu``: what it imports computes on a GPU."""
    if not uses_gpu:
        return _places_on_a_card(script)
    return has_options(script, _OPTIONS) or _writes(script)


def has_options(script: Source, names: frozenset[str]) -> bool:
    """Whether a program has one of these options; not parsed where no such name stands in its text."""
    if script.code is None or not any(may_give(script.content, name) for name in sorted(names)):
        return False
    return any(default.is_option and default.name in names for default in script.code.defaults)


@remembered
def _writes(script: Source) -> bool:
    """Whether a program calls a function that is named for writing or drawing (``generate_text_simple_cached(model)``)."""
    if script.code is None or not script.code.has_main or not script.mentions("generate_"):
        return False
    return any(_CALLED.match(call.last) for call in script.code.calls)


@remembered
def _places_on_a_card(script: Source) -> bool:
    """Whether a program has a library that nobody knows compute on a card (``run_inference(device="cuda:0")``); trees are no networks."""
    if (
        script.code is None
        or not (script.mentions("cuda") or script.mentions("getPlatformByName"))
        or not script.code.imports
    ):
        return False
    if script.code.imported() & BOOSTING:
        return False
    return _ON_A_CARD.search(script.text) is not None
