"""Programs in C and CUDA: a Makefile that compiles with ``nvcc``, or a CMake project of CUDA, says that a GPU is used; commands say what for.

A program of LibTorch at the root says it itself. Where other tools build it, the README's list of requirements says it: "An NVIDIA GPU". Torch 7's programs are started by ``th``, and
their README has its packages for CUDA installed: of Lua itself nothing is read. Nor is anything of Rust, which Cargo builds for a card
where its command says so.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.cargo_programs import built_for_a_card
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# A language that CMake is always to have (what stands under an `if` is set in), or a mode that is CUDA where nobody says otherwise.
_IN_CUDA = regex(
    r"^[ \t]{0,8}set[ \t]?\([ \t]?\w{0,30}(?:GPU|MODE|BACKEND|ACCEL)\w{0,30}[ \t]{1,4}\"?CUDA\"?[ \t]{1,4}CACHE\b"
    r"|^(?:project[ \t]?\([^)#]{1,400}[ \t\n]CUDA\b|enable_language[ \t]?\([ \t]?CUDA\b|find_package[ \t]?\([ \t]?CUDA(?:Toolkit)?[ \t][^)\n#]{0,60}\bREQUIRED\b)",
    re.MULTILINE | re.IGNORECASE,
)
_COMPILES = regex(r"^[^#\n]*\bnvcc\b", re.MULTILINE)
# The same with what it is given: a recipe that only looks for it compiles nothing.
_MAKES = regex(
    r"^(?!.{0,200}(?:which|command -v|--version))[^#\n]*\bnvcc\b[^\n#]{0,300}?(?:\.cu\b|[ \t]-[oc]\b|\$[<@^(])|^NVCC[ \t]{0,4}[:?]?=[ \t]{0,4}\S{0,80}nvcc\b",
    re.MULTILINE,
)
# A switch of the Makefile's own that is on unless somebody turns it off, as Darknet's forks have it.
_SWITCHED_ON = regex(r"^(?:(?:USE|WITH|ENABLE)_)?(?:GPU|CUDA|CUBLAS)[ \t]*[:?]?=[ \t]*(?:1|yes|on|true)[ \t]*(?:#[^\n]*)?$", re.MULTILINE | re.IGNORECASE)  # fmt: skip
_TRAINS = regex(
    r"^[ \t>$]*(?:\w+=\S+ +|mpirun [^\n]{0,40}? )?\./[\w./-]*?(?:train\w*|\w [^\n]{0,60}?\btrain)\b", re.MULTILINE
)

# Torch 7: `th train.lua -gpuid 0`, and the packages with which it computes on a card.
_LUA = regex(r"^[ \t>$]*(?:\w+=\S+ +){0,4}th[ \t]+([\w./-]{1,100})\.lua\b", re.MULTILINE)
_OF_TORCH7 = regex(r"\b(?:cutorch|cunn|cudnn\.torch)\b")
_LUA_TRAINS = regex(r"(?:^|/)(?:train\w*|main)$")

# The tutorials' device: a card where there is one.
_OF_LIBTORCH = regex(r"\btorch::(?:kCUDA\b|cuda::is_available\b|DeviceType::CUDA\b)")
_INCLUDES_TORCH, _WALKS_BACK = "#include <torch/", ".backward("

_HEADING = regex(r"^#{1,6}[^\n]{0,60}\b(?:requirements?|prerequisites?|dependencies)\b", re.IGNORECASE)
_ANY_HEADING = regex(r"^#{1,6}\s")
_ASKED_FOR = regex(
    r"^[ \t]*[-*+][ \t]+(?:an?[ \t]+)?[*_]{0,2}(?:an?[ \t]+)?NVIDIA(?:[ \t]+[\w-]{1,20}){0,2}[ \t]+(?:GPUs?|graphics card)(?![A-Za-z])",
    re.IGNORECASE,
)
_NOT_NEEDED = regex(r"\b(?:optional\w*|if|recommended|preferabl\w+|ideally|faster|or a CPU|or CPU)\b", re.IGNORECASE)
MAX_LINES = 4000


def native_need(checkout: Checkout) -> Finding | None:
    """Return that what is built at the root is CUDA, or that the README requires an NVIDIA GPU or starts Torch 7 on one; else None."""
    if (compiled := compiled_by_make(checkout, _COMPILES)) is not None:
        return Finding("gpu.use", "yes", "the Makefile compiles CUDA with `nvcc`", Confidence.LOW, compiled)
    for source in checkout.of(Form.SHELL):
        if source.depth == 0 and source.name == "makefile" and (on := _SWITCHED_ON.search(source.text)) is not None:
            line = source.text.count("\n", 0, on.start()) + 1
            why = "the Makefile builds for a GPU unless it is told otherwise"
            return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(source.path, line))
    built = _built_by_cmake(checkout) or in_libtorch(checkout)
    return built or _required(checkout) or _in_lua(checkout) or _in_rust(checkout)


def compiled_by_make(checkout: Checkout, pattern: re.Pattern[str] = _MAKES) -> Evidence | None:
    """Return where the Makefile at the root compiles with ``nvcc``, which images without a compiler do not have; None where it does not."""
    for source in checkout.of(Form.SHELL):
        if source.depth == 0 and source.name == "makefile" and (found := pattern.search(source.text)) is not None:
            return Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
    return None


def in_libtorch(checkout: Checkout) -> Finding | None:
    """Return that a program at the root computes with LibTorch on a card; what Python installs from there is an extension."""
    programs = checkout.of(Form.CPP)
    if programs and any(checkout.find(name) for name in ("setup.py", "pyproject.toml")):
        return None
    for source in programs:
        found = _OF_LIBTORCH.search(source.text) if source.mentions(_INCLUDES_TORCH) else None
        if found is not None:
            where = Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
            return Finding("gpu.use", "yes", f"`{source.path}` computes with LibTorch on a card", Confidence.LOW, where)
    return None


def _built_by_cmake(checkout: Checkout) -> Finding | None:
    """Return that CMake builds a program of CUDA at the root, where nothing of Python is installed from there: else it is an extension."""
    source = checkout.find("CMakeLists.txt")
    found = _IN_CUDA.search(source.text) if source is not None else None
    if source is None or found is None or any(checkout.find(name) for name in ("setup.py", "pyproject.toml")):
        return None
    line = source.text.count("\n", 0, found.start()) + 1
    why = "CMake builds a program of CUDA"
    return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(source.path, line))


def _in_lua(checkout: Checkout) -> Finding | None:
    """Return the README's command that starts a program of Torch 7, where the README also has its packages for a GPU installed."""
    readme = _readme(checkout)
    found = _LUA.search(readme.text) if readme is not None and _OF_TORCH7.search(readme.text) else None
    if found is None or readme is None:
        return None
    line = readme.text.count("\n", 0, found.start(1)) + 1
    why = "the README starts a program of Torch 7, with its packages for CUDA"
    return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(readme.path, line))


