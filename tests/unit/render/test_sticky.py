from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.request import Posted
from gpu_lol_action.render.sticky import Edit, Keep, Post, Yield, is_same_text, place_sticky, run_of


def said(run: str, text: str = "text", head: str = "abc1234", comment_id: int = 1) -> Posted:
    mark = f" run={run}" if run else ""
    return Posted(comment_id, f"<!-- gpu-lol v1 proposal pr=1 head={head}{mark} -->\n### 🟢 {text}", "bot")


def test_the_first_is_posted_a_changed_one_edited_the_same_one_kept() -> None:
    old = said("7.1")
    assert place_sticky([], old.body) == Post()
    assert place_sticky([old], said("8.1", "other").body) == Edit(old)
    assert place_sticky([old], said("8.1").body) == Keep(old)
    assert place_sticky([old], said("8.1", head="def5678").body) == Edit(old), "another commit is another text"


def test_an_older_run_yields_to_whichever_of_ours_is_newest() -> None:
    first, second = said("7.1"), said("9.1", comment_id=2)
    assert place_sticky([first, second], said("8.1", "late").body) == Yield(second)
    assert place_sticky([first, second], said("9.2", "again").body) == Edit(first)
    assert place_sticky([said("10.1")], said("9.9", "late").body) == Yield(said("10.1")), "numbers, not texts"


def test_comments_of_versions_without_a_run_are_written_over() -> None:
    old = said("")
    assert place_sticky([old], said("5.1", "new").body) == Edit(old)
    assert place_sticky([said("5.1")], said("", "terminal").body) == Edit(said("5.1"))


def test_github_s_ends_of_lines_are_no_change() -> None:
    assert is_same_text(said("1.1").body.replace("\n", "\r\n"), said("2.1").body)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 3)), min_size=1, max_size=6))
def test_whatever_the_order_of_runs_the_last_word_is_the_newest_run_s(runs: list[tuple[int, int]]) -> None:
    standing: list[Posted] = []
    for number, attempt in runs:
        body = said(f"{number}.{attempt}", f"by {number}.{attempt}").body
        place = place_sticky(standing, body)
        if not isinstance(place, Yield | Keep):
            standing = [Posted(1, body, "bot")]
    assert run_of(standing[0].body) == max(runs)
