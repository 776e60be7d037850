"""Models whose names say at how many bits their weights are stored (``...-AWQ``, ``...-bnb-4bit``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.estimation.quantized_names import published_scheme, scheme_in_name
from gpu_lol_action.estimation.vram_states import bits_of


def quantized(named: Iterable[Finding], *, infers: bool) -> Iterator[Finding]:
    """Yield how wide the weights lie of the model that is surest, where its name says that they are quantized.

    Where nothing is trained, published weights stay as they are: trainers widen them first.
    """
    model = best(tuple(named), "model.id")
    scheme = scheme_in_name(model.value) if model is not None else None
    if model is not None and scheme is not None:
        why = f"the name of `{model.value}` says {scheme}"
        yield Finding("model.weight_bits", str(bits_of(scheme)), why, model.confidence, model.evidence)
    elif model is not None and infers and (published := published_scheme(model.value)) is not None:
        why = f"`{model.value}` is published in {published}"
        yield Finding("model.weight_bits", str(bits_of(published)), why, Confidence.LOW, model.evidence)
