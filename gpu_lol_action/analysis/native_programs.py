"""Programs in C and CUDA: a Makefile that compiles with ``nvcc`` says that a GPU is used, documented commands say what for."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_COMPILES = regex(r"^[^#\n]*\bnvcc\b", re.MULTILINE)
_TRAINS = regex(
    r"^[ \t>$]*(?:\w+=\S+ +|mpirun [^\n]{0,40}? )?\./[\w./-]*?(?:train\w*|\w [^\n]{0,60}?\btrain)\b", re.MULTILINE
)


def native_need(checkout: Checkout) -> Finding | None:
    """Return that the Makefile at the root compiles CUDA; None where none does."""
    for source in checkout.of(Form.SHELL):
        if source.depth == 0 and source.name == "makefile" and (found := _COMPILES.search(source.text)) is not None:
            line = source.text.count("\n", 0, found.start()) + 1
            why = "the Makefile compiles CUDA with `nvcc`"
            return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(source.path, line))
    return None


def native_workload(checkout: Checkout, need: Finding) -> Finding:
    """Return what such a program is for: training where a document starts it to train, else inference."""
    for source in checkout.of(Form.MARKDOWN, Form.SHELL, roles=(Role.WORKLOAD, Role.DOCUMENTATION)):
        if source.depth == 0 and source.name != "makefile" and (found := _TRAINS.search(source.text)) is not None:
            where = Evidence(source.path, source.text.count("\n", 0, found.end()) + 1)
            return Finding("workload", "training", "a program of its own is started to train", Confidence.LOW, where)
    return Finding("workload", "inference", "a program of its own is compiled with CUDA", Confidence.LOW, need.evidence)
