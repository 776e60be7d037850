"""Tables in HTML say what those that Markdown draws say, and a row may be called memory as well as a column."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.documents.documented_tables import table_figures
from gpu_lol_action.analysis.formats.html_tables import html_rows


def _figures(text: str, heading: str = "") -> list[tuple[float, str, int]]:
    lines = text.split("\n")
    return [(f.memory_gb, f.label, f.line) for f in table_figures(lines, [heading] * len(lines))]


COLUMNS = """<table>
  <tr><th>Model</th><th>Bits</th><th align="center">GPU Memory<br>Usage</th></tr>
  <tr>
    <td rowspan="2">1.8B</td>
    <td>BF16</td>
    <td>4.23GB</td>
  </tr>
  <tr><td>Int8</td><td><b>3.48GB</b></td></tr>
</table>"""
SIDEWAYS = """<table>
<tr><td>Model</td><td>Net-3B</td><td>Net-9B</td></tr>
<tr><td>Single GPU Memory Usage</td><td> 17G </td><td>30G (2048 * 2048)</td></tr>
<tr><td>Prompt Length</td><td>225</td><td>224</td></tr>
</table>"""
SPANNED = (
    '<table><thead><tr><th rowspan="2">Batch</th><th colspan="2">Length</th></tr><tr><th>256</th><th>512</th></tr></thead>'
    "<tbody><tr><td>1</td><td>13.29 GB</td><td>OOM</td></tr></tbody></table>"
)


@pytest.mark.parametrize(
    ("text", "heading", "expected"),
    [
        (COLUMNS, "", [(4.23, "1.8B BF16", 3), (3.48, "1.8B Int8", 8)]),
        (SIDEWAYS, "", [(17, "Net-3B Single GPU Memory Usage 17G", 3), (30, "Net-9B Single GPU Memory Usage 30G (2048 * 2048)", 3)]),
        (SPANNED, "Peak memory of inference", [(13.29, "1 OOM Length 256", 1)]),
        ("| | bf16 | fp8 |\n|---|---|---|\n| GPU memory | 29.7GB | 19.8GB |\n", "", [(29.7, "bf16 GPU memory 29.7GB", 3), (19.8, "fp8 GPU memory 19.8GB", 3)]),
        ("> 2. GPU memory of techniques (MB per GPU) on a V100\n\n| N | parallel | partial |\n|---|---|---|\n| 125000 | 7168 | **-** |\n", "", [(7, "125000 7168 - parallel (MB)", 5)]),
        ("Peak memory in GB:\n| batch | a |\n|---|---|\n| 4 | 12.5 |\n", "", [(12.5, "4 12.5 a (GB)", 4)]),
        ("| | a | b |\n|---|---|---|\n| VRAM (GB) | 8 | ~6 |\n", "", [(8, "a VRAM (GB) 8", 3), (6, "b VRAM (GB) 6", 3)]),
    ],
)  # fmt: skip
def test_memory_in_columns_and_in_rows(text: str, heading: str, expected: list[tuple[float, str, int]]) -> None:
    assert _figures(text, heading) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Size of the download (MB)\n| N | a |\n|---|---|\n| 1 | 7168 |\n",
        "GPU memory bandwidth (GB/s)\n| N | a |\n|---|---|\n| 1 | 900 |\n",
        "GPU memory by batch\n| N | a |\n|---|---|\n| 1 | 900 |\n",
        SPANNED,  # nothing says that it is memory
        "| | a | b |\n|---|---|---|\n| CPU memory | 64GB | 128GB |\n| Memory size of the download | 8GB | 9GB |\n| Memory bandwidth | 900 GB/s | 2 TB/s |\n",
        "| | a | b |\n|---|---|---|\n| memory_length | 64 | 128 |\n",
        "<table><tr><td>Model</td><td>Disk</td></tr><tr><td>7B</td><td>14GB</td></tr></table>",
        "<table><tr><td>GPU memory</td><td>8GB</td>",
    ],
)
def test_other_amounts_are_no_memory(text: str) -> None:
    assert _figures(text) == []


def test_rows_of_what_never_ends_are_not_looked_for() -> None:
    lines = ["<table>" * 2000, "<tr><td rowspan=99 colspan=99>x" * 300]
    assert list(html_rows(lines)) == []
    assert len(list(html_rows([*lines, "</table>"]))) <= 40


@pytest.mark.parametrize("inner", ["", "<caption>x</caption>", "<td>a</td>", "<tr>", "<tr></tr>", "<tr><tr><tr>"])
def test_a_table_without_rows_or_cells_has_none(inner: str) -> None:
    assert not list(html_rows(["<table>", inner, "</table>"]))
