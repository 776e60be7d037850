"""torchtune's own recipes, which a command names and no checkout holds: ``tune run lora_finetune_distributed --config llama3_1/70B_lora``.

What such a file says of the memory lies in ``data/torchtune_recipes.csv``; what the command gives beside its name goes before that.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.tables import table_rows

TOOL = "tune"
_NAME = regex(r"(\w{2,30}/[\w.]{1,20}?)_\w{1,80}")
_WAY = regex(r"_(q?lora|q?dora|full)(?=_|$)")
# By column: torchtune's own key for it, as in its files.
_KEYS = (
    ("batch", "batch_size"),
    ("lora_rank", "model.lora_rank"),
    ("optimizer", "optimizer._component_"),
    ("checkpointing", "enable_activation_checkpointing"),
    ("in_backward", "optimizer_in_bwd"),
    ("length", "tokenizer.max_seq_len"),
)
# A command that gives this tunes another model by the same recipe; a folder is where its reader keeps the recipe's.
_OF_THE_MODEL = frozenset({"model._component_"})
_SWITCHES = {"on": "true", "off": "false"}


def recipe_of(run: Run) -> Mapping[str, str] | None:
    """Return the row of the recipe that the run's command names; None where it names none, or a file of the checkout."""
    command = run.command
    if command is None or command.tool != TOOL or run.configs:
        return None
    named = run.options.get("config", "").removesuffix(".yaml")
    return _recipes().get(named) or _nearest(named)


def _nearest(named: str) -> Mapping[str, str] | None:
    """Return the recipe for the same model in the same way under another name, as other releases have it, for as many cards where there is one; else None."""
    found = _NAME.fullmatch(named)
    if found is None:
        return None
    alike = [row for name, row in _recipes().items() if name.startswith(f"{found[1]}_") and _way(name) == _way(named)]
    return max(alike, key=lambda row: _is_of_one_card(row["recipe"]) is _is_of_one_card(named), default=None)


def _is_of_one_card(name: str) -> bool:
    return "_single_device" in name or "_low_memory" in name


def _way(name: str) -> tuple[str, bool]:
    found = _WAY.search(name)
    return (found[1] if found is not None else ""), "dpo" in name


def divides_by_recipe(run: Run) -> bool:
    """Whether torchtune's program for several cards is started: it divides all that it can among them."""
    command = run.command
    return command is not None and command.tool == TOOL and command.target.endswith("_distributed")


def recipe_settings(run: Run) -> tuple[Setting, ...]:
    """Return what the recipe says, as settings under torchtune's own keys, at the place of the command."""
    row = recipe_of(run)
    if row is None:
        return ()
    told = {key: _SWITCHES.get(row[column], row[column]) for column, key in _KEYS if row[column]}
    told |= {"dtype": "bf16", "loss._component_": "torchtune.modules.loss.LinearCrossEntropyLoss"}
    return tuple(Setting(key.rpartition(".")[2], key, text, run.evidence) for key, text in told.items())


def recipe_model(run: Run) -> Finding | None:
    """Return the model that the recipe tunes."""
    row = recipe_of(run)
    if row is None or not _OF_THE_MODEL.isdisjoint(run.options):
        return None
    why = f"torchtune's `{row['recipe']}` tunes it"
    return Finding("model.id", row["model"], why, Confidence.HIGH, run.evidence)


@functools.lru_cache(maxsize=1)
def _recipes() -> Mapping[str, Mapping[str, str]]:
    return MappingProxyType({row["recipe"]: row for row in table_rows("torchtune_recipes.csv")})
