"""Where a class comes from, and what it is told to load: both say more of a model's family than the words in a name."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.models.model_loads import HUB_ID, PLACEHOLDER, model_name
from gpu_lol_action.domain.patterns import regex

_NAMES = ("name", "model", "model_name", "model_id", "model_path", "repo_id")
_LIBRARIES = ("diffusers", "transformers")
_PIPELINE = "Pipeline"
# Data, logs and what prepares them have names on the Hub, or such as look like them, too.
_NO_MODEL = regex(r"data|logg|track|writer|tokeniz|process|extract|schedul|config|optim", re.IGNORECASE)


def home_of_pipeline(source: Source, owner: str) -> str:
    """Return the module that a pipeline's class comes from (``ours.pipelines``), empty where that is a library's.

    A project that changes a pipeline often leaves its class the name that it has where it was copied from.
    """
    if not owner.endswith(_PIPELINE) or source.code is None:
        return ""
    homes = (item.module for item in source.code.imports if owner in item.names)
    return next((home for home in homes if not home.startswith(_LIBRARIES)), "")


@remembered
def loads_unknown(source: Source) -> bool:
    """Whether a program has a class of somebody else's load a model of the Hub that is none of those whose size is known.

    Its file's name then holds that model's name, and not that of the family which it sounds like.
    """
    if source.code is None:
        return False
    for call in source.code.calls:
        if not call.last[:1].isupper() or "." in call.name or _NO_MODEL.search(call.last):
            continue
        text = source.code.resolve(call.keyword(*_NAMES)) or ""
        if HUB_ID.fullmatch(text) and model_name(text) is None and not PLACEHOLDER.search(text):
            return True
    return False
