"""Repositories that stand for one model: their README shows how to load the weights that bear its title.

What else lies there (an evaluation in notebooks that ask a server for its answers, figures, prompts) is no work beside it.
"""

from __future__ import annotations

from gpu_lol_action.analysis.dependencies.dependency_lists import lists_of
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex

_TITLE = regex(r"^#\s+(.{3,120})|<h1[^>]{0,100}>\s*([^<]{3,120})")
_LOADED = regex(r"[\"'][\w.-]{1,60}/([A-Za-z][\w.-]{3,80})[\"']")
_NOT_PLAIN = regex(r"[^a-z0-9]+")
MAX_TITLE_LINES, LEAST_NAME = 30, 4


def is_model_card(checkout: Checkout, program: Source) -> bool:
    """Whether a shown program loads the weights that a README without a project beside it has in its title.

    ``program`` stands on its README's lines, and has nothing on the others. A program that is a file of its own is work of another
    kind, and so is what can be installed.
    """
    if lists_of(checkout).projects or checkout.of(Form.PYTHON):
        return False
    readme = checkout.find(program.path)
    title = _title(readme) if readme is not None else ""
    names = (_plain(name) for name in _LOADED.findall(program.text))
    return len(title) >= LEAST_NAME and any(len(name) >= LEAST_NAME and name.startswith(title) for name in names)


def _title(readme: Source) -> str:
    """Return a README's title in bare letters and digits, without what follows a colon."""
    for line in readme.text.split("\n", MAX_TITLE_LINES)[:MAX_TITLE_LINES]:
        if (found := _TITLE.search(line)) is not None:
            return _plain((found[1] or found[2]).partition(":")[0])
    return ""


def _plain(text: str) -> str:
    return _NOT_PLAIN.sub("", text.lower())
