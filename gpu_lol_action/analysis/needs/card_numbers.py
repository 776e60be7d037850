"""A card that is left off by a number or a setting: ``--gpu`` that starts with -1, a configuration's ``use_gpu: False`` or ``num_gpus: 0``.

Chainer's and DGL's programs ask for the number of the card and take a negative one for the CPU; recipes and simulations have a
configuration that says whether a card is used, or how many each worker gets.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.needs.moved_to_card import moved_at
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.option_aliases import by_long_names
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.run_kinds import is_refused
from gpu_lol_action.analysis.runs.settings import scope_of, values_of
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

# Not the plural: Lightning takes all cards by ``--gpus -1``.
_NUMBERS = ("gpu", "gpu_id", "gpuid", "device", "device_id", "cuda")
_SWITCHES = frozenset({"use_gpu", "use_cuda", "num_gpus", "n_gpus", "num_gpu"})
_GIVEN = regex(r"(?<![\w-])--(?:gpu|gpu[_-]ids?|gpuid|cuda)[ =]\d")
# Sections that are about the run as a whole; `reader.use_gpu` is about a part of it.
_WHOLE = frozenset({"", "runner", "run", "train", "trainer", "training", "system", "global", "general", "common", "resources", "hardware", "experiment"})  # fmt: skip
_FORMS = frozenset({Form.YAML, Form.JSON, Form.TOML})
# What a program says of a number below zero, or asks of that of its card.
_MEANS_CPU = regex(
    r"negative|-1\D{0,60}\bcpu\b|\bcpu\b\D{0,60}-1|\b(?:gpu(?:_?id)?|device(?:_id)?|cuda)\s{0,2}(?:[<>]=?\s{0,2}(?:0|-1)\b|[!=]=\s{0,2}-1)",
    re.IGNORECASE,
)
# A program that can be told to leave a card takes one where there is one: PyTorch's `set_device` passes over a number below zero.
_REFUSES = regex(r"[\"']--(?:no|disable)[-_](?:cuda|gpu)[\"']")
# Who asks for the number's sign leaves the card all the same.
_COMPARES = regex(r"\b(?:gpu(?:_?id)?|device(?:_id)?|cuda)\s{0,2}(?:>=\s{0,2}0|>\s{0,2}-1|<\s{0,2}0|[!=]=\s{0,2}-1)\b")
# `h.num_gpus = torch.cuda.device_count()`
_COUNTS = regex(r"\.(?:num_gpus?|n_gpus)\s{0,3}=\s{0,3}(?:torch\.)?cuda\.device_count\(")


def starts_below_zero(checkout: Checkout, run: Run) -> bool:
    """Whether a started program's number of the card is -1 unless told otherwise, which it takes for the CPU, and no command tells."""
    script = run.script
    if script is None or not script.mentions("-1") or not _MEANS_CPU.search(script.text):
        return False
    if _REFUSES.search(script.text) and script.mentions("is_available") and not _COMPARES.search(script.text):
        return False
    values = values_of(checkout, run)
    names = [name for name in _NUMBERS if values.get(name, "").strip("\"'") == "-1" and _is_option(script, name)]
    return bool(names) and not _is_given(checkout, script)


def _is_option(script: Source, name: str) -> bool:
    default = script.code.default(name) if script.code is not None else None
    return default is not None and default.is_option


def _is_given(checkout: Checkout, script: Source) -> bool:
    """Whether a command gives such an option a card: any number, a name, or a variable; under its short name, too."""
    for command in launch_commands(checkout):
        given = by_long_names(checkout, script, command.options)
        if any(fold_key(key) in _NUMBERS and not value.startswith("-") for key, value in given.items()):
            return True
    # A project beside this one may have a command of its own for it (`dglke_train --gpu 0 1 2 3`).
    return any(_GIVEN.search(source.text) for source in checkout.of(Form.SHELL, Form.MARKDOWN) if source.mentions("--"))


def switched_off_in(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where the run's own configuration leaves the card off; None where it does not, or says both."""
    said: list[Setting] = [
        setting
        for _, settings in scope_of(checkout, run).tiers[:2]
        for setting in settings
        if setting.key in _SWITCHES and setting.path.rpartition(".")[0] in _WHOLE
    ]
    is_off = bool(said) and all(is_refused(setting.text) for setting in said)
    # A vocoder's own `num_gpus: 0` says nothing of a program that has its card whatever is written, or counts the cards itself.
    script = run.script
    is_moved = script is not None and (moved_at(script) is not None or _COUNTS.search(script.text) is not None)
    if is_off and not is_moved and _is_written(checkout, said[0]):
        return said[0].evidence
    return _merged_on_cores(checkout, run)


def _merged_on_cores(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where LLaMA-Factory is told to merge adapters into their model on the CPU; quantizing it on the way takes a card."""
    if run.script is not None or run.behavior is not Behavior.INFERS:
        return None
    own = {setting.key: setting for _, settings in scope_of(checkout, run).tiers[:2] for setting in settings}
    device = own.get("export_device")
    is_merged = "export_dir" in own and own.keys().isdisjoint(
        {"export_quantization_bit", "stage", "do_train", "dataset"}
    )
    if device is None or not is_merged or device.text.strip().lower() != "cpu":
        return None
    return device.evidence if _is_written(checkout, device) else None


def _is_written(checkout: Checkout, setting: Setting) -> bool:
    source = checkout.find(setting.evidence.path)
    return source is not None and source.form in _FORMS
