from __future__ import annotations

import cmarkgfm
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.spec import SpecDifference
from gpu_lol_action.domain.spec_edit import SpecEdit, edit_spec
from gpu_lol_action.render.marker import parse_marker
from gpu_lol_action.render.suggestion import is_in_diff, suggestion_prefix, suggestion_text, withdrawn_text
from tests.golden.cases import HOSTILE

PATCH = "@@ -0,0 +1,3 @@\n+a\n+b\n+c\n@@ -10,2 +20 @@\n-x\n-y\n+z"
WHY = (SpecDifference("hardware.vram_required_gb", "24", "46", "needed since `train.py:88`"),)


@pytest.mark.parametrize(
    ("first", "last", "is_in"),
    [(1, 3, True), (3, 4, False), (4, 4, False), (20, 20, True), (21, 21, False), (3, 20, False)],
)
def test_a_suggestion_stands_within_one_hunk(first: int, last: int, is_in: bool) -> None:
    assert is_in_diff(PATCH, SpecEdit("", first, last)) is is_in


def test_the_text_has_a_marker_the_reasons_and_the_lines() -> None:
    edit = edit_spec("hardware:\n  vram_required_gb: 24\n", {"hardware.vram_required_gb": 46})
    assert edit is not None
    text = suggestion_text(12, edit, WHY)
    assert text is not None
    assert text.startswith(suggestion_prefix(12))
    assert "```suggestion\n  vram_required_gb: 46\n```" in text
    assert "needed since `train.py:88`" in text


@pytest.mark.parametrize("line", ["a\tb", "a\u202eb", "trailing ", ""])
def test_what_cannot_be_shown_as_it_is_is_not_suggested(line: str) -> None:
    assert suggestion_text(12, SpecEdit(line, 1, 1), WHY) is None


@given(st.text(alphabet="`~ab#: -<>", min_size=1, max_size=40))
def test_no_line_leaves_its_block(line: str) -> None:
    text = suggestion_text(12, SpecEdit(line, 1, 1), (SpecDifference(HOSTILE, "", "", HOSTILE),))
    if text is None:
        return
    html = cmarkgfm.github_flavored_markdown_to_html(text)
    assert html.count("<pre") == 1
    assert html.rstrip().endswith("</pre>")
    marker = parse_marker(text)
    assert marker is not None
    assert marker.kind == "suggestion"


def test_a_withdrawn_one_is_found_as_none() -> None:
    assert not withdrawn_text(12).startswith(suggestion_prefix(12))
