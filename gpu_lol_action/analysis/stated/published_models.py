"""A README that stands for weights published elsewhere: nothing is here to be started but the models that it links to.

Their makers tell which card they fit on; a list of others' models links to many makers.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.documents.silent_readme import root_readmes
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

# A model's name tells its billions of parameters: `huggingface.co/acme/sage-20b`.
_LINKED = regex(r"huggingface\.co/([\w.-]{1,60})/[A-Za-z][\w.-]{0,60}?[-_.]\d{1,4}(?:\.\d{1,2})?[bB](?![a-z0-9])")
# Of programs in other languages little is read: these files, and how the README has them built.
_PROJECTS = ("Cargo.toml", "CMakeLists.txt")
_BUILT = regex(
    r"^[ \t>$]{0,12}(?:npm (?:i|ci|install|run|start)\b|npx |pnpm |yarn\b|bun |deno |cargo |go (?:run|build|install|get)\b|mvn |\./gradlew |gradle |swift (?:run|build)\b|dotnet |cmake |make\b)",
    re.MULTILINE,
)
_ON_A_CARD = frozenset({"documented.memory_gb", "documented.inference.memory_gb", "documented.card"})


def told_models(checkout: Checkout) -> list[Finding]:
    """Return that models are run which one maker published, where a README without any program names the card or its memory; [] elsewhere."""
    if checkout.of(Form.PYTHON, Form.NOTEBOOK, Form.SHELL, Form.DOCKERFILE):
        return []
    if any(checkout.find(name) is not None for name in _PROJECTS) or checkout.of(Form.CPP):
        return []  # a program in another language, which asks the model over the network
    for readme in root_readmes(checkout):
        makers = set(_LINKED.findall(readme.text)) if readme.mentions("huggingface.co") else set()
        if len(makers) != 1 or _BUILT.search(readme.text) is not None:
            continue
        stated = [f for f in documented.detect(checkout, None) if f.evidence.path == readme.path]
        said = next((f for f in stated if f.field in _ON_A_CARD and f.confidence >= Confidence.MEDIUM), None)
        if said is not None:
            why = f"{said.why} for models that `{readme.name}` links to, and nothing else is here"
            return [Finding("workload", "inference", why, Confidence.LOW, said.evidence)]
    return []
