"""A table of runs to a table of estimates: each row with what can be read of it, each cell that cannot with its line and column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpu_lol_action.domain.sums import added
from gpu_lol_action.estimation.vram import GB, GIB, estimate_vram
from gpu_lol_action.intake.estimate_cells import CellProblem, question_from_cells

COLUMNS = ("id", "model", "params_B", "active_params_B", "method", "precision", "quantization", "optimizer", "seq_len", "batch",
           "grad_ckpt", "zero_stage", "n_gpus", "tensor_parallel", "offload", "lora_rank", "lora_targets", "attention", "hidden",
           "layers", "heads", "kv_heads", "ffn", "vocab", "kind", "notes")  # fmt: skip
ANSWER = ("id", "estimated_gb", "low_gb", "high_gb")
_BY_FOLDED = {column.lower(): column for column in COLUMNS}
_SHOWN = 40
MAX_ROWS = 200_000


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """The answers as CSV; a line for each cell that was passed over; whether every row has an answer."""

    text: str
    problems: tuple[str, ...]
    is_complete: bool


def estimate_table(text: str) -> TableAnswer | str:
    """Return an estimate in GB (1e9 bytes) for each row of a CSV text, in its order; a sentence where it is no such table."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(ANSWER)
    problems: list[str] = []
    is_complete = True
    try:
        for line, identity, cells in _rows(text):
            answer, found = estimate_row(cells)
            problems += [_worded(line, problem, is_fatal=answer is None) for problem in found]
            is_complete = is_complete and answer is not None
            writer.writerow([identity, *(f"{value:.3f}" for value in answer or ())] + [""] * (0 if answer else 3))
    except (csv.Error, ValueError) as error:
        return str(error)
    return TableAnswer(out.getvalue(), tuple(problems), is_complete)


def estimate_row(cells: Mapping[str, str]) -> tuple[tuple[float, float, float] | None, tuple[CellProblem, ...]]:
    """Return expected, low and high in GB of one row, and the cells that were passed over; None where no size is known."""
    found = question_from_cells(cells)
    if isinstance(found, CellProblem):
        return None, (found,)
    breakdown = estimate_vram(found.question)
    # The terms, not the breakdown's rounded sum: a small model's megabytes count.
    expected = added(term.gib for term in breakdown.terms)
    low, high = min(breakdown.low_gib, expected), max(breakdown.high_gib, expected)
    return (expected * GIB / GB, low * GIB / GB, high * GIB / GB), found.problems


def _rows(text: str) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Yield line, id and cells of each row. Raises ValueError where the first line is no header of ours."""
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    header = [_BY_FOLDED.get(name.strip().lower(), "") for name in next(reader, [])]
    if not {"model", "params_B"} & set(header):
        raise ValueError("line 1: neither a column `model` nor `params_B`; the columns are those of docs/vram-model.md")
    for count, row in enumerate(reader, 1):
        if not any(cell.strip() for cell in row):
            continue
        if count > MAX_ROWS:
            raise ValueError(f"line {reader.line_num}: more than {MAX_ROWS} rows")
        cells = {name: cell for name, cell in zip(header, row, strict=False) if name}
        yield reader.line_num, " ".join(cells.get("id", "").split()) or str(count), cells


def _worded(line: int, problem: CellProblem, *, is_fatal: bool) -> str:
    text = problem.text if len(problem.text) <= _SHOWN else problem.text[: _SHOWN - 1] + "…"
    shown = text.encode("unicode_escape").decode("ascii")
    where = f"line {line}, column {problem.column}"
    if is_fatal:
        return f"{where}: {f'`{shown}` is ' if shown else ''}{problem.what}; no estimate for this row"
    return f"{where}: `{shown}` is not {problem.what}; passed over"
