"""Recipes of Kaldi's kind: a run script starts its toolkit's programs behind a scheduler's wrapper, and none of them lies beside it.

``${cuda_cmd} --gpu 8 exp/train.log asr_train.py --config conf/train.yaml`` (ESPnet's first recipes, and whoever copies them), and
``./asr.sh --train_set … --asr_config conf/train.yaml`` (its second: the script is a link to the one of all recipes).
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.commands.machine_requests import MachineRequest
from gpu_lol_action.analysis.formats.told_numbers import as_count
from gpu_lol_action.domain.patterns import regex

_WRAPPER = regex(r"\$\{?(?:cuda|train|decode)_cmd\}?|(?:\S*/)?(?:run|queue|slurm|pbs|ssh)\.pl")
_OF_ESPNET = regex(r"(?:\S*/)?(asr|tts|st|mt|vc)_train\.py")
_OF_LANGUAGE = regex(r"(?:\S*/)?lm_train\.py")
_TASK = regex(r"\./(?:asr|tts|st|mt|enh|enh_asr|diar|svs|s2st|slu|ssl|s2t|spk|codec|asvspoof|lid|uasr|gan_svs)\d?\.sh")
_TASK_OPTIONS = regex(r"--(?:train_set|\w+_config)\Z")
MAX_WORDS_BEFORE = 12


def recipe_command(words: Sequence[str]) -> tuple[MachineRequest, list[str]] | None:
    """Return the GPUs that a recipe's wrapper asks for and the command behind it; None for every other command."""
    if not words:
        return None
    if _TASK.fullmatch(words[0]) and any(_TASK_OPTIONS.match(word) for word in words):
        kind = words[0][2:-3]
        return MachineRequest(), ["python", "-m", f"espnet2.bin.{kind}_train", *words[1:]]
    if not _WRAPPER.fullmatch(words[0]):
        return None
    gpus, place = None, 1
    while place < min(len(words), MAX_WORDS_BEFORE) and words[place].startswith("--"):
        gpus = as_count(words[place + 1]) if words[place] == "--gpu" and place + 1 < len(words) else gpus
        place += 1 if "=" in words[place] else 2
    inner = list(words[place + 1 :])  # behind its log
    if gpus is None or not inner:
        return None
    if _OF_LANGUAGE.fullmatch(inner[0]):
        return MachineRequest(), [
            "true"
        ]  # a model of the language beside the recognizer is a smaller step of the recipe
    if found := _OF_ESPNET.fullmatch(inner[0]):
        return MachineRequest(gpus), ["python", "-m", f"espnet.bin.{found[1]}_train", *inner[1:]]
    return MachineRequest(gpus), inner