def _in_rust(checkout: Checkout) -> Finding | None:
    """Return the README's command with which Cargo builds a program for CUDA."""
    readme = _readme(checkout)
    built = built_for_a_card(readme) if readme is not None else None
    if built is None or readme is None:
        return None
    why = "the README has Cargo build a program for CUDA"
    return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(readme.path, built[0]))


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
    source = checkout.find(need.evidence.path)
    if source is not None and source.form is Form.CPP:
        kind, does = ("training", "trains") if source.mentions(_WALKS_BACK) else ("inference", "runs a model")
        return Finding("workload", kind, f"`{source.path}` {does} with LibTorch", Confidence.MEDIUM, need.evidence)
    readme = _readme(checkout)
    started = _LUA.findall(readme.text) if readme is not None else []
    if any(map(_LUA_TRAINS.search, started)):
        return Finding(
            "workload", "training", "a program of Torch 7 is started to train", Confidence.LOW, need.evidence
        )
    if (
        readme is not None
        and need == _in_rust(checkout)
        and (built := built_for_a_card(readme)) is not None
        and built[1]
    ):
        return Finding("workload", "training", "Cargo starts a program that trains", Confidence.LOW, need.evidence)
    for source in checkout.of(Form.MARKDOWN, Form.SHELL, roles=(Role.WORKLOAD, Role.DOCUMENTATION)):
        if source.depth == 0 and source.name != "makefile" and (found := _TRAINS.search(source.text)) is not None:
            where = Evidence(source.path, source.text.count("\n", 0, found.end()) + 1)
            return Finding("workload", "training", "a program of its own is started to train", Confidence.LOW, where)
    return Finding("workload", "inference", "a program of its own is made for CUDA", Confidence.LOW, need.evidence)
