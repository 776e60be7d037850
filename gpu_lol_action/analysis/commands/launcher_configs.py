"""Configuration files made for a launcher (``accelerate``, DeepSpeed): what a program is prepared for where no command is told."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex

MAX_FILES = 300
_OF_ACCELERATE = frozenset({"compute_environment", "distributed_type", "machine_rank", "main_training_function"})
# The usual choice where several are offered: the one that holds the largest models.
_LARGEST = regex(r"zero[_-]?3|stage[_-]?3|ds3", re.IGNORECASE)
_VARIANT = regex(r"offload|multi_?node|cpu|tpu|debug|single", re.IGNORECASE)


@remembered
def accelerate_configs(checkout: Checkout) -> tuple[Source, ...]:
    """Return the files that ``accelerate`` is configured by and that count processes, the one for the largest models first."""
    found = []
    for source in checkout.of(Form.YAML)[:MAX_FILES]:
        if "num_processes" not in source.text:
            continue
        keys = {setting.key for setting in read_settings(source)}
        if "num_processes" in keys and len(keys & _OF_ACCELERATE) >= 2:
            found.append(source)
    return tuple(sorted(found, key=_order))


def family_of(checkout: Checkout, name: str, word: str) -> Source | None:
    """Return one of the files that a name with variables may mean (``recipes/$MODEL/config.yaml``); None where none does.

    One whose path names ``word`` (the program that reads it) comes first, then the one for the largest models, then the shortest.
    """
    ending = regex(r"\\\$(?:\\\{)?\w+(?:\\\})?").sub(r"[\\w.-]+", re.escape(name.removeprefix("./")))
    pattern = re.compile(rf"(?:.*/)?{ending}")
    family = [s for s in checkout.of(Form.YAML, Form.JSON, Form.TOML) if pattern.fullmatch(s.path)]
    return min(family, key=lambda s: (word not in s.path, *_order(s)), default=None)


def _order(source: Source) -> tuple[bool, bool, int, int, str]:
    return (
        _VARIANT.search(source.name) is not None,
        _LARGEST.search(source.name) is None,
        source.depth,
        len(source.path),
        source.path,
    )
