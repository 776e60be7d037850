"""What a heading and a check run say where another project changes beside the one that a proposal is about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_lol_action.domain.surfaces import Conclusion
from gpu_lol_action.render.check_report import proposal_report
from gpu_lol_action.render.views_projects import OtherProject, ProjectsCase
from gpu_lol_action.render.views_proposal import verdict_of
from tests.golden.cases import CPU, LADDER, NO_FIT, NO_NEED, SMALL_LADDER, analysis, change_of, proposal_case

SAME = {"base_analysis": analysis(), "base_ladder": LADDER}
SMALL, LARGE, NONE, LOST = (analysis(1024), SMALL_LADDER), (analysis(), LADDER), (CPU, NO_NEED), (analysis(), NO_FIT)
DEARER, CHEAPER = OtherProject("b", *LARGE, *SMALL), OtherProject("b", *SMALL, *LARGE)
NEW, NEW_CPU = OtherProject("b", *LARGE, is_new=True), OtherProject("b", *NONE, is_new=True)
WRONG, UNFIT = OtherProject("b", problem="no such key", is_invalid=True), OtherProject("b", *LOST, *SMALL)


ASIDE = "`batch_size` is 512 (`train.py:5`), and a batch of 64 is assumed against what was read: no card holds the run otherwise"


@pytest.mark.parametrize(
    ("other", "verdict"), [(WRONG, "project_wrong"), (DEARER, "project_dearer"), (CHEAPER, "not_as_written")]
)
def test_what_is_not_believed_hides_no_news_of_another_project(other: OtherProject, verdict: str) -> None:
    case = replace(proposal_case(**SAME), projects=ProjectsCase("a", ("a", "b"), (other,)))
    case = replace(case, analysis=replace(case.analysis, not_understood=(ASIDE,)))
    assert verdict_of(case) == verdict


def test_a_halved_price_is_told_where_the_doubt_is_old() -> None:
    case = proposal_case(base_analysis=analysis(), base_ladder=LADDER, analysis=analysis(1024), ladder=SMALL_LADDER)
    old = replace(analysis(), not_understood=(ASIDE,))
    new = replace(case.analysis, not_understood=(ASIDE,))
    assert verdict_of(case) == verdict_of(replace(case, analysis=new, base_analysis=old)) == "cheaper"
    assert verdict_of(replace(case, analysis=new)) == "not_as_written"


@pytest.mark.parametrize(
    ("other", "verdict", "conclusion"),
    [
        (DEARER, "project_dearer", Conclusion.NEUTRAL),
        (CHEAPER, "project_cheaper", Conclusion.SUCCESS),
        (NEW, "project_new", Conclusion.SUCCESS),
        (NEW_CPU, "same", Conclusion.SUCCESS),
        (OtherProject("b", *SMALL, *SMALL), "same", Conclusion.SUCCESS),
        (WRONG, "project_wrong", Conclusion.ACTION_REQUIRED),
        (UNFIT, "project_wrong", Conclusion.ACTION_REQUIRED),
        (OtherProject("b", *LOST, is_new=True), "project_wrong", Conclusion.ACTION_REQUIRED),
        (OtherProject("b", problem="GitHub is away"), "same", Conclusion.SUCCESS),
    ],
)
def test_where_the_project_stays_as_it_is_another_ones_news_is_told(
    other: OtherProject, verdict: str, conclusion: Conclusion
) -> None:
    case = replace(proposal_case(**SAME), projects=ProjectsCase("a", ("a", "b"), (other,)))
    assert verdict_of(case) == verdict
    assert proposal_report(case, None).conclusion is conclusion


def test_what_is_wrong_comes_first_and_then_what_is_dearer() -> None:
    def verdict(*others: OtherProject) -> str:
        return verdict_of(replace(proposal_case(**SAME), projects=ProjectsCase("a", ("a", "b"), others)))

    assert verdict(CHEAPER, NEW, DEARER, WRONG) == "project_wrong"
    assert verdict(CHEAPER, NEW, DEARER) == "project_dearer"
    assert verdict(CHEAPER, NEW) == "project_new"


def test_less_memory_on_the_same_machine_hides_no_dearer_project() -> None:
    own = proposal_case(**SAME, change=change_of(analysis(1024), analysis()))
    assert verdict_of(own) == "same_machine"
    assert verdict_of(replace(own, projects=ProjectsCase("a", ("a", "b"), (DEARER,)))) == "project_dearer"
    assert verdict_of(replace(own, projects=ProjectsCase("a", ("a", "b"), (CHEAPER,)))) == "same_machine"


def test_its_own_news_stay_in_the_heading_and_the_check_tells_both() -> None:
    cheaper = proposal_case(analysis=analysis(1024), ladder=SMALL_LADDER, base_analysis=analysis(), base_ladder=LADDER)
    both = replace(cheaper, projects=ProjectsCase("a", ("a", "b"), (DEARER,)))
    assert verdict_of(both) == "cheaper"
    assert proposal_report(cheaper, None).conclusion is Conclusion.SUCCESS
    assert proposal_report(both, None).conclusion is Conclusion.NEUTRAL
    wrong = proposal_report(replace(cheaper, projects=ProjectsCase("a", ("a", "b"), (WRONG,))), None)
    assert wrong.conclusion is Conclusion.ACTION_REQUIRED
    assert wrong.title.startswith("This PR gets by with less")
    assert wrong.title.endswith("; and b is wrong")
