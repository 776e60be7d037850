"""Which YAML files are conda environments: those that are called so, and those from which a document makes one, whatever their name."""

from __future__ import annotations

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.domain.patterns import regex

MAX_TOLD = 4
MAX_DEPTH = 2  # folders below the root of a document that tells of an installation
_TOLD = regex(
    r"\b(?:conda|mamba|micromamba)\s+env\s+(?:create|update)\b[^\n`]{0,200}?(?:-f|--file)[ =]\s*([\w./-]{1,120}\.ya?ml)\b"
)
_LISTS = regex(r"^dependencies:[ \t]*$")


@remembered
def environment_files(checkout: Checkout) -> tuple[Source, ...]:
    """Return the environments by their names, then those that ``conda env create -f`` is shown with (``pytorch18.yml``)."""
    named = checkout.of(Form.YAML, roles=(Role.PACKAGES,))
    told: dict[Source, None] = {}
    for document in checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,)):
        if document.depth > MAX_DEPTH or not (document.mentions("env create") or document.mentions("env update")):
            continue
        for name in _TOLD.findall(document.text):
            beside = checkout.find(f"{document.folder}/{name}".lstrip("/"))
            source = beside or checkout.find_named(name)
            if source is not None and source.form is Form.YAML and source not in named and _is_list(source):
                told[source] = None
    return (*named, *list(told)[:MAX_TOLD])


def _is_list(source: Source) -> bool:
    return any(_LISTS.match(line) for line in source.text.split("\n"))
