from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.render.limits import fit_comment, split_blocks
from gpu_lol_action.render.markdown import fence

HEAD = "<!-- gpu-lol v1 x -->\n### 🟢 Heading\n\n"
LAST = "**Nothing was launched.**"
FOLD = "<details><summary>{name}</summary>\n\n```\n</details>\n{filler}\n```\n</details>\n"


def test_short_comment_is_untouched() -> None:
    body = f"{HEAD}text\n{LAST}"
    assert fit_comment(body) == body


def test_folds_go_first_and_from_the_last() -> None:
    body = HEAD + FOLD.format(name="spec", filler="x" * 100) + FOLD.format(name="evidence", filler="y" * 500) + LAST
    cut = fit_comment(body, 400)
    assert "evidence" not in cut
    assert "<summary>spec</summary>" in cut
    assert "_Left out here" in cut
    assert cut.endswith(LAST)
    assert len(cut) <= 400


def test_rows_go_next_and_are_counted() -> None:
    rows = "".join(f"| row {number} | {'x' * 20} |\n" for number in range(100))
    cut = fit_comment(f"{HEAD}| a | b |\n|---|---|\n{rows}\n{LAST}", 800)
    assert len(cut) <= 800
    assert "| row 0 |" in cut
    assert "more rows |" in cut
    assert cut.endswith(LAST)


def test_a_fence_is_dropped_whole() -> None:
    cut = fit_comment(f"{HEAD}{fence('z' * 400 + chr(10) + '````')}\nafter\n{LAST}", 300)
    assert "```" not in cut
    assert "after" in cut
    assert cut.endswith(LAST)


def test_paragraphs_go_last_but_never_head_or_billing() -> None:
    cut = fit_comment(HEAD + "long text\n" * 200 + LAST, 300)
    assert cut.startswith(HEAD.rstrip("\n"))
    assert cut.endswith(LAST)
    assert len(cut) <= 300


def unfenced(body: str) -> list[str]:
    """Return the lines outside fences; fails where a fence is left open."""
    lines, ticks = [], ""
    for line in body.split("\n"):
        if not ticks and line.startswith("```"):
            ticks = line
        elif line == ticks:
            ticks = ""
        elif not ticks:
            lines.append(line)
    assert not ticks
    return lines


def test_what_is_left_out_can_be_read_in_the_summary_of_the_run() -> None:
    body = HEAD + FOLD.format(name="spec", filler="x" * 5000) + LAST
    cut = fit_comment(body, 400, overflow_url="https://github.com/acme/lab/actions/runs/7")
    assert "[The summary of the run](https://github.com/acme/lab/actions/runs/7) has this whole" in cut
    assert cut.endswith(f"\n\n{LAST}")
    assert len(cut) <= 400
    assert fit_comment(f"{HEAD}text\n{LAST}", overflow_url="https://github.com") == f"{HEAD}text\n{LAST}"


PIECES = st.lists(
    st.sampled_from(
        [
            "text " * 20,
            "| a | b |\n|---|---|\n" + "| x | y |\n" * 30,
            FOLD.format(name="n", filler="f" * 90),
            fence("`" * 5 + "q" * 80) + "\n",
        ]
    ),
    max_size=12,
)


@given(PIECES, st.integers(min_value=250, max_value=3000))
def test_whatever_is_cut_fits_and_stays_whole(pieces: list[str], limit: int) -> None:
    cut = fit_comment(HEAD + "\n".join([*pieces, LAST]), limit)
    assert len(cut) <= limit
    assert cut.startswith(HEAD.rstrip("\n"))
    assert cut.endswith(LAST)
    outside = unfenced(cut)
    assert sum(line.startswith("<details>") for line in outside) == outside.count("</details>")


@given(PIECES)
def test_blocks_are_the_comment(pieces: list[str]) -> None:
    body = "\n".join([*pieces, LAST])
    assert "\n".join(split_blocks(body)) == body
