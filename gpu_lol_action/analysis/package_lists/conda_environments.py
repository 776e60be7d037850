"""Which files are conda environments: those with one of the usual names, and the one that a reader creates by any other.

Authors name such a file after the project as often (``net.yml``, ``env/cuda11.yaml``, ``requirements.yml``): what is in it, and the
command that creates an environment from it or its place at the root, tell it from a configuration.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.patterns import regex

_CREATES = regex(
    r"\b(?:conda|mamba|micromamba)\s+(?:env\s+)?(?:create|update)\b[^\n|;&`]{0,100}?\s(?:-f|--file)[ =]\s?[\"']?([\w./-]{1,200}\.ya?ml)\b"
)
_CREATES_ANY = regex(r"\b(?:conda|mamba|micromamba)\s{1,4}env\s{1,4}(?:create|update)\b")
_LISTS = regex(r"(?:^|\n)dependencies[ \t]*:[ \t]*(?:#[^\n]*)?\r?\n")
_OF_CONDA = regex(r"(?:^|\n)channels[ \t]*:|\n[ \t]*-[ \t]*(?:pip[ \t]*:|python\b)")


@functools.lru_cache(maxsize=4)
def environments(checkout: Checkout) -> tuple[Source, ...]:
    """Return the environment files with usual names, shallow ones first, then at most one with a name of its own."""
    usual = checkout.of(Form.YAML, roles=(Role.PACKAGES,))
    others = [source for source in checkout.of(Form.YAML) if is_environment(source)]
    if not others:
        return usual
    at_root = (source for source in others if source.depth == 0)
    chosen = next((s for s in _created(checkout) if s in others), None) or next(at_root, None)
    chosen = chosen or _beside_its_script(checkout, others)
    return (*usual, chosen) if chosen is not None else usual


def _beside_its_script(checkout: Checkout, others: list[Source]) -> Source | None:
    """Return the only file beside a script that creates an environment of a file whose name it holds in a variable."""
    scripts = [s for s in checkout.of(Form.SHELL) if s.mentions(" env ") and _CREATES_ANY.search(s.text)]
    beside = [source for source in others if any(source.folder == script.folder for script in scripts)]
    return beside[0] if len(beside) == 1 else None


def is_environment(source: Source) -> bool:
    """Whether a file lists packages as conda does: under ``dependencies``, with channels, Python, or a list for pip among them."""
    if not source.mentions("dependencies"):
        return False
    return _LISTS.search(source.text) is not None and _OF_CONDA.search(source.text) is not None


def _created(checkout: Checkout) -> Iterator[Source]:
    """Yield the files from which documents, scripts and images create environments, documents first."""
    told = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    for source in (*told, *checkout.of(Form.SHELL, Form.DOCKERFILE)):
        if not source.mentions(".y") or (not source.mentions("mamba") and not source.mentions("conda")):
            continue
        for name in _CREATES.findall(source.text):
            beside = checkout.find(f"{source.folder}/{name}".lstrip("/"))
            if (found := beside or checkout.find_named(name)) is not None:
                yield found
