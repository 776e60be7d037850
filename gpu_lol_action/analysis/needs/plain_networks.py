"""Networks of dense and recurrent layers on numbers (tables, series, the state of a world), of which nothing says that they need a card.

TensorFlow and JAX take a card that is there without being told, so that no word of a program says that it needs none; Stable-Baselines3
chooses one itself, and advises against it for such policies. Where all that is learned is of that kind, no program names a card and the
README is silent, the machine at hand is meant. Pictures, sounds, texts and weights that somebody published take more, and are told by
their words. Ludwig builds its networks after a table's columns, so that these tell it.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.documents.silent_readme import silent_readme, speaks_of_a_card
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.needs.device_use import line_of
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.import_graph import is_imported
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure, is_started
from gpu_lol_action.domain.patterns import regex

_AGENTS = frozenset({"stable_baselines3", "sb3_contrib"})
_UNTOLD = _AGENTS | {"tensorflow", "keras", "tf_keras", "tensorflow_probability", "jax", "flax", "optax", "haiku", "equinox"}  # fmt: skip
"""Libraries that take a card which is there by themselves."""
_TOLD = frozenset({"torch"})
"""It stays on the CPU until a program says a device's name."""
# As programs write it, not as a remark may mention it; of texts in small letters, and each beginning with its word, which is looked for fast.
_NAMES = ("cuda", "accelerator", "/device:")
_GPU = regex(r"gpu(?:(?<=[\"'/_.-]gpu)s?(?![a-z])|(?<![a-z]gpu)s?(?:_|\s{0,4}=))")
_TPU = regex(r"tpu(?<!\wtpu)")
_MOVES = regex(r"\.to\(|device", re.IGNORECASE)
# Layers and data of what is more than numbers, and weights from elsewhere.
_MORE = regex(
    r"conv(?:olution)?(?:\dd|net)|\bconv\(|cnn|attention|transformer|bert\b|gpt|resnet|vgg|inception|u-?net\b|embedding|vocab|"
    r"mnist|cifar|imagenet|spectrogram|\bimages\b|atari|noframeskip|from_pretrained|hub\.(?:load|module|keraslayer)|diffusion|discriminator|"
    r"(?<![a-z])r?gnns?(?![a-z])|graph_?(?:conv|neural|net)|message_?passing",
    re.IGNORECASE,
)
# What a docstring or a remark compares the network with is not in it.
_REMARK = regex(r"^[ \t]{0,40}#[^\n]{0,200}$", re.MULTILINE)
_QUOTED = '"""'
# Ludwig's kinds of columns that take a network of more than dense layers, and what it tunes instead of a network of its own.
_RICH = regex(r"\btype[\"']?\s{0,4}:\s{0,4}[\"']?(?:text|image|audio|sequence|llm)\b|\bbase_model\b|\bgpus?\s{0,4}[:=]")
_COLUMNS = regex(r"\btype[\"']?\s{0,4}:\s{0,4}[\"']?(?:number|numerical|category|binary|date|timeseries|vector|set)\b")
_OF_NUMBERS = regex(r"\bMlpPolicy\b")
_LOOKS = regex(r"CnnPolicy|MultiInputPolicy|CnnLstmPolicy|NoFrameskip|features_extractor_class|conv\dd|from_pretrained", re.IGNORECASE)  # fmt: skip


def learns_from_numbers(checkout: Checkout, run: Run | None) -> bool:
    """Whether a run trains such a network alone, nothing that it reaches names a card, and the README at the root is silent."""
    if run is None or run.behavior is not Behavior.TRAINS:
        return False
    if _is_of_columns(checkout, run):
        return True
    if run.script is None:
        return False
    if run.command is not None and (run.command.is_tool or run.command.is_launcher):
        return False
    # A part of a library is put to work by programs that are not here: what they do decides, and the library is made for cards.
    if run.command is None and not is_started(checkout, run.script) and is_imported(checkout, run.script):
        return False
    if silent_readme(checkout) is None or _is_built_for_cuda(checkout):
        return False
    closure = (run.script, *import_closure(checkout, run.script))
    used = frozenset().union(*(source.code.imported() for source in closure if source.code is not None)) & GPU_MODULES
    if not used & _UNTOLD or used - _UNTOLD - _TOLD:
        return False
    # What agents see of their world is said by the policy, whatever else the world draws.
    are_agents = bool(used & _AGENTS) and any(_OF_NUMBERS.search(source.text) for source in closure)
    if any((_LOOKS if are_agents else _MORE).search(_without_remarks(source.text)) for source in closure):
        return False
    programs = closure if are_agents else checkout.of(Form.PYTHON, Form.NOTEBOOK)
    if used & _TOLD and any(_MOVES.search(source.text) for source in programs):
        return False
    return not any(map(names_a_card, programs))


@remembered
def names_a_card(source: Source) -> bool:
    """Whether a program names a card or another accelerator, as programs write it."""
    text = source.text.lower()
    if any(name in text for name in _NAMES):
        return True
    return ("gpu" in text and _GPU.search(text) is not None) or ("tpu" in text and _TPU.search(text) is not None)


def _without_remarks(text: str) -> str:
    """Return a program without its docstrings and the lines that are remarks; whole where it is not clear where these end."""
    parts = text.split(_QUOTED)
    return _REMARK.sub("", "".join(parts[::2]) if len(parts) % 2 else text)


def _is_of_columns(checkout: Checkout, run: Run) -> bool:
    """Whether Ludwig learns from a table's columns alone: no configuration has pictures, sounds, texts or a language model in it."""
    code = run.script.code if run.script is not None else None
    is_tool = run.command is not None and run.command.tool == "ludwig"
    if not is_tool and (code is None or code.imported() & GPU_MODULES != {"ludwig"}):
        return False
    told = checkout.of(Form.PYTHON, Form.NOTEBOOK, Form.YAML, Form.JSON, Form.MARKDOWN, Form.SHELL)
    if not any(_COLUMNS.search(source.text) for source in told):
        return False  # its configuration is not here
    return not any(
        _RICH.search(source.text) or (source.form is Form.MARKDOWN and speaks_of_a_card(source.text)) for source in told
    )


def _is_built_for_cuda(checkout: Checkout) -> bool:
    """Whether a list asks for a build for CUDA (``jax[cuda12]``, ``jaxlib=0.4.14=*cuda*``)."""
    return any("cuda" in line_of(checkout, item) for item in declared_packages(checkout))


def is_listed_for_a_card(checkout: Checkout) -> bool:
    """Whether a list that everybody installs asks for a build for cards, by TensorFlow's older name of it as well."""
    hard = (item for item in declared_packages(checkout) if not (item.is_optional or item.group))
    lines = (line_of(checkout, item) for item in hard)
    return any("cuda" in line or "tensorflow-gpu" in line for line in lines)
