from __future__ import annotations

from gpu_lol_action.domain.environment import CheckStatus
from gpu_lol_action.launch.probe_facts import version_of
from gpu_lol_action.launch.probe_packages import judge

PYTHON = version_of("3.11.2")


def test_beside_a_stand_in_for_torch_what_needs_the_rest_of_it_is_named_and_not_failed() -> None:
    facts = {"found": {"peft": {"version": "0.21.2", "is_imported": False, "import_error": "no name 'nn' in 'torch'"}}}
    beside = judge(facts, ["peft"], PYTHON, is_torch_stand_in=True).checks[0]
    assert beside.status is CheckStatus.PASSED
    assert beside.is_stand_in
    assert "peft" in beside.sentence
    real = judge(facts, ["peft"], PYTHON).checks[0]
    assert real.status is CheckStatus.FAILED


def test_a_marker_that_cannot_be_decided_asks_for_its_package() -> None:
    facts = {"found": {"numpy": {"version": "2.0.0", "is_imported": True}}}
    (check,) = judge(facts, ['numpy==2.0.0; implementation_name === "pypy"'], PYTHON).checks
    assert check.status is CheckStatus.PASSED
