"""Trainings by spaCy's own command: whether they take a card, and what such a one needs that no list says.

``spacy train`` computes on the cores unless ``--gpu-id`` says otherwise (its documentation: "GPU ID or -1 for CPU. Defaults to
-1"). A pipeline over a transformer is what a card is for: spaCy's own pages advise one of at least 10 GB for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.files.spacy_pipelines import over_transformer
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

TOOL = "spacy"
_CARD = regex(r"\d{1,2}")
_GPU_OPTIONS = ("gpu_id", "g", "use_gpu")


def is_spacy(run: Run) -> bool:
    """Whether spaCy's command is what is started."""
    return run.command is not None and run.command.tool == TOOL


def stays_on_cores(run: Run) -> bool:
    """Whether a training by spaCy is told no card, and has no transformer that would want one."""
    return is_spacy(run) and not names_card(run) and not any(over_transformer(source) for source in run.configs)


def names_card(run: Run) -> bool:
    """Whether the command says which card it computes on."""
    return any(_CARD.fullmatch(run.options.get(name, "")) for name in _GPU_OPTIONS)


def spacy_packages(run: Run) -> Iterator[tuple[str, str]]:
    """Yield what a training by spaCy on a card needs beside it, each with the words that say why."""
    if not is_spacy(run) or stays_on_cores(run):
        return
    yield "cupy-cuda12x", "spaCy computes on a card with it and no list names it"
    for package in dict.fromkeys(over_transformer(source) for source in run.configs):
        if package is not None:
            yield package, "the pipeline's configuration names parts of it and no list does"
