"""Which size of a family is meant, where options say no more than that: ``--variant 4b``, ``--bert_dir .../bert_uncased_large``."""

from __future__ import annotations

import re
from dataclasses import replace

from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.domain.finding import Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model

_SIZE_KEYS = ("variant", "model_size", "model_variant", "model_scale", "size")
_BILLIONS = regex(r"[\"']?(\d{1,3}(?:\.\d{1,2})?)[bB](?=$|[-_\"'])")
_LARGE = regex(r"(?:^|[/_.-])large(?=$|[/_.-])", re.IGNORECASE)
_WORD = regex(r"[A-Za-z]+")


def of_said_size(run: Run, guessed: Finding) -> Finding:
    """Return the guess, as the member of its family that the run's options or its program's own start with; unchanged where nothing says so."""
    family = find_model(guessed.value)
    if family is None:
        return guessed
    if family.kind == "encoder":
        model, said = _large(run, guessed.value)
    elif family.kind == "llm":
        model, said = _of_billions(run, guessed.value)
    else:
        return guessed
    if not model or find_model(model) is None:
        return guessed
    return replace(guessed, value=model, why=f"{guessed.why}, and `{said}` says which")


def _large(run: Run, name: str) -> tuple[str, str]:
    """Return the large sibling of an encoder, where an option's path is one's (``bert/bert_uncased_large``)."""
    kind = "bert" if "bert" in name.lower() else name.rpartition("/")[2].partition("-")[0].lower()
    for key, value in run.options.items():
        named = value.rstrip("/").rpartition("/")[2] if "/" in value else value
        if kind in named.lower() and _LARGE.search(named) and len(named) < 80:
            return name.replace("-base", "-large"), f"{key} {named}"
    return "", ""


def _of_billions(run: Run, name: str) -> tuple[str, str]:
    """Return the member of a family that has as many parameters as an option says; its default where a command fills in nothing."""
    owner, _, last = name.rpartition("/")
    word = _WORD.match(last)
    for key in _SIZE_KEYS if word is not None else ():
        said = _BILLIONS.match(run.options.get(key, ""))
        default = run.script.code.default(key) if said is None and run.script is not None and run.script.code else None
        said = said or (_BILLIONS.match(default.text) if default is not None else None)
        if said is not None and word is not None:
            return f"{owner}/{word[0]}-{said[1]}b", f"{key} {said[1]}b"
    return "", ""
