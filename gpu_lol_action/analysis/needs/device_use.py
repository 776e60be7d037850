"""Whether anything in a checkout may reach a GPU: a library that can compute on one often stays on the CPU."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models.cpu_bound import only_reads, stays_on_cpu
from gpu_lol_action.analysis.needs.untold_programs import SHY
from gpu_lol_action.analysis.package_lists.package_files import Declared, package_name
from gpu_lol_action.analysis.programs.behavior import Behavior, behavior_of
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.small_worlds import lives_in_small_worlds
from gpu_lol_action.domain.patterns import may_match, regex
from gpu_lol_action.domain.records import record

# A program may ask whether a tensor is on a card without putting any there, and a browser has devices of its own.
_DEVICE = regex(r"(?<!\bis_)(?<!\.is_)cuda|(?<!media)device|gpu|accelerator|\.to\(", re.IGNORECASE)
_BUILT_FOR_CPU = "+cpu"
_OF_TENSORFLOW = frozenset({"tensorflow", "keras", "tf_keras", "tensorflow_hub", "tensorflow_probability"})
_PLAIN = _OF_TENSORFLOW | {
    "torch",
    "torchvision",
    "catalyst",
    "pytorch_lightning",
    "lightning",
    "tianshou",
    "stable_baselines3",
    "parl",
    "paddle",
    "skorch",
    "ignite",
}
"""What a network of a few neurons is built and trained with."""
_ON_THE_CPU = frozenset({"ctransformers", "llama_cpp"})
"""GGML's runtimes: nothing of a model comes to a card before they are told how many of its layers."""
_OF_INTEL = frozenset({"openvino", "openvino_genai"})
_IPEX = frozenset({"ipex_llm", "bigdl"})
"""Intel's loaders of language models: on its processors and its own cards, no others."""
_LEADS_TO_INTEL = _OF_INTEL | _IPEX | {"optimum"}
# A copied line that would empty the memory of a card, of which nothing is used: `if torch.cuda.is_available(): torch.cuda.empty_cache()`.
_EMPTIES = regex(r"#.*|torch\.cuda\.(?:is_available|empty_cache|ipc_collect)\(\)")
_OF_TRANSFORMERS = regex(r"(?<![\w.])(?<!from )(?<!import )transformers\.(\w{1,60})")
# A network that is loaded all the same, by a name that comes from elsewhere.
_LOADS = regex(r"\b(\w{0,60}(?:Model|For[A-Z])\w{0,60})\.from_pretrained\(")
_GIVEN_TO_INTEL = frozenset(
    {"torch", "torchvision", "transformers", "diffusers", "optimum", "tensorflow", "ultralytics"}
)
"""What is converted for OpenVINO, or only splits texts for it: OpenVINO itself computes on Intel's processors alone."""


@remembered
def touches_a_device(checkout: Checkout) -> bool:
    """Whether any program may reach a GPU. Bare PyTorch stays on the CPU until it is told; what builds on it is not so shy."""
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    seen = _Seen(checkout, _built_for_cpu(checkout))
    on_intel: list[Source] = []
    aside: list[tuple[Source, AbstractSet[str]]] = []
    for source in programs:
        imported = source.code.imported() if source.code is not None else frozenset[str]()
        found: AbstractSet[str] = imported & GPU_MODULES
        is_on_intel = bool(imported & _LEADS_TO_INTEL) and _computes_on_intel(source)
        on_intel += [source] if is_on_intel else []
        if "transformers" in found and _only_splits_texts(source):
            seen.stays, found = True, found - {"transformers"}
        if found & _ON_THE_CPU and "gpu_layers" not in source.text:
            seen.stays, found = True, found - _ON_THE_CPU
        if found and is_on_intel:
            seen.stays, found = True, found - _GIVEN_TO_INTEL
        elif found and _may_help(source):
            aside.append((source, found))  # whom it serves is known when all programs are: most trees end at one before
            continue
        if seen.reaches(source, found):
            return True
    for source, found in aside:
        helps = bool(on_intel) and _helps(checkout, source, on_intel)
        seen.stays = seen.stays or helps
        if seen.reaches(source, found - _GIVEN_TO_INTEL if helps else found):
            return True
    if seen.stays and not seen.used and not any(c.is_tool or c.is_launcher for c in launch_commands(checkout)):
        # Somebody else's runtime computes, on the CPU unless it is asked otherwise, or built for cards.
        return _is_built_for_cards(checkout, seen.read)
    if not seen.used or any(command.is_launcher for command in launch_commands(checkout)):
        return True
    return _is_built_for_cards(checkout, seen.used) or any(
        may_match(_DEVICE, source.text) and _DEVICE.search(source.text) for source in programs
    )


