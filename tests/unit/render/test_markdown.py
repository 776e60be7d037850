from __future__ import annotations

import html
import re

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.render.markdown import (
    Safe,
    clean_lines,
    code,
    fence,
    html_code,
    inline,
    join,
    link,
    mention,
    permalink,
    prose,
    tail,
    visible,
)

# Letters that Markdown, HTML and GitHub act on, next to ordinary ones: random Unicode alone rarely meets them.
HOSTILE = st.text(st.sampled_from("ab1 `*_~[]()<>&|\\#@!$-+=.:/{}\n\t\"'\u202e\u200b\x1b;"), max_size=40) | st.text(
    max_size=40
)


def rendered(markdown: str) -> str:
    extensions = ["table", "autolink", "strikethrough", "tagfilter"]
    return cmarkgfm.markdown_to_html_with_extensions(markdown, Options.CMARK_OPT_UNSAFE, extensions)


def text_of(document: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", document)).replace("\u200b", "")


@given(HOSTILE)
def test_inline_shows_just_the_characters(text: str) -> None:
    document = rendered(f"x {inline(text)} y")
    assert set(re.findall(r"<(\w+)", document)) <= {"p"}
    assert re.sub(r"\s+", " ", text_of(document)).strip() == re.sub(r"\s+", " ", f"x {visible(text)} y")


@given(HOSTILE)
def test_inline_starts_no_block(text: str) -> None:
    document = rendered(f"{inline(text)}\nnext")
    assert set(re.findall(r"<(\w+)", document)) <= {"p"}
    assert "next" in text_of(document)


@given(HOSTILE, HOSTILE)
def test_filters_keep_their_table_cell(first: str, second: str) -> None:
    table = f"| a | b | c |\n|---|---|---|\n| {inline(first)} | {code(second)} | {prose(first)} |\n"
    document = rendered(table)
    assert document.count("<td>") == 3
    assert set(re.findall(r"<(\w+)", document)) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}


@given(HOSTILE)
def test_code_shows_just_the_characters(text: str) -> None:
    for span in (code(text), html_code(text)):
        document = rendered(f"x {span} y")
        assert document.count("<code>") == document.count("</code>") == 1
        shown = re.search(r"(?s)<code>(.*)</code>", document)
        assert shown is not None
        assert re.sub(r"\s+", " ", html.unescape(shown[1])).strip() == re.sub(r"\s+", " ", visible(text, 200)).strip()


@given(HOSTILE | st.text(st.sampled_from("`\n a"), max_size=60))
def test_fence_ends_where_it_should(text: str) -> None:
    document = rendered(f"{fence(text)}\n\nafter")
    assert document.count("<pre") == 1
    assert document.rstrip().endswith("<p>after</p>")


@given(HOSTILE)
def test_prose_knows_code_spans_and_nothing_else(text: str) -> None:
    document = rendered(f"x {prose(text)} y")
    assert set(re.findall(r"<(\w+)", document)) <= {"p", "code"}


@given(HOSTILE)
def test_link_keeps_its_target(path: str) -> None:
    document = rendered(link(code(path), permalink("https://github.com", "acme/x", "abc", path, 3)))
    targets = re.findall(r'href="([^"]*)"', document)
    assert len(targets) == 1
    assert targets[0].startswith("https://github.com/acme/x/blob/abc/")
    assert targets[0].endswith("#L3")


@pytest.mark.parametrize(
    "active",
    ["@everyone", "#12", "GH-3", "https://evil.example", "www.evil.example", "_www.evil.example", "a@b.example"],
)
def test_inline_breaks_what_github_would_link(active: str) -> None:
    document = rendered(f"x {inline(active)} y")
    assert "<a" not in document
    assert active not in html.unescape(document)


def test_prose_keeps_backticks_as_code_and_amounts_as_they_are() -> None:
    assert prose("`pip` costs $1.39/h, over $0.44/h") == "`pip` costs $1.39/h, over $0.44/h"


def test_inline_makes_no_mathematics_of_dollars() -> None:
    assert inline("$x$") == "&#36;x&#36;"
    assert inline("a$5$") == "a&#36;5&#36;"


def test_visible_spells_out_what_turns_or_hides_text() -> None:
    assert visible("a\u202eb\u2066c\x07") == "a⟨U+202E⟩b⟨U+2066⟩c⟨U+0007⟩"


def test_visible_cuts_long_text() -> None:
    assert visible("x" * 400, 10) == "x" * 9 + "…"


def test_filters_refuse_what_was_escaped_before() -> None:
    for escape in (inline, code, html_code, prose, fence):
        with pytest.raises(TypeError, match="escaped once"):
            escape(Safe("x"))


def test_mention_notifies_only_a_login() -> None:
    assert mention("octo-cat") == "@octo-cat"
    assert mention("dependabot[bot]") == "@dependabot[bot]"
    assert mention("a @team/x") == "a @&#8203;team/x"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "//evil.example", "", "data:text/html,x", "https://", "https://x/" + "a" * 3000]
)
def test_link_refuses_what_is_no_short_web_address(url: str) -> None:
    assert link(Safe("label"), url) == "label"


def test_permalink_encodes_each_part() -> None:
    assert (
        permalink("https://ghe.example/", "a/b", "c0ffee", "dir/a b#?.py", 7)
        == "https://ghe.example/a/b/blob/c0ffee/dir/a%20b%23%3F.py#L7"
    )
    assert permalink("https://github.com", "a/b", "c0ffee", "x", 0) == "https://github.com/a/b/blob/c0ffee/x"


def test_clean_lines_drops_colors_and_keeps_indentation() -> None:
    assert clean_lines("\x1b[31mred\x1b[0m\n\tx\r\ny\n\n") == ["red", "    x", "y"]


def test_tail_says_how_much_is_left_out() -> None:
    assert tail("1\n2\n3\n4", 2) == "… 2 lines left out\n3\n4"
    assert tail("1\n2\n", 2) == "1\n2"


def test_join_keeps_safety() -> None:
    assert isinstance(join([Safe("a"), Safe("b")]), Safe)
