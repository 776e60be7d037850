"""Packages that nobody imports and a library asks for when it is too late.

transformers' ``Trainer`` and ``device_map`` do not start without accelerate, nor does diffusers move weights to main memory; diffusers'
pipelines encode their prompts with transformers; weights in 8 and 4 bit and paged optimizers need bitsandbytes, tokenizers made of
pieces sentencepiece, a search for hyperparameters Optuna, its models PyTorch. pip installs none of them with either.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.programs.dead_branches import dead_lines
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import values_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.read_requirements import read_requirement

if TYPE_CHECKING:
    from packaging.specifiers import Specifier

_TRAINERS = frozenset({"Trainer", "Seq2SeqTrainer", "TrainingArguments", "Seq2SeqTrainingArguments"})
_LIBRARIES = frozenset({"transformers", "diffusers"})
_DOTTED = regex(r"\btransformers\.((?:Seq2Seq)?Train(?:er|ingArguments))\b")
_UNPROMPTED = regex(r"^(?:DDPM|DDIM|PNDM|ScoreSdeVe|Karras|ConsistencyModel|DiT|Unconditional|LDMSuper|Dance|Repaint)")
_OFFLOADS = ("enable_model_cpu_offload", "enable_sequential_cpu_offload")
_OF_PIECES = regex(
    r"(?<!class )\b((?:Llama|CodeLlama|T5|XLMRoberta|MBart|MBart50|Marian|Pegasus|Albert|Camembert|XLNet|BigBird|DebertaV2|M2M100|Nllb|Gemma|"
    r"Cpm|XGLM|Reformer|PLBart|Barthez|GPTSw3|Speech2Text|RemBert|FNet|SeamlessM4T|ErnieM)Tokenizer)(\.from_pretrained)?\("
)
_OF_TORCH = regex(r"(?!TF|Flax|PreTrained)(?:AutoModel\w{0,60}|\w{1,40}For[A-Z]\w{2,40}|\w{1,40}(?:LMHead)?Model)")
_FRAMEWORKS = frozenset(
    {"torch", "tensorflow", "tensorflow-gpu", "tensorflow-cpu", "jax", "flax", "paddlepaddle", "onnxruntime", "optimum"}
)
MAX_MADE = 100
_NO_WEIGHTS = regex(r"onfig|okeniz|rocessor|xtractor")
_TABLE = regex(r"device_map\s?=\s?\{")  # a table's text is not known, and neither is that of `None`
_LOADERS = ("from_pretrained", "pipeline")
_BRINGING = frozenset({"accelerate", "peft", "trl", "ms-swift", "llamafactory", "axolotl", "unsloth", "unsloth-zoo", "openrlhf", "verl",
                       "autotrain-advanced"})  # fmt: skip
_EXTRAS = frozenset({"torch", "accelerate", "deepspeed", "all", "train"})
_BITS = frozenset({"load_in_8bit", "load_in_4bit"})
_OPTIMIZERS = regex(r"8bit|paged_|bnb")
_OPTIMIZER_KEYS = ("optim", "--optim")
_FIRST = "4.30"
"""The first transformers whose trainer is made of it."""


def silent_packages(
    checkout: Checkout, run: Run | None, requirements: Collection[str], own: Collection[str], *, has_list: bool
) -> list[Finding]:
    """Return what the run needs of these and nothing that is installed brings.

    ``requirements`` are those found so far, as pip takes them, ``own`` the names of the checkout's own packages.
    """
    names = {*(package_name(text) for text in requirements), *own}
    if not names & _LIBRARIES or _LIBRARIES & set(own):
        return []
    if run is None or run.script is None:
        return _shown_pipelines(checkout, run, names)
    found: list[Finding | None] = []
    if not _FRAMEWORKS & names:
        found.append(_first(checkout, run, "torch", _tensors))
    if not _BRINGING & names and not any(_brings(text) for text in requirements):
        is_old = any(_is_old(text) for text in requirements)
        uses = _offloads if is_old else _accelerated
        asked = _first(checkout, run, "accelerate", uses)
        # Of scripts without a list each is as good as the first, and whoever starts another finds what it needs.
        found.append(asked if asked is not None or has_list else _beside(checkout, run.script, "accelerate", uses))
    if "bitsandbytes" not in names:
        found.append(_quantized(checkout, run))
    if "flash-attn" not in names:
        found.append(_first(checkout, run, "flash-attn", _flashes))
    if "deepspeed" not in names and _divides_by_deepspeed(checkout):
        found.append(_first(checkout, run, "deepspeed", _leaves_to_deepspeed, is_asked=True))
    if "transformers" not in names:
        found.append(_first(checkout, run, "transformers", _pipelines))
    if "sentencepiece" not in names and not any(_brings(text, "sentencepiece") for text in requirements):
        found.append(_first(checkout, run, "sentencepiece", _pieces))
    if "optuna" not in names:
        found.append(_first(checkout, run, "optuna", _searches))
    return [item for item in found if item is not None]


def _shown_pipelines(checkout: Checkout, run: Run | None, names: Collection[str]) -> list[Finding]:
    """Return that programs which nobody starts import a pipeline, where nothing else is started."""
    programs = checkout.of(Form.PYTHON) if run is None and "transformers" not in names else ()
    uses = ((name, Evidence(source.path, line)) for source in programs for name, line in _pipelines(source))
    first = next(uses, None)
    return [_needed("transformers", *first)] if first is not None else []


Uses = Callable[[Source], Iterator[tuple[str, int]]]


def _first(checkout: Checkout, run: Run, package: str, uses: Uses, *, is_asked: bool = False) -> Finding | None:
    """Return the first use, where no option that is off stands above it; with ``is_asked``, what such an option asks for too."""
    for source in import_closure(checkout, run.script) if run.script is not None else ():
        found = list(uses(source)) if source.code is not None else []
        dead = dead_lines(source, values_of(checkout, run)) if found and not is_asked else ()
        for name, line in found:
            if not any(line in block for block in dead):
                return _needed(package, name, Evidence(source.path, line))
    return None


def _beside(checkout: Checkout, script: Source, package: str, uses: Uses) -> Finding | None:
    """Return the first use by a program beside the one that is started."""
    programs = checkout.of(Form.PYTHON) if script.form is Form.PYTHON else ()
    found = ((*use, source) for source in programs if source.folder == script.folder for use in uses(source))
    first = next(found, None)
    return _needed(package, first[0], Evidence(first[2].path, first[1])) if first is not None else None


def _needed(package: str, name: str, where: Evidence) -> Finding:
    return Finding(
        "dependencies.requirements", package, f"`{name}` needs it and no list names it", Confidence.HIGH, where
    )


def _searches(source: Source) -> Iterator[tuple[str, int]]:
    """Yield where a trainer searches its hyperparameters, which Optuna does unless another is named."""
    for call in _calls(source, "hyperparameter_search(", "hyperparameter_search"):
        backend = call.keyword("backend")
        if call.name.count(".") and (backend is None or backend.text == "optuna"):
            yield "hyperparameter_search", call.line


def _quantized(checkout: Checkout, run: Run) -> Finding | None:
    """Return that the command names an optimizer, or a loader bits, that bitsandbytes brings."""
    optimizer = next((run.options[key] for key in _OPTIMIZER_KEYS if key in run.options), "")
    if _OPTIMIZERS.search(optimizer):
        return _needed("bitsandbytes", optimizer, run.evidence)
    return _first(checkout, run, "bitsandbytes", _in_bits)


def _in_bits(source: Source) -> Iterator[tuple[str, int]]:
    for call in _calls(source, "load_in_", *_LOADERS, "BitsAndBytesConfig"):
        if name := _bits(call):
            yield name, call.line


def _bits(call: Call) -> str:
    return next((key for key, value in call.keywords if key in _BITS and value.text == "True"), "")


def _flashes(source: Source) -> Iterator[tuple[str, int]]:
    """Yield where weights are loaded to compute their attention by FlashAttention, without which that load ends."""
    for call in _calls(source, "flash_attention_2", "from_pretrained", "from_config"):
        said = call.keyword("attn_implementation")
        switch = call.keyword("use_flash_attention_2")
        if (said is not None and said.text == "flash_attention_2") or (switch is not None and switch.text == "True"):
            yield "flash_attention_2", call.line


def _divides_by_deepspeed(checkout: Checkout) -> bool:
    """Whether a configuration of DeepSpeed lies here."""
    return any(source.mentions('"zero_optimization"') for source in checkout.of(Form.JSON))


def _leaves_to_deepspeed(source: Source) -> Iterator[tuple[str, int]]:
    """Yield where accelerate's stand-in for an optimizer is made, which only DeepSpeed fills."""
    for call in _calls(source, "DummyOptim", "DummyOptim"):
        yield "DummyOptim", call.line


