"""Programs in C and CUDA: a Makefile that compiles with ``nvcc``, or CMake told the language, says that a GPU is used, documented commands what for.

Where other tools build it, the README's list of requirements says it: "An NVIDIA GPU". Torch 7's programs are started by ``th``, and
their README has its packages for CUDA installed: of Lua itself nothing is read.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_COMPILES = regex(r"^[^#\n]*\bnvcc\b", re.MULTILINE)
_TRAINS = regex(
    r"^[ \t>$]*(?:\w+=\S+ +|mpirun [^\n]{0,40}? )?\./[\w./-]*?(?:train\w*|\w [^\n]{0,60}?\btrain)\b", re.MULTILINE
)
# `project(llama LANGUAGES CXX CUDA)`, `enable_language(CUDA)`, and a mode that is CUDA where nobody says otherwise. What is only looked
# for, or switched on by an option, is left out: most projects build without it as well.
_IN_CMAKE = regex(
    r"^[ \t]{0,8}(?:project\s{0,4}\([^()#]{1,400}?\bLANGUAGES\b[^()#]{0,80}?\bCUDA\b"
    r"|set\s{0,4}\(\s{0,4}\w{0,30}(?:GPU|MODE|BACKEND|ACCEL\w{0,9})\w{0,30}\s{1,4}\"?CUDA\"?\s{1,4}CACHE\b)"
    r"|^(?:enable_language)\s{0,4}\(\s{0,4}CUDA\b",
    re.MULTILINE | re.IGNORECASE,
)

# Torch 7: `th train.lua -gpuid 0`, and the packages with which it computes on a card.
_LUA = regex(r"^[ \t>$]*(?:\w+=\S+ +){0,4}th[ \t]+([\w./-]{1,100})\.lua\b", re.MULTILINE)
_OF_TORCH7 = regex(r"\b(?:cutorch|cunn|cudnn\.torch)\b")
_LUA_TRAINS = regex(r"(?:^|/)(?:train\w*|main)$")

_HEADING = regex(r"^#{1,6}[^\n]{0,60}\b(?:requirements?|prerequisites?|dependencies)\b", re.IGNORECASE)
_ANY_HEADING = regex(r"^#{1,6}\s")
_ASKED_FOR = regex(
    r"^[ \t]*[-*+][ \t]+(?:an?[ \t]+)?[*_]{0,2}(?:an?[ \t]+)?NVIDIA(?:[ \t]+[\w-]{1,20}){0,2}[ \t]+(?:GPUs?|graphics card)(?![A-Za-z])",
    re.IGNORECASE,
)
_NOT_NEEDED = regex(r"\b(?:optional\w*|if|recommended|preferabl\w+|ideally|faster|or a CPU|or CPU)\b", re.IGNORECASE)
MAX_LINES = 4000
_BUILDS = {
    "makefile": (_COMPILES, "the Makefile compiles CUDA with `nvcc`"),
    "cmakelists.txt": (_IN_CMAKE, "CMake is told that programs are in CUDA"),
}


def native_need(checkout: Checkout) -> Finding | None:
    """Return that what builds the programs at the root compiles CUDA, or that the README requires an NVIDIA GPU or starts Torch 7 on one; else None."""
    for source in checkout.of(Form.SHELL, Form.INI):
        if source.depth == 0 and (built := _BUILDS.get(source.name)) is not None:
            found = built[0].search(source.text)
            if found is not None:
                line = source.text.count("\n", 0, found.end()) + 1
                return Finding("gpu.use", "yes", built[1], Confidence.LOW, Evidence(source.path, line))
    return _required(checkout) or _in_lua(checkout)


def _in_lua(checkout: Checkout) -> Finding | None:
    """Return the README's command that starts a program of Torch 7, where the README also has its packages for a GPU installed."""
    readme = _readme(checkout)
    found = _LUA.search(readme.text) if readme is not None and _OF_TORCH7.search(readme.text) else None
    if found is None or readme is None:
        return None
    line = readme.text.count("\n", 0, found.start(1)) + 1
    why = "the README starts a program of Torch 7, with its packages for CUDA"
    return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(readme.path, line))


def _readme(checkout: Checkout) -> Source | None:
    documents = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))
    return next((s for s in documents if s.depth == 0 and s.name.startswith("readme.")), None)


def _required(checkout: Checkout) -> Finding | None:
    """Return the item of the README's requirements that asks for a GPU, and does not leave it to the reader."""
    readme = _readme(checkout)
    if readme is None or not readme.mentions("NVIDIA"):
        return None
    is_list = False
    for number, line in enumerate(readme.text.split("\n")[:MAX_LINES], 1):
        if _ANY_HEADING.match(line):
            is_list = _HEADING.match(line) is not None
        elif is_list and _ASKED_FOR.match(line[:200]) and not _NOT_NEEDED.search(line):
            why = "the README requires an NVIDIA GPU"
            return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(readme.path, number))
    return None


def native_workload(checkout: Checkout, need: Finding) -> Finding:
    """Return what such a program is for: training where a document starts it to train, else inference."""
    readme = _readme(checkout)
    started = _LUA.findall(readme.text) if readme is not None and need == _in_lua(checkout) else []
    if any(map(_LUA_TRAINS.search, started)):
        return Finding(
            "workload", "training", "a program of Torch 7 is started to train", Confidence.LOW, need.evidence
        )
    for source in checkout.of(Form.MARKDOWN, Form.SHELL, roles=(Role.WORKLOAD, Role.DOCUMENTATION)):
        if source.depth == 0 and source.name != "makefile" and (found := _TRAINS.search(source.text)) is not None:
            where = Evidence(source.path, source.text.count("\n", 0, found.end()) + 1)
            return Finding("workload", "training", "a program of its own is started to train", Confidence.LOW, where)
    return Finding("workload", "inference", "a program of its own is made for CUDA", Confidence.LOW, need.evidence)
