"""Batches of texts that are counted in tokens: fairseq's `max_tokens`, OpenNMT's `batch_type: tokens`, an option that says so in its help.

As many sentences are put together as have so many tokens. Taken for a number of samples such a batch would be a hundred times too large.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import Found, Scope, as_number, look_up, look_up_number
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

FIELD = "training.card_tokens"
LEAST, MOST = 64, 65_536  # a long sentence; more than that are a step's, of all cards, or a sound's numbers
MAX_PROGRAMS = 20
_BATCH = ("per_device_train_batch_size", "per_gpu_train_batch_size", "micro_batch_size", "train_batch_size", "batch_size", "batch", "bs")  # fmt: skip
_COUNTED = ("max_tokens_per_batch", "max_tokens_in_batch", "max_batch_tokens", "batch_max_tokens", "tokens_per_batch", "batch_tokens")  # fmt: skip
_TYPES = ("batch_type", "batching_type", "batch_method")
_SWITCHES = ("in_tokens", "batch_in_tokens", "batch_by_tokens", "use_token_batch")  # PaddlePaddle's ERNIE and its heirs
_FAIRSEQ = regex(r"^fairseq[-_](?:hydra[-_])?train\b|(?:^|/)fairseq_cli/(?:hydra_)?train\.py$")
_OPTION = regex(
    r"add_(?:argument|option)\(\s{0,40}(?:[\"']-\w[\"'],\s{0,40})?[\"']-{1,2}(\w[\w-]{0,40})[\"']([^()]{0,300})"
)
_NAMED = regex(r"(?:train_?)?batch_?size|max_?tokens", re.IGNORECASE)
# "target number of tokens in a batch", "batch size in tokens", "maximum number of tokens in a batch"
_HELP = regex(
    r"(?:number of|max(?:imum)?) tokens (?:in|per|of) (?:a |an |each |the |one )?[\w/-]{0,12} ?(?:mini-?)?batch"
    r"|batch ?size[^\n]{0,30} (?:in|of) tokens|tokens per (?:mini-?)?batch",
    re.IGNORECASE,
)
_REMARK = regex(
    r"batch_?size[\"']?\s*[:=][^#\n]{1,40}#[^\n]{0,60}(?:\b(?:in|of) tokens\b|\btokens per batch|#\s*tokens\b)",
    re.IGNORECASE,
)


def detect(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return the tokens that a card holds at a time, where that is how the run's batches are counted."""
    if (counted := look_up_number(scope, _COUNTED, LEAST, MOST)) is not None and _is_runs(counted):
        return _finding(counted, f"`{counted.setting.key}` is {counted.text}")
    most = look_up_number(scope, ("max_tokens",), LEAST, MOST)
    if most is not None and _is_runs(most) and (_is_fairseqs(run) or _says(checkout, run, "max_tokens")):
        return _finding(most, f"`max_tokens` is {most.text}, of a batch")
    batch = look_up_number(scope, _BATCH, LEAST, MOST)
    if batch is None or not _is_runs(batch):
        return None
    why = _in_tokens(checkout, run, scope, batch)
    return _finding(batch, f"`{batch.setting.key}` is {batch.text}: {why}") if why else None


def _finding(found: Found, why: str) -> Finding:
    return Finding(FIELD, str(as_number(found.text)), why, found.confidence, found.evidence)


def _is_runs(found: Found) -> bool:
    """Whether the run itself says it: modules that it imports know batches of other things as well."""
    return found.confidence is Confidence.HIGH


def _is_fairseqs(run: Run) -> bool:
    return run.command is not None and _FAIRSEQ.search(run.command.target) is not None


def _in_tokens(checkout: Checkout, run: Run, scope: Scope, batch: Found) -> str:
    """Return what says that a batch is counted in tokens; "" where nothing does."""
    switch = look_up(scope, _SWITCHES)
    if switch is not None and switch.text.strip("\"' ").lower() in {"true", "1", "yes"}:
        return f"`{switch.setting.key}` is on"
    kind = look_up(scope, _TYPES)
    if kind is not None and kind.text.strip("\"'").lower() in {"token", "tokens"}:
        return f"`{kind.setting.key}` is {kind.text}"
    if _says(checkout, run, batch.setting.key):
        return "its help says tokens"
    source = checkout.find(batch.evidence.path)
    line = _line(source.text, batch.evidence) if source is not None else ""
    if _REMARK.search(line):
        return "a remark says tokens"
    return "`batch_size_fn` counts what its samples hold" if _has_counter(checkout, run) else ""


def _line(text: str, where: Evidence) -> str:
    lines = text.split("\n")
    return lines[where.line - 1] if where.line and where.line <= len(lines) else ""


def _says(checkout: Checkout, run: Run, key: str) -> bool:
    """Whether the help of the program's option of this name speaks of the tokens of a batch."""
    for source in import_closure(checkout, run.script)[:MAX_PROGRAMS] if run.script is not None else ():
        if key in _told(source):
            return True
    return False


@remembered
def _told(source: Source) -> frozenset[str]:
    """Return the options of a program whose help says that they are counted in tokens."""
    text = source.text
    if "tokens" not in text or "add_" not in text:
        return frozenset()
    named = (option for option in _OPTION.finditer(text) if _NAMED.search(option[1]))
    return frozenset(option[1].replace("-", "_").lower() for option in named if _HELP.search(option[2]))


def _has_counter(checkout: Checkout, run: Run) -> bool:
    """Whether the program's batches end where a function says (torchtext's ``batch_size_fn``), not at a number of samples."""
    for source in import_closure(checkout, run.script)[:MAX_PROGRAMS] if run.script is not None else ():
        if "batch_size_fn" not in source.text or source.code is None:
            continue
        if any(call.last == "batch_size_fn" or call.keyword("batch_size_fn") is not None for call in source.code.calls):
            return True
    return False
