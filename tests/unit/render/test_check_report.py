from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_lol_action.domain.annotation import Level
from gpu_lol_action.domain.surfaces import Conclusion
from gpu_lol_action.errors import SpecError
from gpu_lol_action.render import comments
from gpu_lol_action.render.check_report import plain_heading, proposal_report, spec_error_report
from gpu_lol_action.render.views_proposal import ProposalCase
from tests.golden import cases

URL = "https://github.com/acme/qwen-sft/actions/runs/9001"


def case(**changes: object) -> ProposalCase:
    return cases.proposal_case(**changes)


@pytest.mark.parametrize(
    ("changes", "conclusion", "title"),
    [
        ({}, Conclusion.NEUTRAL, "This PR needs a bigger GPU: A40 → A100-80GB, +$0.95/h"),
        (
            {"base_analysis": cases.analysis(), "base_ladder": cases.LADDER},
            Conclusion.SUCCESS,
            "Same price as the base",
        ),
        ({"ladder": cases.NO_FIT}, Conclusion.ACTION_REQUIRED, "No offer fits: 1 GPU with"),
    ],
)
def test_the_heading_is_the_title_and_the_verdict_concludes(
    changes: dict[str, object], conclusion: Conclusion, title: str
) -> None:
    report = proposal_report(case(**changes), URL)
    assert report.conclusion is conclusion
    assert report.title.startswith(title)
    assert not report.summary.startswith(("<!--", "###"))
    assert report.sha == cases.PULL_REQUEST.head_sha


def test_the_line_that_raised_the_need_is_annotated_with_from_and_to() -> None:
    (annotation,) = proposal_report(case(), URL).annotations
    assert (annotation.path, annotation.line, annotation.level) == ("train.py", 88, Level.WARNING)
    assert annotation.title == "max_seq_length: 1024 → 4096"
    assert annotation.message == "memory per GPU 24.0 GiB → 41.2 GiB; 1 x A40 → 1 x A100-80GB, $1.39/h"


def test_what_costs_no_more_annotates_nothing() -> None:
    assert proposal_report(case(base_analysis=cases.analysis(), base_ladder=cases.LADDER), URL).annotations == ()


def test_an_invalid_file_is_a_failure_at_its_line() -> None:
    error = SpecError(
        "spec_invalid", "there is no `hardwear`.", path=".gpu-lol.yaml", line=3, fix="Did you mean `hardware`?"
    )
    body = comments.spec_error(error=error, pull_request=cases.PULL_REQUEST, now=cases.NOW)
    report = spec_error_report(error, "f" * 40, body, URL)
    assert report.conclusion is Conclusion.ACTION_REQUIRED
    (annotation,) = report.annotations
    assert (annotation.path, annotation.line, annotation.level) == (".gpu-lol.yaml", 3, Level.FAILURE)
    assert annotation.message == "there is no `hardwear`. Did you mean `hardware`?"


def test_foreign_words_in_a_heading_are_plain_in_the_title() -> None:
    hostile = replace(cases.PULL_REQUEST)
    error = SpecError("spec_invalid", cases.HOSTILE, path=cases.HOSTILE, line=1)
    title = plain_heading(comments.spec_error(error=error, pull_request=hostile, now=cases.NOW))
    assert "\u202e" not in title
    assert "\n" not in title
    assert len(title) <= 200