def _calls(source: Source, word: str, *names: str) -> Sequence[Call]:
    """Return calls of these names; no tree is built where the word stands nowhere."""
    return source.code.calls_named(*names) if source.code is not None and source.mentions(word) else ()


def _accelerated(source: Source) -> Iterator[tuple[str, int]]:
    """Yield what does not start without accelerate, with its line."""
    yield from _offloads(source)
    if source.code is None or not source.mentions("transformers"):
        return
    for item in source.code.imports if source.mentions("Train") else ():
        taken = _TRAINERS & set(item.names) if item.module.split(".")[0] == "transformers" else frozenset[str]()
        if taken and not item.is_optional:
            yield min(taken), item.line
    if source.mentions("Train") and "transformers" in source.code.imported():
        yield from _said(source, _DOTTED)
    for call in _calls(source, "device_map", *_LOADERS):
        placed = call.keyword("device_map")
        is_given = placed is not None and (placed.text or placed.is_open or _TABLE.search(source.text))
        if is_given and not _NO_WEIGHTS.search(call.name):
            yield "device_map", call.line


def _offloads(source: Source) -> Iterator[tuple[str, int]]:
    for call in _calls(source, "_cpu_offload", *_OFFLOADS):
        yield call.last, call.line


def _pipelines(source: Source) -> Iterator[tuple[str, int]]:
    """Yield pipelines of diffusers that are imported or loaded: the encoders of their prompts are transformers'."""
    if source.code is None or "diffusers" not in source.code.imported():
        return
    for item in source.code.imports if source.mentions("Pipeline") else ():
        taken = sorted(name for name in item.names if name.endswith("Pipeline") and name != "DiffusionPipeline")
        prompted = [name for name in taken if not _UNPROMPTED.search(name)]
        if prompted and item.module.split(".")[0] == "diffusers":
            yield prompted[0], item.line
    for call in _calls(source, "Pipeline", "from_pretrained", "from_single_file"):
        owner = call.name.rpartition(".")[0].rpartition(".")[2]
        if owner.endswith("Pipeline") and not _UNPROMPTED.search(owner):
            yield owner, call.line


