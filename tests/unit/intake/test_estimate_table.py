from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.estimation.vram import GB, GIB, estimate_vram
from gpu_lol_action.intake.estimate_cells import Estimated, question_from_cells
from gpu_lol_action.intake.estimate_table import COLUMNS, TableAnswer, estimate_table

POINTS = Path(__file__).parents[3] / "benchmarks" / "data" / "vram_points.csv"


def answered(text: str) -> TableAnswer:
    found = estimate_table(text)
    assert isinstance(found, TableAnswer), found
    return found


def rows(answer: TableAnswer) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_every_published_row_is_answered_without_its_answer_and_notes() -> None:
    with POINTS.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    columns = [name for name in table[0] if name not in {"reported_gb_per_gpu", "unit", "notes", "confidence"}]
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(table)
    answer = answered(out.getvalue())
    assert answer.is_complete
    assert answer.problems == ()
    found = rows(answer)
    assert [row["id"] for row in found] == [row["id"] for row in table]
    assert all(0 <= float(row["low_gb"]) <= float(row["estimated_gb"]) <= float(row["high_gb"]) for row in found)


def test_figures_are_gigabytes_of_the_sum() -> None:
    cells = {"model": "gpt2", "method": "inference", "precision": "bf16", "seq_len": "128"}
    row = rows(answered("id,model,method,precision,seq_len\n7,gpt2,inference,bf16,128\n"))[0]
    found = question_from_cells(cells)
    assert isinstance(found, Estimated)
    assert row["id"] == "7"
    assert float(row["estimated_gb"]) == pytest.approx(estimate_vram(found.question).expected_gib * GIB / GB, abs=0.02)


def test_columns_may_stand_in_any_order_and_case_with_others_between() -> None:
    plain = rows(answered("id,params_B,batch\n1,7,4\n"))
    mixed = rows(answered("\ufeffBatch, PARAMS_B ,colour,ID\r\n4,7,red,1\r\n"))
    assert plain == mixed


def test_a_junk_cell_is_named_with_line_and_column_and_passed_over() -> None:
    answer = answered("id,params_B,batch\n1,7,1\n2,7,lots\n")
    assert answer.is_complete
    assert answer.problems == ("line 3, column batch: `lots` is not a whole number from 0 on; passed over",)
    first, second = rows(answer)
    assert first["estimated_gb"] == second["estimated_gb"]


def test_a_row_without_a_size_has_empty_figures_and_is_named() -> None:
    answer = answered('id,model,params_B\n1,"some, thing",\n2,,7\n\n3,,\n')
    assert not answer.is_complete
    assert [row["estimated_gb"] != "" for row in rows(answer)] == [False, True, False]
    assert answer.problems == (
        "line 2, column model: `some, thing` is not in our table, and its name says no size; no estimate for this row",
        "line 5, column model: neither a model nor its parameters are given; no estimate for this row",
    )


def test_a_cell_of_control_characters_cannot_write_to_the_terminal() -> None:
    answer = answered("id,params_B,batch\n1,7,\x1b[2J\n")
    assert answer.problems == ("line 2, column batch: `\\x1b[2J` is not a whole number from 0 on; passed over",)


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "id\n1\n"])
def test_what_is_no_table_of_runs_is_refused_at_line_1(text: str) -> None:
    found = estimate_table(text)
    assert isinstance(found, str)
    assert found.startswith("line 1")


def test_a_missing_id_is_the_rows_number_and_a_short_row_is_read_as_far_as_it_goes() -> None:
    found = rows(answered("params_B,id,batch\n7\n7,x\n"))
    assert [row["id"] for row in found] == ["1", "x"]


@given(st.text(max_size=200))
def test_any_text_gives_a_table_or_a_sentence(text: str) -> None:
    estimate_table(text)
    estimate_table("id,params_B,method\n" + text)


@given(st.lists(st.lists(st.text(max_size=10), min_size=len(COLUMNS), max_size=len(COLUMNS)), max_size=5))
def test_as_many_rows_come_back_as_were_given(table: list[list[str]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    written = [row for row in table if any(cell.strip() for cell in row)]
    writer.writerows(written)
    found = estimate_table(out.getvalue())
    if isinstance(found, TableAnswer):  # a cell may hold what CSV cannot
        assert len(rows(found)) == len(written)
