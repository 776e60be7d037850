"""A program of bare PyTorch that is told no device: it computes on the cores, whatever else lies in the checkout.

PyTorch takes no card by itself. A program that never says a device's name, and reaches no code that says one of its own accord, stays on
the cores; what only follows its tensors (``x.to(other.device)``) stays where these are.
"""

from __future__ import annotations

import itertools
import re

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.commands.native_programs import native_need
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.documents.silent_readme import silent_readme
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.gpu_libraries import BROUGHT, GPU_MODULES
from gpu_lol_action.analysis.formats.import_names import is_standard
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.needs.container_cards import container_need
from gpu_lol_action.analysis.programs.behavior import top_level_gpu_import
from gpu_lol_action.analysis.programs.import_graph import MAX_CLOSURE, import_closure, targets_of
from gpu_lol_action.analysis.programs.local_names import is_local
from gpu_lol_action.analysis.python.code import Import
from gpu_lol_action.analysis.runs.entry_points import Run, is_started
from gpu_lol_action.analysis.runs.node_packs import pack_of
from gpu_lol_action.domain.patterns import regex

SHY = frozenset({"torch", "torchvision", "torchaudio"})
"""What leaves a card alone until a program names it."""
_PLAIN = frozenset({"numpy", "pandas", "scipy", "sklearn", "matplotlib", "mpl_toolkits", "seaborn", "plotly", "PIL", "cv2", "skimage", "imageio", "tqdm", "yaml",
                    "IPython", "ipywidgets", "google", "requests", "soundfile", "librosa", "nltk", "einops", "six", "click", "fire", "rich", "networkx",
                    "gym", "gymnasium", "tensorboardX", "graphviz", "torchviz", "torchsummary", "sympy", "h5py", "past", "builtins"})  # fmt: skip
MANY, HARDLY_ANY = 12, 0.075
_DEVICE = regex(r"cuda|device|gpu|accelerat|\.to\(|\bhub\.load|\bdistributed\b", re.IGNORECASE)
# A card by its name, in code that goes its own way.
_NAMED = regex(r"[\"']cuda|\.cuda\b|\bcuda\(|[\"']gpu|set_default_device|\bdevice_count|\baccelerator\b")
# A device that somebody says elsewhere: on the command line, or in a file of settings.
_ASKED = regex(
    r"[\"']--?(?:\w{1,20}[-_])?(?:device|gpu|cuda)|\b(?:args?|opts?|cfg|conf(?:ig)?|hparams|params|settings|options|FLAGS)"
    r"(?:\.\w{1,30}){0,3}(?:\.|\[[\"']|\.get\([\"'])(?:device|gpu|cuda)",
)
# Code that is reached by a name which is only known when the program runs, or in a process of its own.
_STARTS = regex(r"\bimport_module\(|\b__import__\(|(?<![\w.])exec\(|\brunpy\.|\bsubprocess\.|\bos\.system\(")
# What a program says that wants a card where there is one, be it the only program of many that does.
_WANTS = regex(r"\bcuda\b|\bdevice_map\b|\bAutoModelForCausalLM\b|\bload_in_[48]bit\b")
_FOR_CARDS = frozenset({"peft", "trl", "deepspeed", "bitsandbytes", "unsloth", "vllm", "sglang", "diffusers", "accelerate", "flash_attn", "xformers",
                        "axolotl", "llamafactory", "megatron", "colossalai", "torchtune", "auto_gptq", "awq", "exllamav2", "lmdeploy"})  # fmt: skip


def is_told_no_device(checkout: Checkout, run: Run) -> bool:
    """Whether what is started computes with bare PyTorch, says no device, and reaches no code that names a card."""
    script = run.script
    if script is None or script.code is None or is_shown(script) or _DEVICE.search(script.text):
        return False
    # What a module is handed, and what a host on a card loads, may lie there already; so may what another command launches.
    if run.configs or pack_of(checkout) is not None or (run.command is None and not is_started(checkout, script)):
        return False
    if any(command.is_tool or command.is_launcher for command in launch_commands(checkout)):
        return False
    reached = {script, *import_closure(checkout, script)}
    if len(reached) >= MAX_CLOSURE:
        return False  # more than was followed
    used = frozenset().union(*map(_modules, reached))
    if "torch" not in used or not used <= SHY:
        return False
    if any(words.search(source.text) for source in reached for words in (_NAMED, _ASKED, _STARTS)):
        return False
    return all(_is_known(checkout, source, item) for source in reached if source.code for item in source.code.imports)


def _is_known(checkout: Checkout, source: Source, item: Import) -> bool:
    """Whether a module is here to be read, or is known to put nothing on a card; a stranger's may put all there that it is handed."""
    top = item.module.partition(".")[0]
    if item.module in BROUGHT:
        return False
    if top in SHY | _PLAIN or is_standard(item.module):
        return True
    # A package of the checkout may lack the very module: git was told to leave out what is called `models`. What is only tried
    # is not there, and something else does its work.
    is_own = not top or is_local(checkout, source, item.module)
    return is_own and (item.is_optional or bool(targets_of(checkout, source, item)))


def wants_a_card(source: Source) -> bool:
    """Whether a program puts its work on a card, at least where there is one, or loads what no cores compute in time."""
    is_for_cards = source.code is not None and not _FOR_CARDS.isdisjoint(source.code.imported())
    return is_for_cards or _WANTS.search(source.text) is not None


def is_untold_among_many(checkout: Checkout, run: Run | None) -> bool:
    """Whether of many programs hardly one imports a library for a card, and no document tells of that one or of a card.

    So it is in collections and chains of small programs: the lists name for all what one of them takes.
    """
    if run is not None and (run.command is not None or run.script is None or is_shown(run.script)):
        return False
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    if len(programs) < MANY or silent_readme(checkout) is None or pack_of(checkout) is not None:
        return False
    most = HARDLY_ANY * len(programs)
    found = list(itertools.islice(filter(top_level_gpu_import, programs), int(most) + 1))
    if len(found) > most or any(map(wants_a_card, found)):
        return False
    is_computed_by_others = any(command.is_tool or command.is_launcher for command in launch_commands(checkout))
    return not is_computed_by_others and native_need(checkout) is None and container_need(checkout) is None


def _modules(source: Source) -> frozenset[str]:
    return frozenset(source.code.imported() & GPU_MODULES) if source.code is not None else frozenset()
