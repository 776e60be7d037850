from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timezone
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.rehearsal.page import Conversation, PageEntry, build_page, render_markdown
from tests.golden.cases import CASES, HOSTILE

AT = datetime(2026, 11, 20, 14, 7, 9, tzinfo=timezone.utc)
OPENED = PageEntry("event", "maintainer", AT, "opened this pull request with `3f9c2ab`")
PAGE = Conversation("acme/x", 7, "A title", "maintainer", "main", "feature", "open", "Rehearsal", (OPENED,))
VOID = {"meta", "br", "hr"}
ALLOWED = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "header",
    "main",
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "span",
    "b",
    "code",
    "div",
    "section",
    "time",
    "article",
    "pre",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "a",
    "ul",
    "ol",
    "li",
    "strong",
    "em",
    "s",
    "blockquote",
    "details",
    "summary",
    "sub",
    "br",
    "hr",
}


class Outline(HTMLParser):
    """Reads the page as a browser would and keeps what could load, run or stand open."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.links: list[str] = []
        self.is_balanced = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links.extend(value or "" for name, value in attrs if name in {"href", "src"})
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.is_balanced = False


def outline(page: str) -> Outline:
    reader = Outline()
    reader.feed(page)
    reader.close()
    return reader


def with_entry(entry: PageEntry) -> str:
    return build_page(replace(PAGE, entries=(OPENED, entry)))


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_comment_makes_a_whole_page_that_runs_nothing(name: str) -> None:
    reader = outline(with_entry(PageEntry("comment", "gpu-lol", AT, CASES[name](), is_bot=True)))
    assert reader.is_balanced
    assert reader.open == []
    assert reader.tags <= ALLOWED
    assert reader.attributes <= {"lang", "charset", "name", "content", "http-equiv", "class", "style", "href", "start"}
    assert all(link.startswith("https://") for link in reader.links)


@given(
    st.text(st.sampled_from("<>/abdetilsumrycoe =\"'`&;!-\n |*[]()"), max_size=80)
    | st.sampled_from([HOSTILE, "</details></div>", "<details><summary>", "<code>", "<!-- "])
)
def test_hostile_comment_stays_in_its_box(body: str) -> None:
    reader = outline(with_entry(PageEntry("comment", "stranger", AT, body)))
    assert reader.is_balanced
    assert reader.open == []
    assert reader.tags <= ALLOWED


@pytest.mark.parametrize("kind", ["event", "terminal", "comment"])
def test_hostile_text_is_escaped_everywhere(kind: str) -> None:
    entry = PageEntry(kind, HOSTILE, AT, "<script>alert(1)</script><img src=x onerror=alert(1)>")
    page = build_page(Conversation(HOSTILE, 7, HOSTILE, HOSTILE, HOSTILE, HOSTILE, "open", HOSTILE, (entry,)))
    reader = outline(page)
    assert reader.tags <= ALLOWED
    assert reader.is_balanced
    assert "\u202e" not in page


def test_page_forbids_everything_but_its_own_styles() -> None:
    page = build_page(PAGE)
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert not re.search(r"<script|@import|url\(|src=", page)


def test_tables_folds_and_line_breaks_are_shown() -> None:
    body = render_markdown("<details><summary><code>x</code></summary>\n\n| a |\n|---:|\n| 1 |\n</details>\n\none\ntwo")
    assert "<details><summary><code>x</code></summary>" in body
    assert "<table>" in body
    assert "one<br" in body


def test_reactions_edits_and_shell_are_shown() -> None:
    page = with_entry(PageEntry("comment", "maintainer", AT, "hello @octo-cat", ("eyes", "+1", "+1"), edits=2))
    assert "👀 1" in page
    assert "👍 2" in page
    assert "2 edits" in page
    assert '<span class="mention">@octo-cat</span>' in page
    shell = with_entry(PageEntry("terminal", "maintainer", AT, "$ nvidia-smi -L\nGPU 0"))
    assert '<span class="prompt">$</span> <b>nvidia-smi -L</b>\nGPU 0' in shell


def test_same_conversation_same_bytes() -> None:
    assert build_page(PAGE) == build_page(PAGE)


def test_nobody_is_mentioned_in_code() -> None:
    body = render_markdown("`@a` <code>&#64;b</code> @c")
    assert body.count('class="mention"') == 1
