"""Files of shell variables as settings (``config.env``: ``export TRAIN_BATCH_SIZE=2``), for trainers that are configured by nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.command_lines.container_words import is_secret
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.analysis.formats.paths import sets_variables
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

MAX_LINES, MAX_LINE = 400, 1000
_SET = regex(
    r"[ \t]{0,8}(?:export[ \t]{1,8})?([A-Za-z_]\w{0,60})=(?:\"([^\"$`]{0,300})\"|'([^']{0,300})'|([^\s\"'$`;#]{0,300}))[ \t]*(?:[;#].*)?$"
)
# What SimpleTuner calls the option that a variable gives, where that has another name (its `env_file.py`).
_OPTIONS = {
    "model_name": "pretrained_model_name_or_path",
    "dataloader_config": "data_backend_config",
    "use_gradient_checkpointing": "gradient_checkpointing",
    "training_num_processes": "num_processes",
    "max_num_steps": "max_train_steps",
    "num_epochs": "num_train_epochs",
}
_THEIRS = "TRAIN_BATCH_SIZE="
# `TRAINER_EXTRA_ARGS="--lora_rank=32"` is handed on as it is.
_HANDED_ON = regex(r"--([A-Za-z][\w-]{0,60})[= ]([^\s=-][^\s]{0,200})")


def variable_settings(source: Source) -> Iterator[Setting]:
    """Yield what a file of variables sets, each under its name in small letters; what opens something is left out."""
    if not sets_variables(source.path):
        return
    options = _OPTIONS if source.mentions(_THEIRS) else {}
    for number, line in enumerate(source.text.split("\n")[:MAX_LINES], 1):
        found = _SET.match(line[:MAX_LINE])
        if found is None:
            continue
        value = found[2] or found[3] or found[4] or ""
        if value and not is_secret(found[1], value):
            key = fold_key(found[1])
            key = options.get(key, key)
            where = Evidence(source.path, number)
            yield Setting(key, key, value, where)
            if key.endswith("_args"):
                words = ((fold_key(name), word) for name, word in _HANDED_ON.findall(value))
                yield from (Setting(name, name, word, where) for name, word in words if not is_secret(name, word))
