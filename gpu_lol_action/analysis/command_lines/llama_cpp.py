"""llama.cpp's own programs: the file of weights, the context and the layers on a card that their short options tell.

Options as its server's manual lists them. Its builds for a card leave all on the cores until they are told of layers for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.domain.patterns import regex

LLAMA_CPP = frozenset({"llama-server", "llama-cli"})
_LAYERS = ("ngl", "n_gpu_layers", "gpu_layers")
_CONTEXT = ("c", "ctx_size")
_REPOSITORY, _FILE = ("hf", "hfr", "hf_repo"), ("hff", "hf_file", "m", "model")
_NONE = frozenset({"", "0", "none", "False"})
_OF_HUB = regex(r"(?:[\w.-]{1,95}/)?([\w.-]{1,95}?)(?:-GGUF)?(?::([\w-]{1,20}))?", 2)
_USUAL = "Q4_K_M"
"""What it fetches of a repository that has several."""


def told_to_llama_cpp(tool: str, options: Mapping[str, str]) -> dict[str, str]:
    """Return what llama.cpp is told under the names that its Python package has for it; nothing for other programs."""
    if tool not in LLAMA_CPP:
        return {}
    file = _first(options, _FILE)
    of_hub = _OF_HUB.fullmatch(_first(options, _REPOSITORY))
    if not file and of_hub is not None:
        file = f"{of_hub[1]}-{of_hub[2] or _USUAL}.gguf"
    told = {"model": file, "n_ctx": _first(options, _CONTEXT), "n_gpu_layers": _first(options, _LAYERS)}
    return {name: text for name, text in told.items() if text}


def computes_on_a_card(options: Mapping[str, str]) -> bool:
    """Whether one of its programs is told of layers for a card."""
    return _first(options, _LAYERS) not in _NONE


def _first(options: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((options[name] for name in names if name in options), "")