@record(slots=True)
class _Seen:
    """What the programs looked at so far use: ``stays`` where one would, and stays on the CPU; ``read`` is what only reads data."""

    checkout: Checkout
    built_for_cpu: frozenset[str]
    used: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    stays: bool = False

    def reaches(self, source: Source, found: AbstractSet[str]) -> bool:
        """Take what one program uses of what could reach a card; whether that is enough to know that one is reached."""
        if found and only_reads(source, frozenset(found)):
            # What is learned with it elsewhere may use the card; who only writes records of data does not.
            is_more = source.code is not None and behavior_of(source.code)[0] is not Behavior.NEITHER
            self.read |= found if is_more else set()
            self.stays, found = True, set()
        if found and stays_on_cpu(source):
            self.stays, found = True, set()
        if found and found <= _PLAIN and lives_in_small_worlds(self.checkout):
            self.stays, found = True, set()
        if found & self.built_for_cpu:
            self.stays, found = True, found - self.built_for_cpu
        self.used |= found
        return bool(self.used - SHY)


def _is_built_for_cards(checkout: Checkout, used: set[str]) -> bool:
    """Whether a list asks for the build for cards of a library that is used (``tensorflow-gpu``): somebody chose it for them."""
    required = {package_name(item.requirement) for item in declared_packages(checkout) if not item.is_optional}
    return any(name in used and f"{name}-gpu" in required for name in ("tensorflow", "mxnet"))


def _computes_on_intel(source: Source) -> bool:
    """Whether a program has OpenVINO compute, and speaks of no NVIDIA card: what OpenVINO calls GPU is Intel's."""
    if source.code is None or not any(map(source.mentions, ("openvino", "optimum.intel", *_IPEX))):
        return False
    if not _IPEX.isdisjoint(source.code.imported()):
        return "cuda" not in _EMPTIES.sub("", source.text)
    modules = [item.module for item in source.code.imports]
    is_given = any(module.partition(".")[0] in _OF_INTEL or module.startswith("optimum.intel") for module in modules)
    return is_given and "cuda" not in source.text


def _may_help(source: Source) -> bool:
    """Whether a module is only imported, loads no model itself, and names no card."""
    if source.code is None or source.code.has_main or source.mentions("from_pretrained"):
        return False
    return not source.mentions("cuda") or "cuda" not in _EMPTIES.sub("", source.text)


def _helps(checkout: Checkout, source: Source, on_intel: Sequence[Source]) -> bool:
    """Whether such a module trains nothing either: it serves the programs that Intel's processors compute for.

    A training beside a demonstration with OpenVINO uses the card that it finds.
    """
    does = behavior_of(source.code)[0] if source.code is not None else Behavior.NEITHER
    if does is Behavior.INFERS:
        return any(source in import_closure(checkout, program) for program in on_intel)
    return does is Behavior.NEITHER


def _built_for_cpu(checkout: Checkout) -> frozenset[str]:
    """Return the libraries that the lists ask for in a build without a GPU (``tensorflow-cpu``, ``torch==2.6.0+cpu``)."""
    # Which of two builds a setup.py takes, it may decide itself.
    told = [d for d in declared_packages(checkout) if not d.evidence.path.endswith("setup.py")]
    told = [item for item in told if not item.is_optional and not item.group]
    required = {package_name(item.requirement) for item in told}
    built: set[str] = set()
    if {"tensorflow-cpu", "tensorflow"} & required == {"tensorflow-cpu"}:
        built |= _OF_TENSORFLOW
    if any(package_name(item.requirement) == "torch" and _BUILT_FOR_CPU in line_of(checkout, item) for item in told):
        built |= {"torch", "torchvision", "torchaudio", "transformers", "sentence_transformers"}
    return frozenset(built)


def line_of(checkout: Checkout, item: Declared) -> str:
    """Return the line of a list that names a package, as it is written there."""
    source = checkout.find(item.evidence.path)
    lines = source.text.split("\n") if source is not None else []
    return lines[item.evidence.line - 1] if 0 < item.evidence.line <= len(lines) else ""


def _only_splits_texts(source: Source) -> bool:
    """Whether a program takes tokenizers from transformers, or its reader of options, and uses nothing else of it."""
    taken = [item for item in source.code.imports if item.module.split(".")[0] == "transformers"] if source.code else []
    whole = [name for item in taken if not item.names for name in _OF_TRANSFORMERS.findall(source.text) or ["*"]]
    named = [name for item in taken for name in item.names]
    if not any(map(_splits, (*whole, *named))) or _loads_network(source):
        return False
    return all(map(_splits, whole)) and all(_splits(name) or _is_idle(source, name) for name in named)


def _loads_network(source: Source) -> bool:
    """Whether a program loads a network by a class that it takes from no other library: one it forgot to import is transformers' as well."""
    others = {
        name
        for item in (source.code.imports if source.code else ())
        if item.module.split(".")[0] != "transformers"
        for name in item.names
    }
    return not others.issuperset(_LOADS.findall(source.text))


def _splits(name: str) -> bool:
    return "oken" in name or name == "HfArgumentParser"


def _is_idle(source: Source, name: str) -> bool:
    """Whether a program never comes back to what it imported: a name that stands there once, as tutorials are copied, does nothing."""
    return name.isidentifier() and re.findall(rf"\b{name}\b(?: as\b)?", source.text) == [name]
