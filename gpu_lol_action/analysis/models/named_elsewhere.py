"""The model that a user is expected to give, where the command has a path of the user's own: what is named beside the run.

A program's default for that option, else (of a program that is not in the checkout) what configurations beside the run's name, what
the checkout's notebooks load and what its shell scripts call the model. All are guesses of low confidence: the user may give any other.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models.model_loads import HELPER_KEY, MODEL_KEYS, PLACEHOLDER, TRIED, loads_of, model_name
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model

_SHELL_MODEL = regex(
    r"^[ \t]{0,8}(?:export[ \t]+)?(\w{0,40}model\w{0,40})=(?:[\"']?\$\{?\w{1,40}:-)?[\"']?([\w.-]{1,80}/[\w.-]{1,120})[\"'}]",
    re.IGNORECASE | re.MULTILINE,
)
_KINDS = ("llm", "vlm", "hybrid", "ssm", "omni", "seq2seq")
_FORMS = (Form.YAML, Form.JSON, Form.TOML)
MAX_CONFIGURATIONS = 30
MAX_NOTEBOOKS = 50
MAX_SCRIPTS = 50


def detect(checkout: Checkout, run: Run) -> Finding | None:
    """Return the model that stands for the user's, as a finding ``model.family``; None where nothing names one."""
    if run.script is not None:
        found = next((f for f in loads_of(run.script, Confidence.LOW) if _is_meant(f.value)), None)
        why = "{} where the command gives a path of its user's"
    else:
        found = _of_configurations(checkout, run) or _of_notebooks(checkout) or _of_scripts(checkout)
        why = "{}, and the program that is started is not here"
    if found is None:
        return None
    return Finding("model.family", found.value, why.format(found.why), Confidence.LOW, found.evidence)


def _of_configurations(checkout: Checkout, run: Run) -> Finding | None:
    """Return what the other configurations of the run's own folder name: one that goes on from a path of its user's began with it."""
    if not run.configs:
        return None
    own = run.configs[0]
    beside = [s for s in checkout.of(own.form) if s.folder == own.folder and s is not own] if own.form in _FORMS else []
    for source in beside[:MAX_CONFIGURATIONS]:
        for setting in read_settings(source):
            name = model_name(setting.text) if setting.key in MODEL_KEYS else None
            if name is not None and _is_meant(name):
                why = f"`{setting.key}` is `{name}` in a configuration beside the run's"
                return Finding("model.family", name, why, Confidence.LOW, setting.evidence)
    return None


@remembered
def _of_notebooks(checkout: Checkout) -> Finding | None:
    """Return what the notebooks load first, those nearest to the root before the others."""
    notebooks = sorted(checkout.of(Form.NOTEBOOK), key=lambda s: (s.depth, s.path))
    for source in notebooks[:MAX_NOTEBOOKS]:
        found = next((f for f in loads_of(source, Confidence.LOW) if _is_meant(f.value)), None)
        if found is not None:
            return found
    return None


@remembered
def _of_scripts(checkout: Checkout) -> Finding | None:
    """Return what a shell script's variable for the model is set to, also as a default (``model=${4:-"allenai/tulu-2-70b"}``)."""
    for source in checkout.of(Form.SHELL)[:MAX_SCRIPTS]:
        for found in _SHELL_MODEL.finditer(source.text) if source.mentions("odel") or source.mentions("ODEL") else ():
            name = model_name(found[2])
            if name is not None and not HELPER_KEY.search(found[1].lower()) and _is_meant(name):
                line = source.text.count("\n", 0, found.start()) + 1
                why = f"`{found[1]}` is `{name}`"
                return Finding("model.id", name, why, Confidence.LOW, Evidence(source.path, line))
    return None


def _is_meant(name: str) -> bool:
    """Whether it is a model of language: encoders and networks for pictures are parts of many others, and a test's is no user's."""
    facts = find_model(name)
    return facts is not None and facts.kind.startswith(_KINDS) and not (PLACEHOLDER.search(name) or TRIED.search(name))
