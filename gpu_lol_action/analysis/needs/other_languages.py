"""Programs in other languages, which compute on the processor: what little Python lies beside them only makes their input.

A port of a small trainer to Java or Nim keeps the original's Python, to write the weights and the data that it starts from.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.native_programs import native_need
from gpu_lol_action.analysis.documents.silent_readme import root_readmes, silent_readme
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.needs.required_without import few_import
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

MOST_PROGRAMS = 6  # in Python
# What builds or runs the checkout itself: `cargo install`, `go install` bring tools of others.
_BUILT = regex(
    r"^[ \t>$]*(?:nim c(?:pp)? |cargo (?:run|build)\b|go (?:run|build)\b|mvn |gradle |\./gradlew |java -\S|zig build|dotnet (?:run|build)\b"
    r"|stack build|cabal (?:run|build)|swift (?:run|build)\b|gfortran |julia [\w./-]+\.jl)",
    re.MULTILINE,
)
_BY_CMAKE = regex(r"^[ \t>$]{0,8}cmake (?:\.\.|\.(?=\s)|-[SBDG]|--build)", re.MULTILINE)
_CARD = regex(r"\bGPUs?\b|CUDA|nvidia|\bmetal\b|vulkan|opencl", re.IGNORECASE)


def cores_of_cmake(checkout: Checkout) -> Evidence | None:
    """Return where the README builds a program in C++ by CMake, if no README there speaks of a card and few programs in Python use one.

    Python is then a way to call what was built, and a network in it an experiment beside.
    """
    if checkout.find("CMakeLists.txt") is None or silent_readme(checkout) is None or native_need(checkout) is not None:
        return None
    for readme in root_readmes(checkout):
        if (found := _BY_CMAKE.search(readme.text)) is not None and few_import(checkout):
            return Evidence(readme.path, readme.text.count("\n", 0, found.end()) + 1)
    return None


def built_in_another_language(checkout: Checkout) -> Evidence | None:
    """Return where the README builds a program of another language and nothing there speaks of a card; None with more than a little Python."""
    if len(checkout.of(Form.PYTHON, Form.NOTEBOOK)) > MOST_PROGRAMS:
        return None
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    readme = next((source for source in documents if source.depth == 0 and source.name.startswith("readme")), None)
    found = _BUILT.search(readme.text) if readme is not None else None
    if readme is None or found is None or _CARD.search(readme.text):
        return None
    return Evidence(readme.path, readme.text.count("\n", 0, found.end()) + 1)
