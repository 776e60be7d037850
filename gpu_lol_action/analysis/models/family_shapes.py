"""Which size of a family is meant, where its ``config.json`` lies beside the program: a class of the family is built with its numbers.

Weights that authors publish by themselves are loaded into a network whose shape their code brings (``models/llama_config/config.json``).
"""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import as_number
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model, shape_model

ALIKE = 1.15
"""As far as the sum over layers may be from the member's size: heads that share keys and gates of three matrices are not counted."""


def of_its_shape(checkout: Checkout, run: Run, guessed: Finding) -> Finding:
    """Return the guess, as the member of its family whose configuration lies below the program; unchanged where none or several do."""
    family = find_model(guessed.value)
    if run.script is None or family is None or family.kind != "llm":
        return guessed
    owner, _, last = guessed.value.rpartition("/")
    word = regex(r"[A-Za-z]+").match(last)
    folder = f"{run.script.folder}/" if run.script.folder else ""
    beside = [s for s in checkout.of(Form.JSON) if s.name == "config.json" and s.path.startswith(folder)]
    told = {size: s for s in beside if word is not None and (size := _billions(s, word[0].lower()))}
    if len(told) != 1 or word is None:
        return guessed
    size, source = next(iter(told.items()))
    member = find_model(name := f"{owner}/{word[0]}-{round(size)}b")
    if member is None or max(member.parameters_b, size) > ALIKE * min(member.parameters_b, size):
        return guessed
    return replace(
        guessed, value=name, why=f"{guessed.why}, and `{source.path[-80:]}` has the sides of one of {size:.3g} B"
    )


def _billions(source: Source, family: str) -> float:
    """Return the billions of parameters of the language model that a configuration describes, where its kind is the family's; else 0."""
    if not source.mentions("model_type"):
        return 0.0
    said = {setting.path: setting.text for setting in read_settings(source)}
    if said.get("model_type", "").lower() != family:
        return 0.0
    layers, width, words = (as_number(said.get(key, "")) for key in ("num_hidden_layers", "hidden_size", "vocab_size"))
    if not layers or not width:
        return 0.0
    return shape_model("", layers=layers, hidden_size=width, vocabulary=2 * (words or 0)).parameters_b
