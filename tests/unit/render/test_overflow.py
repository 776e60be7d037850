"""A proposal of any size, from the most hostile of repositories, as it is posted: whole fences, whole folds, in bounds."""

from __future__ import annotations

import re
from dataclasses import replace

import cmarkgfm
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.offer import Rejected
from gpu_lol_action.render import comments
from gpu_lol_action.render.limits import MAX_COMMENT_LENGTH, fit_comment
from gpu_lol_action.render.marker import parse_marker
from tests.golden import cases

URL = "https://github.com/acme/qwen-sft/actions/runs/9001"
WORDS = st.one_of(
    st.sampled_from([cases.HOSTILE, "```", "~~~", "</details>", "<details>", "-->", "| a |", "@everyone", "x" * 3000]),
    st.text(max_size=60),
)


def huge(words: list[str], count: int, lines: int) -> str:
    texts = [words[index % len(words)] for index in range(count)] if words else ["x"] * count
    findings = tuple(
        Finding(f"training.{index}", text, text, Confidence.HIGH, Evidence(text or "f", index))
        for index, text in enumerate(texts)
    )
    found = cases.analysis()
    analysis = replace(
        found,
        findings=findings,
        not_understood=tuple(texts),
        differences=tuple(replace(cases.DIFFERENCE, in_file=text, why=text) for text in texts),
        spec_path=".gpu-lol.yaml",
    )
    ladder = replace(cases.LADDER, rejected=tuple(Rejected(cases.A40, text) for text in texts))
    spec_yaml = "\n".join(texts[index % len(texts)] if texts else "a: b" for index in range(lines))
    return comments.proposal(cases.proposal_case(analysis=analysis, ladder=ladder, spec_yaml=spec_yaml))


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=8), st.integers(0, 120), st.integers(0, 400), st.integers(6000, MAX_COMMENT_LENGTH))
def test_whatever_a_repository_holds_the_comment_is_whole_and_within_bounds(
    words: list[str], count: int, lines: int, limit: int
) -> None:
    body = fit_comment(huge(words, count, lines), limit, overflow_url=URL)
    assert len(body) <= limit
    assert parse_marker(body) is not None
    assert body.split("\n")[1].startswith("### 🟡")
    assert body.endswith("**Nothing is running for this PR.**")
    html = cmarkgfm.github_flavored_markdown_to_html(body, options=Options.CMARK_OPT_UNSAFE)
    assert len(re.findall("<details", html)) == html.count("</details>")
    assert html.count("<pre") == html.count("</pre>")
    last = html.rstrip().rpartition("<p>")[2]
    assert "Nothing is running for this PR." in last, "nothing has swallowed what is billing"


def test_what_is_too_large_for_a_comment_says_where_it_is_whole() -> None:
    body = huge(["x" * 3000], 120, 400)
    assert len(body) > MAX_COMMENT_LENGTH
    assert f"]({URL})" in fit_comment(body, overflow_url=URL)
