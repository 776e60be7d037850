"""Models that TorchServe is handed as an archive: the configuration that a document has packed into it is the server's."""

from __future__ import annotations

import itertools

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.patterns import regex

# One command, whose lines are joined before it is looked for.
_ARCHIVED = regex(r"\btorch-model-archiver\b[^\n]{0,400}?\s--config-file[ =][\"']?([\w./-]{1,200}\.ya?ml)")
_ENGINES = (("vllm_engine_config", "vllm"), ("trt_llm_engine_config", "tensorrt-llm"))
MAX_ARCHIVES = 8


def archived_config(checkout: Checkout, run: Run) -> Source | None:
    """Return the configuration of the model that a run asks TorchServe for; None where the run computes itself.

    Of several models that one document has packed the first is served, as its first command is the one that is run.
    """
    if run.behavior is not Behavior.INFERS or _computes(run.script):
        return None
    document = checkout.find(run.evidence.path)
    if document is None or not document.mentions("torch-model-archiver"):
        return None
    text = document.text.replace("\\\n", " ")
    for found in itertools.islice(_ARCHIVED.finditer(text), MAX_ARCHIVES):
        path = found[1].removeprefix("./")
        beside = checkout.find(f"{document.folder}/{path}".lstrip("/"))
        if (named := beside or checkout.find(path) or checkout.find_named(path)) is not None:
            return named
    return None


def _computes(script: Source | None) -> bool:
    """Whether a program takes a library that computes: what only asks a server takes none."""
    return script is not None and script.code is not None and bool(script.code.imported() & GPU_MODULES)


def archived_engine(checkout: Checkout, run: Run) -> str | None:
    """Return the engine that answers inside of TorchServe, which its configuration has a section for."""
    config = archived_config(checkout, run)
    paths = [setting.path for setting in read_settings(config)] if config is not None else []
    return next((engine for section, engine in _ENGINES if any(section in path for path in paths)), None)
