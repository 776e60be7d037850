"""A README that opens with what its project is made for, a card, or that puts its own first lines of code on one.

Compilers of kernels, templates for them and simulations in them have nothing in their lists that computes on a card: they are what
does. What a later chapter offers besides ("GPU support") says nothing of the kind.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.documents.silent_readme import root_readmes
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.needs.moved_to_card import moved_in_block
from gpu_lol_action.analysis.needs.required_without import LEAST_PROGRAMS, few_import
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

LINES_OF_OPENING = 60
_MADE_FOR = regex(
    r"\bGPU[- ](?:accelerated|kernels?|programming)\b|\bprogramming GPUs\b|\bkernels? for (?:NVIDIA )?GPUs\b"
    r"|\bCUDA(?: C\+\+)? (?:template )?(?:abstractions|kernels?|templates?)\b|\baccelerated (?:on|by|with) (?:NVIDIA )?GPUs?\b",
    re.IGNORECASE,
)
# What is said of others, of a part, or of what is left to the reader; and what a card draws, which every desk's does.
_OF_OTHERS = regex(
    r"^\s{0,8}(?:[-*+|>]|\d{1,3}\.)|\b(?:optional\w*|without|supports?|no GPUs?|instead|unlike|compared (?:to|with)|as fast as|(?:faster|slower) than|alternative)\b"
    r"|\]\(http|\b(?:papers|books?|lists? of|resources|traces?|profil\w{1,6}|monitor\w{0,6})\b",
    re.IGNORECASE,
)
_DRAWS = regex(
    r"\b(?:render(?:s|ed|er|ing)?|draw(?:s|ing)?|graphics|terminals?|GUIs?|user interfaces?|plots?|plotting|charts?|visuali[sz]\w{1,8}|OpenGL|WebGL|WebGPU|browsers?|editor)\b",
    re.IGNORECASE,
)
_HEADING = regex(r"#{1,6}\s")


def made_for_cards(checkout: Checkout) -> Finding | None:
    """Return where the README at the root says so, in its opening or by its own code; None where it does not."""
    for readme in root_readmes(checkout):
        if (line := _opening_of(readme.text)) is not None:
            why = f"`{readme.name}` opens with what is made for a GPU"
            return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(readme.path, line))
        # A library that works on whatever it is handed shows in one line that a card will do; one made of what computes there means it.
        is_of_networks = len(checkout.of(Form.PYTHON, Form.NOTEBOOK)) >= LEAST_PROGRAMS and not few_import(checkout)
        if is_of_networks and (line := moved_in_block(readme)) is not None:
            why = f"the code in `{readme.name}` puts its work on a card"
            return Finding("gpu.use", "yes", why, Confidence.MEDIUM, Evidence(readme.path, line))
    return None


def kernels_workload(checkout: Checkout) -> Finding | None:
    """Return what kernels for a card are run for where the project builds some and starts nothing: to be tried and timed, as a model calls them."""
    setup = checkout.find("setup.py")
    if setup is None or not setup.mentions("CUDAExtension"):
        return None
    why = "the project builds kernels for a card, and they are called as a model at work does"
    return Finding("workload", "inference", why, Confidence.LOW, Evidence(setup.path))


def _opening_of(text: str) -> int | None:
    """Return the line before the second heading that tells of it in plain sentences."""
    if "GPU" not in text and "CUDA" not in text:
        return None
    headings = 0
    for number, line in enumerate(text.split("\n")[:LINES_OF_OPENING], 1):
        headings += _HEADING.match(line) is not None
        if headings > 1:
            return None
        if _MADE_FOR.search(line) and not (_OF_OTHERS.search(line) or _DRAWS.search(line)):
            return number
    return None
