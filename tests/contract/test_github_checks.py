"""Check runs on the stand-in: one of a name per commit, each brought up to date in its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_lol_action.adapters.github_checks import GitHubChecks
from gpu_lol_action.domain.annotation import Annotation, Level
from gpu_lol_action.domain.surfaces import CheckReport, Conclusion
from tests.contract.github_setup import Place, started_place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path) as started:
        yield started


def shown(place: Place) -> list[tuple[str, str, int]]:
    checks = place.hub.repository.record("checks").values()
    return [(check["name"], check["conclusion"], check["output"]["annotations_count"]) for check in checks]


def test_proposal_and_smoke_test_have_a_check_run_each(place: Place) -> None:
    checks = GitHubChecks(place.forge().client)
    proposal = CheckReport(place.head, Conclusion.NEUTRAL, "More memory", "It asks for more.")
    smoke = replace(proposal, conclusion=Conclusion.FAILURE, title="Failed", name="gpu-lol smoke")
    assert checks.report(proposal)
    assert checks.report(smoke)
    assert shown(place) == [("gpu-lol", "neutral", 0), ("gpu-lol smoke", "failure", 0)]
    assert not checks.report(smoke), "nothing changed"
    assert checks.report(replace(smoke, conclusion=Conclusion.SUCCESS))
    assert shown(place) == [("gpu-lol", "neutral", 0), ("gpu-lol smoke", "success", 0)]
    assert place.hub.problems() == []


def test_annotations_of_a_smoke_test_are_taken_as_they_are_made(place: Place) -> None:
    failed = Annotation("tests/test_gpu.py", 7, Level.FAILURE, "test_a failed", "assert 3 == 4")
    nowhere = replace(failed, line=0)
    report = CheckReport(
        place.head, Conclusion.FAILURE, "Failed", "x", annotations=(failed, nowhere), name="gpu-lol smoke"
    )
    assert GitHubChecks(place.forge().client).report(report)
    assert shown(place) == [("gpu-lol smoke", "failure", 2)]
    assert place.hub.problems() == []
