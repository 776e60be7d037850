"""Every comment, whole: byte equality with its golden, and what must hold for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from gpu_lol_action.domain.commands import COMMANDS
from gpu_lol_action.render.limits import MAX_COMMENT_LENGTH
from gpu_lol_action.render.marker import parse_marker
from gpu_lol_action.render.screen import Screen, columns_of
from gpu_lol_action.render.templating import templates_folder
from gpu_lol_action.render.terminal import render_text
from tests.golden.cases import CASES

GOLDENS = Path(__file__).parent / "comments"
HOSTILE_CASES = sorted(name for name in CASES if name.endswith("_hostile"))
# Comments mention people nowhere but here: what a requester waits for, and what may cost them their work.
NOTIFYING = re.compile(r"ready|torn_down|warning")
BILLING = re.compile(
    r"\*\*(?:Nothing (?:was launched|is running(?: for this PR)?|is billing yet for .+)\.|What is running stands there too\."
    r"|.+ (?:runs at|bills|counts as running at) \$.+\.|.+ may be running, at a price that is not known\.|Running: .+ so far.*\.)\*\*"
)
STATUS_MARKS = "🔴🟡🟢⚪"


@pytest.mark.parametrize("name", sorted(CASES))
def test_comment_equals_its_golden(name: str, assert_golden: Callable[[str, str], None]) -> None:
    assert_golden(f"comments/{name}.md", CASES[name]())


def test_each_golden_has_a_case() -> None:
    assert {path.stem for path in GOLDENS.glob("*.md")} == set(CASES)


def test_each_template_has_a_case_and_a_hostile_one_where_it_shows_foreign_text() -> None:
    templates = {path.name.removesuffix(".md.j2") for path in (templates_folder() / "comments").glob("*.j2")}
    covered = {template for template in templates if any(re.fullmatch(rf"{template}(_\w+)?", name) for name in CASES)}
    assert covered == templates
    without_foreign_text = {"internal_error", "nothing_to_tear_down", "superseded"}
    assert {name.removesuffix("_hostile") for name in HOSTILE_CASES} >= templates - without_foreign_text


def test_no_template_is_longer_than_forty_lines() -> None:
    for path in templates_folder().rglob("*.md.j2"):
        assert len(path.read_text().splitlines()) <= 40, path.name


@pytest.mark.parametrize("name", sorted(CASES))
def test_comment_has_marker_heading_and_billing_in_their_places(name: str) -> None:
    lines = CASES[name]().split("\n")
    assert parse_marker(lines[0]) is not None
    assert lines[1].startswith("### ")
    assert sum(lines[1].count(mark) for mark in STATUS_MARKS) == 1
    assert BILLING.fullmatch(lines[-1]), lines[-1]


def test_past_runs_fit_a_terminal_and_read_in_ascii() -> None:
    for columns, has_unicode in ((80, True), (80, False), (100, True)):
        screen = Screen(columns, has_unicode=has_unicode)
        for name in ("smoke_history", "smoke_history_flaky", "smoke_failed"):
            text = screen.finish(render_text(CASES[name](), screen.width))
            assert max(columns_of(line) for line in text.splitlines()) <= columns
            assert has_unicode or text.isascii()
    assert "18 Nov 03:41  #######|       3 min 2 s  2a5c32a  x  1 of 43 failed" in _in_ascii("smoke_history")
    assert "L4    ok x  ok -  ok x  x  ok  4 of 7" in _in_ascii("smoke_history_flaky")


def _in_ascii(name: str) -> str:
    return Screen(80, has_unicode=False).finish(render_text(CASES[name](), 80))


@pytest.mark.parametrize("name", sorted(CASES))
def test_comment_is_whole(name: str) -> None:
    body = CASES[name]()
    assert len(body) <= MAX_COMMENT_LENGTH
    assert "None" not in body
    assert "Undefined" not in body
    assert "\n\n\n" not in _unfenced(body)
    assert _unfenced(body).count("<details>") == _unfenced(body).count("</details>")


@pytest.mark.parametrize("name", sorted(CASES))
def test_comment_offers_only_commands_of_the_table(name: str) -> None:
    if name in HOSTILE_CASES:
        return
    words = {word for spec in COMMANDS for word in (spec.name, *spec.aliases)}
    offered = re.findall(r"(?:^|[`\s])/gpu-lol ([a-z]+)", CASES[name]())
    assert set(offered) <= words


@pytest.mark.parametrize("name", sorted(CASES))
def test_comment_mentions_nobody_but_the_requester_who_waits(name: str) -> None:
    text = re.sub(r"(?s)<pre.*?</pre>|<code>.*?</code>|<!--.*?-->", "", _html(CASES[name]()))
    mentions = set(re.findall(r"(?<![\w`])@([A-Za-z0-9][\w-]*)", re.sub(r"<[^>]*>", "", text)))
    assert mentions == ({"requester"} if NOTIFYING.match(name) and name not in HOSTILE_CASES else set())


@pytest.mark.parametrize("name", HOSTILE_CASES)
def test_hostile_text_stays_text(name: str) -> None:
    html = _html(CASES[name]())
    outside = re.sub(r"(?s)<pre.*?</pre>|^<!--.*?-->", "", html)
    tags = {tag.lower() for tag in re.findall(r"</?([a-zA-Z][a-zA-Z0-9]*)", outside)}
    assert tags <= {
        "h3",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "code",
        "strong",
        "a",
        "details",
        "summary",
        "ul",
        "li",
        "br",
        "sub",
    }
    assert outside.count("<h3>") == 1
    links = re.findall(r'href="([^"]*)"', html)
    assert all(link.startswith(("https://github.com/", "https://vscode.dev/")) for link in links)
    prose = re.sub(
        r"(?s)<code>.*?</code>",
        "",
        re.sub(r"<[a-z/][^>]*>", "", outside.replace("<code>", "\x00").replace("</code>", "\x01")),
    )
    prose = re.sub(r"(?s)\x00.*?\x01", "", prose)
    assert "{{" not in _unfenced(CASES[name]())
    for active in ("@everyone", "#1 ", "GH-2", "https://evil", "www.evil", "\u202e", "\u200bn", "\x1b", "\x07"):
        assert active not in prose, active
    for invisible in ("\u202e", "\x1b", "\x07"):
        assert invisible not in html


@pytest.mark.parametrize("name", HOSTILE_CASES)
def test_hostile_text_cannot_break_a_table(name: str) -> None:
    for table in re.findall(r"(?m)(?:^\|.*\n)+", _unfenced(CASES[name]())):
        columns = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(columns) == 1, table


def _unfenced(body: str) -> str:
    """Return the lines outside fences; fails where one is left open."""
    lines, ticks = [], ""
    for line in body.split("\n"):
        opening = re.fullmatch(r"(`{3,})[a-z]*", line)
        if not ticks and opening:
            ticks = opening[1]
            lines.append("(fence)")
        elif ticks and line == ticks:
            ticks = ""
        elif not ticks:
            lines.append(line)
    assert not ticks
    return "\n".join(lines) + "\n"


def _html(body: str) -> str:
    return cmarkgfm.github_flavored_markdown_to_html(body, Options.CMARK_OPT_UNSAFE)
