"""What a diffusion trainer gives its optimizer: where that is a module beside the loaded denoiser alone, the denoiser stays as it is.

``adapter = build(config); optimizer = AdamW(adapter.parameters())`` beside ``unet = UNet.from_pretrained(...)`` trains the adapter.
Only what is surely read decides: every optimizer of the program has to name the owners of its parameters, through one variable at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.domain.patterns import regex

_DENOISER = r"\w{0,40}(?:unet|transformer|dit|denoiser)\w{0,40}"
_LOADED = regex(
    rf"^[ \t]*({_DENOISER})\s{{0,4}}=\s{{0,4}}[\w.]{{1,80}}\.from_pretrained\(", re.MULTILINE | re.IGNORECASE
)
_IS_DENOISER = regex(_DENOISER, re.IGNORECASE)
_OPTIMIZER = regex(
    r"^[ \t]*(?:self\.)?\w{0,30}optimizer\s{0,4}=\s{0,4}(?!.{0,80}(?:prepare|load|get)\w{0,20}\()[A-Za-z_][\w.]{1,60}\(\s{0,40}(?:params\s{0,4}=\s{0,4})?",
    re.MULTILINE,
)
_NAME = regex(r"([A-Za-z_]\w{0,60})\s{0,4}[,)]")
_OWNER = regex(r"([A-Za-z_][\w.]{0,100})\.(?:named_)?parameters\(")
# Adapters on the denoiser's own weights, and embeddings, are told by their methods.
_OF_OTHER_METHODS = regex(r"lora|peft|embed|token", re.IGNORECASE)
MAX_EXPRESSION, MAX_OPTIMIZERS = 600, 6


@remembered
def trained_beside(script: Source) -> tuple[str, int] | None:
    """Return the first module that is trained beside a loaded denoiser, with the line of its optimizer; None where the denoiser may learn too."""
    if not script.mentions("from_pretrained") or not (script.mentions("unet") or script.mentions("diffus")):
        return None
    text = script.text
    loaded = {found[1] for found in _LOADED.finditer(text)}
    starts = list(_OPTIMIZER.finditer(text))[: MAX_OPTIMIZERS + 1] if loaded else []
    if not starts or len(starts) > MAX_OPTIMIZERS:
        return None
    told = [list(_owners(text, start.end())) for start in starts]
    if not all(told) or any(_may_be_denoiser(text, owner, loaded) for owners in told for owner in owners):
        return None
    return told[0][0], text.count("\n", 0, starts[0].start()) + 1


def _owners(text: str, place: int) -> Iterator[str]:
    """Yield whose parameters an expression names, or what its variable is set to."""
    variable = _NAME.match(text, place)
    if variable is None:
        yield from _OWNER.findall(_expression(text, place))
        return
    for found in re.finditer(rf"^[ \t]*{re.escape(variable[1])}\s{{0,4}}\+?=(?!=)", text, re.MULTILINE):
        yield from _OWNER.findall(_expression(text, found.end()))


def _expression(text: str, place: int) -> str:
    """Return an expression from a place on, up to the end of its line or of the brackets that it opens."""
    depth = 0
    for index, sign in enumerate(text[place : place + MAX_EXPRESSION]):
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (depth == 0 and sign == "\n"):
            return text[place : place + index]
    return text[place : place + MAX_EXPRESSION]


def _may_be_denoiser(text: str, owner: str, loaded: set[str]) -> bool:
    """Whether an owner is the denoiser, holds it, or is told by another method."""
    if _OF_OTHER_METHODS.search(owner) or any(_IS_DENOISER.fullmatch(part) for part in owner.split(".")):
        return True
    if "." in owner:
        return False
    built = re.search(rf"^[ \t]*{re.escape(owner)}\s{{0,4}}=(?!=)", text, re.MULTILINE)
    words = set(regex(r"[A-Za-z_]\w*").findall(_expression(text, built.end()))) if built is not None else set()
    return built is None or bool(words & loaded)