def _pieces(source: Source) -> Iterator[tuple[str, int]]:
    if source.mentions("Tokenizer"):
        imports = source.code.imports if source.code is not None else ()
        others = {name for item in imports if item.module.split(".")[0] != "transformers" for name in item.names}
        for said in itertools.islice(_OF_PIECES.finditer(source.text), MAX_MADE):
            before = source.text[max(0, said.start() - 200) : said.start()].rpartition("\n")[2].lstrip()
            is_another = said[2] is None and said[1] in others  # one's own of that name
            if not (is_another or before.startswith(("#", "class "))) and source.code is not None:
                yield said[1], source.code.line_of_file(source.text.count("\n", 0, said.start()) + 1)
                return


def _tensors(source: Source) -> Iterator[tuple[str, int]]:
    """Yield transformers' models that are loaded: those of plain names are PyTorch's, which nobody has to import for it."""
    for item in source.code.imports if source.code is not None and source.mentions("transformers") else ():
        taken = sorted(name for name in item.names if _OF_TORCH.fullmatch(name))
        if taken and item.module.split(".")[0] == "transformers" and not item.is_optional:
            yield taken[0], item.line


def _said(source: Source, words: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """Yield the first place in a program's text, with its line."""
    said = words.search(source.text)
    if said is not None and source.code is not None:
        yield said[1], source.code.line_of_file(source.text.count("\n", 0, said.start()) + 1)


def _brings(requirement: str, *extras: str) -> bool:
    """Whether a requirement's extras bring the package: those that have accelerate, where none is named."""
    read = (
        read_requirement(requirement)
        if package_name(requirement) in {"transformers", "sentence-transformers"}
        else None
    )
    return read is not None and bool((frozenset(extras) or _EXTRAS) & read.extras)


def _is_old(requirement: str) -> bool:
    """Whether a requirement is of transformers below the first that asks for accelerate."""
    read = read_requirement(requirement) if package_name(requirement) == "transformers" else None
    return read is not None and any(_ends_before(each) for each in read.specifier)


def _ends_before(bound: Specifier) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        version = Version(bound.version.removesuffix(".*"))
    except InvalidVersion:
        return False
    is_end = bound.operator in {"==", "===", "<", "<="} or (bound.operator == "~=" and len(version.release) > 2)
    return is_end and (version < Version(_FIRST) or (version == Version(_FIRST) and bound.operator == "<"))
