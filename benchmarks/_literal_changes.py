"""Changes of one literal whose direction is known, at the line that an answer names: what `one_literal.py` writes into copies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Edit = Callable[[str], str | None]
"""A line to the line as it is written then; None where it is not clear which of its words is meant."""
UP, DOWN, COUNT, PROMISED, SILENT = "more", "less", "count", "as promised", "nothing"
OTHER_MODEL, SMALLER_B = "meta-llama/Llama-2-70b-hf", 35


@dataclass(frozen=True)
class Literal:
    """One change: its kind, where, what becomes of the line, and what has to be said of it. ``detail`` is a promise that was made."""

    kind: str
    path: str
    line: int
    edit: Edit
    expected: str
    detail: Mapping[str, Any] | None = None


def times(value: str, factor: float) -> Edit:
    """Return the edit that multiplies a whole number which stands on its line once."""

    def edit(line: str) -> str | None:
        found = list(re.finditer(rf"(?<![\w.]){re.escape(value)}(?![\w.])", line))
        if len(found) != 1 or not value.isdigit():
            return None
        return line[: found[0].start()] + str(max(1, int(int(value) * factor))) + line[found[0].end() :]

    return edit


def word(*pairs: tuple[str, str]) -> Edit:
    """Return the edit that replaces the first pattern which stands on the line once."""

    def edit(line: str) -> str | None:
        code = line.split("#", maxsplit=1)[0]
        for pattern, new in pairs:
            if len(re.findall(pattern, code)) == 1:
                return re.sub(pattern, new, code) + line[len(code) :]
        return None

    return edit


OFF = ((r"\bTrue\b", "False"), (r"\btrue\b", "false"))
_NUMBERS = {
    "training.batch_size": 4,
    "training.sequence_length": 2,
    "training.lora_rank": 16,
    "media.image_size": 2,
    "media.frames": 2,
    "model.hidden_size": 2,
    "model.layers": 4,
    "model.vocabulary": 8,
}
_WORDS: Mapping[str, tuple[Edit, str, frozenset[str]]] = {
    "training.gradient_checkpointing": (word(*OFF, (r"--gradient_checkpointing\b(?! *[TtFf])", "")), UP, frozenset({"on"})),
    "training.precision": (
        word((r"\bbfloat16\b", "float32"), (r"\bfloat16\b", "float32"), *OFF, (r"(?<=[ =\"'])(?:bf16|fp16)\b(?! ?=)", "no")),
        UP,
        frozenset({"bf16", "fp16"}),
    ),
    "training.optimizer": (
        word((r"\badamw_torch(?:_fused)?\b", "sgd"), (r"\boptim\.Adam(?:W)?\(", "optim.SGD(")),
        DOWN,
        frozenset({"adamw", "adamw_torch", "adamw_torch_fused", "adam"}),
    ),
}  # fmt: skip


def changes_of(answer: Mapping[str, Any]) -> Iterator[Literal]:
    """Yield one change for each field whose surest finding names a line, and those that the answer itself proposes.

    Of a run whose memory was not computed nothing is known that a literal would move.
    """
    if answer["breakdown"] is None:
        return
    seen: set[str] = set()
    for finding in answer["findings"]:
        field, value, path, line = (finding[key] for key in ("field", "value", "path", "line"))
        if not path or not line or field in seen:
            continue
        if field in _NUMBERS:
            seen.add(field)
            yield Literal(field, path, line, times(value, _NUMBERS[field]), UP)
        elif field in _WORDS and value in _WORDS[field][2]:
            seen.add(field)
            edit, expected, _ = _WORDS[field]
            yield Literal(field, path, line, edit, expected)
        elif field == "hardware.gpu_count" and value.isdigit() and int(value) > 1:
            seen.add(field)
            yield Literal(field, path, line, times(value, 0.5), COUNT)
        elif field == "model.id" and "/" in value and _is_smaller(answer, value):
            seen.add(field)
            named = re.escape(value)
            yield Literal(field, path, line, word((named, OTHER_MODEL)), UP)
    yield from _proposed(answer)


def _is_smaller(answer: Mapping[str, Any], model: str) -> bool:
    """Whether the sum is of this model, and that is far smaller than the other one."""
    weights = next((term["basis"] for term in answer["breakdown"]["terms"] if term["name"] == "weights"), "")
    size = re.match(rf"{re.escape(model)}, ([0-9.]+) (B|M) parameters", weights)
    return size is not None and (size[2] == "M" or float(size[1]) < SMALLER_B)


def _proposed(answer: Mapping[str, Any]) -> Iterator[Literal]:
    """Yield the cheaper configurations that are one literal: half the batch, another optimizer."""
    for each in answer["what_ifs"]:
        batch = re.fullmatch(r"batch (\d+) → (\d+), accumulated twice", each["change"])
        if not each["path"] or not each["line"]:
            continue
        if batch is not None:
            edit = word((rf"(?<![\w.]){batch[1]}(?![\w.])", batch[2]))
        elif each["change"] == "8-bit AdamW":
            edit = word((r"\badamw_torch(?:_fused)?\b", "adamw_bnb_8bit"))
        else:
            continue
        yield Literal("what would be cheaper", each["path"], each["line"], edit, PROMISED, each)


def beside(answer: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield files that change nothing of what a run needs, by kind, path and text; the third of them only where it is new."""
    yield (
        "a test",
        "tests/test_of_a_large_model.py",
        f'from vllm import LLM\n\n\ndef test_it():\n    LLM("{OTHER_MODEL}", tensor_parallel_size=8)\n',
    )
    yield (
        "a workflow",
        ".github/workflows/of-another.yml",
        "on: push\njobs:\n  a:\n    runs-on: [self-hosted, h100x8]\n    steps: [{run: make}]\n",
    )
    if answer["files_read"]:
        yield "a log of changes", "HISTORY.md", "# History\n\n- 2.0: trained on 64 A100 with a batch of 4096.\n"
