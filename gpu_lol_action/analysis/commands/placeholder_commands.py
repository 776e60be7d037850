"""Commands that start nothing of this checkout: another project's programs, and configurations that readers have to write."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.command_verbs import TRAINING_TARGET
from gpu_lol_action.analysis.commands.hydra_names import hydra_named
from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand
from gpu_lol_action.analysis.commands.plain_scripts import is_plain_script
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.tree import SUBMODULE
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.behavior import top_level_gpu_import
from gpu_lol_action.analysis.programs.outer_packages import outer_packages
from gpu_lol_action.domain.patterns import regex

_CONFIGS = regex(r"(?:^|/)conf(?:ig)?s?/")
_OF_THE_READER = regex(r"(?:^|[/_.<{-])(?:your|my|path[_/-]to|xxx+)(?=[/_.>}-])", re.IGNORECASE)

_OPEN_CONFIG = regex(
    r"<[\w -]{0,40}conf[\w -]{0,40}>|\$\{?(?:CONFIG|CFG)(?:_?(?:FILE|PATH))?\}?|\{config\w{0,20}\}|CONFIG_FILE",
    re.IGNORECASE,
)

# A step beside the work, by the name of its program.
STEP = regex(r"[/_\d](?:convert|merge|export|download|prepare|preprocess|split|extract|plot|visuali[sz]e)(?:[_.]|er\b)", re.IGNORECASE)  # fmt: skip
MAX_STEPS = 40
_LEFT_OUT = "..."
# `dir=$(pwd)`, before a path that leads from there.
_OWN_PLACE = regex(r"^(?:`pwd`|\$\(pwd\)|\$\{?PWD\}?|\.)/")
# Where projects put others' whose folder is empty in a plain clone.
_OF_OTHERS = regex(r"(?:third_?party|3rd_?party|submodules?|externals?|extern)/")


def leaves_configuration_open(command: LaunchCommand) -> bool:
    """Whether a command has its reader put a configuration in (``train.py <CONFIG_FILE>``): the form of those that follow it."""
    return any(_OPEN_CONFIG.fullmatch(word) for word in (*command.words[1:], *command.options.values()))


def is_of_the_reader(name: str) -> bool:
    """Whether a file's name says that its reader has to write or to choose it (``your_config.yml``)."""
    return _OF_THE_READER.search(name) is not None


def is_elsewhere(checkout: Checkout, command: LaunchCommand) -> bool:
    """Whether a command starts a file that is not here, though programs are: a placeholder, or another project's."""
    if not command.target.endswith(".py"):
        return _is_to_be_filled_in(checkout, command)
    if any(checkout.find_named(name) is not None for name in command.configs) or is_fetched(command):
        return False
    if is_of_submodule(checkout, command) or _is_of_the_larger_tree(checkout, command):
        return False
    if hydra_named(checkout, command.options, None):
        return (
            False  # another project's program, told a configuration that is here (`hydra_train.py --config-dir conf`)
        )
    # Configurations written in Python are no programs.
    programs = [s for s in checkout.of(Form.PYTHON) if s.code and s.code.imports and not _CONFIGS.search(s.path)]
    if _LEFT_OUT in command.words:
        return bool(programs)  # `torchrun ... train.py ...` shows the form of any reader's command
    if 0 < len(programs) <= MAX_STEPS and all(_is_step(checkout, s) for s in programs):
        # Where all that is here prepares a training or goes on with its result, the training is the larger tree's.
        # `python3 ${ROOT}/net/train.py` in a script
        is_launched = command.is_launcher or (command.source.form is Form.SHELL and command.target.startswith("$"))
        return not (is_launched and TRAINING_TARGET.search(f"/{command.target}"))
    return bool(programs)


def _is_step(checkout: Checkout, source: Source) -> bool:
    """Whether a program is called by a step beside the work, is only imported, or computes nothing on a card."""
    if STEP.search(f"/{source.name}") or top_level_gpu_import(source) is None:
        return True
    return not (source.code is not None and source.code.has_main) and not is_plain_script(checkout, source)


def _is_of_the_larger_tree(checkout: Checkout, command: LaunchCommand) -> bool:
    """Whether a command starts a training of the tree of which the checkout is a folder.

    Its path leads out of the checkout (``../../tools/train_net.py``), or names a program at the root of a tree from which the
    folder's own modules are imported, too (``python train.py`` beside ``from examples.speech import data``).
    """
    if TRAINING_TARGET.search(command.target) is None:
        return False
    own = [part for part in f"{command.evidence.path.rpartition('/')[0]}/{command.folder}".split("/") if part]
    is_at_root = command.is_documented and not command.folder and "/" not in command.target
    target = _OWN_PLACE.sub("", command.target)
    return target.startswith("../" * (len(own) + 1)) or (is_at_root and bool(outer_packages(checkout)))


def is_of_submodule(checkout: Checkout, command: LaunchCommand) -> bool:
    """Whether a launcher starts a training program of a submodule, which comes with the clone and is not read (``third_party/Megatron-LM/pretrain_gpt.py``)."""
    target = command.target.removeprefix("./")
    if not command.is_launcher or not TRAINING_TARGET.search(target):
        return False
    notes = (note.partition(": ")[2] for note in checkout.notes if note.startswith(SUBMODULE))
    folders = [folder for note in notes for folder in regex(r", | and \d+ more$").split(note) if folder]
    return any(target.startswith(f"{folder}/") for folder in folders) or _OF_OTHERS.match(target) is not None


def is_fetched(command: LaunchCommand) -> bool:
    """Whether a host's task first fetches the project whose program it starts, or a script hands a cluster one that its image holds.

    Likewise a program of this checkout that hands the training to another project's program, under a launcher.
    """
    if command.source.form is Form.PYTHON:
        return command.is_launcher and TRAINING_TARGET.search(command.target) is not None
    if command.source.form is Form.SHELL:
        text = command.source.text
        is_job = ("#SBATCH" in text and command.target.startswith("/")) or "ray job submit" in text
        return is_job and TRAINING_TARGET.search(f"/{command.target}") is not None
    return command.source.form is Form.YAML and "git clone" in command.source.text


def _is_to_be_filled_in(checkout: Checkout, command: LaunchCommand) -> bool:
    """Whether another project's tool is handed a configuration that readers have to write themselves (``your_config.yml``)."""
    named = [name for name in command.configs if checkout.find_named(name) is None]
    return bool(named) and len(named) == len(command.configs) and all(is_of_the_reader(name) for name in named)
