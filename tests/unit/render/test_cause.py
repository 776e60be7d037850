from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.render.cause import select_cause
from tests.golden.cases import analysis


def test_cause_is_the_changed_finding_behind_the_term_that_moved_most() -> None:
    cause = select_cause(analysis(1024), analysis(4096))
    assert cause is not None
    assert (cause.finding.field, cause.old_value, cause.finding.value) == ("training.sequence_length", "1024", "4096")


def test_no_cause_where_no_finding_changed() -> None:
    assert select_cause(analysis(), analysis()) is None


def test_without_memory_terms_fields_of_the_workload_speak_first() -> None:
    base = replace(analysis(), breakdown=None, findings=())
    noise = Finding("dependencies.requirements", "torch", "imported", Confidence.HIGH, Evidence("a.py", 1))
    model = Finding("model.id", "gpt2", "loaded", Confidence.LOW, Evidence("b.py", 2))
    cause = select_cause(base, replace(base, findings=(noise, model)))
    assert cause is not None
    assert cause.finding is model
    assert cause.old_value is None


def test_the_surest_of_several_findings_of_a_field_counts() -> None:
    sure = Finding("model.id", "gpt2", "loaded", Confidence.HIGH, Evidence("b.py", 2))
    guess = Finding("model.id", "bert", "named", Confidence.LOW, Evidence("c.py", 2))
    base = replace(analysis(), breakdown=None, findings=(sure,))
    assert select_cause(base, replace(base, findings=(guess, sure))) is None
