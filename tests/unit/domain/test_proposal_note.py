from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.corrected_spec import correct_spec
from gpu_lol_action.domain.corrections import Correction, Corrections
from gpu_lol_action.domain.kept_answers import KeptAnswers
from gpu_lol_action.domain.proposal_note import ProposalNote, UnreadableNote, note_from_json, note_to_json
from gpu_lol_action.domain.spec import EnvironmentSpec, Hardware, Meta, WorkloadType

CPU = EnvironmentSpec(Hardware(gpu_count=0), meta=Meta(workload_type=WorkloadType.CPU_ONLY))
GPU = EnvironmentSpec(Hardware("RTX4090", 1, 22, alternatives=("L4",)), meta=Meta(workload_type=WorkloadType.TRAINING))

CORRECTIONS = st.lists(
    st.one_of(
        st.builds(Correction, st.just("vram"), st.one_of(st.none(), st.integers(1, 1024))),
        st.builds(Correction, st.just("count"), st.one_of(st.none(), st.integers(0, 16))),
        st.builds(Correction, st.just("gpu"), st.sampled_from([None, "A40", "A100-80GB"])),
        st.builds(Correction, st.just("image"), st.sampled_from([None, "acme/cuda:1"])),
    ),
    max_size=8,
)


@given(CORRECTIONS, st.sampled_from(["", "grace"]))
def test_a_note_is_read_as_it_was_written(corrections: list[Correction], muted_by: str) -> None:
    note = ProposalNote(muted_by=muted_by).corrected(corrections, "ada")
    assert note_from_json(note_to_json(note)) == note
    assert {by for _, by in note.words} <= {"ada"}


def test_words_say_what_holds_and_who_said_it_last() -> None:
    note = ProposalNote().corrected((Correction("vram", 48), Correction("count", 2)), "ada")
    note = note.corrected((Correction("vram", 70),), "grace").corrected((Correction("count", None),), "ada")
    assert note.words == (("vram=70", "grace"),)


@pytest.mark.parametrize(
    "document",
    [
        "",
        "[]",
        "{}",
        '{"version": 2}',
        *(
            json.dumps({"version": 1, "muted_by": "", "set": {key: {"value": value, "by": "ada"}}})
            for key, value in [
                ("vram", "48"), ("vram", 0), ("vram", 10**9), ("vram", True), ("count", 99), ("gpu", "GTX9"), ("gpu", 3),
                ("image", ""), ("image", "a\nb"), ("image", "x" * 301),
            ]
        ),
        json.dumps({"version": 1, "muted_by": 3, "set": {}}),
        json.dumps({"version": 1, "muted_by": "", "set": {"vram": {"value": 48, "by": "a\u202eb"}}}),
        "[" * 100_000,
    ],
)  # fmt: skip
def test_what_a_stranger_may_have_written_is_refused(document: str) -> None:
    with pytest.raises(UnreadableNote):
        note_from_json(document)


def test_other_memory_opens_the_choice_of_cards() -> None:
    hardware = correct_spec(GPU, Corrections(vram_gib=48)).hardware
    assert (hardware.gpu_type, hardware.vram_required_gb, hardware.alternatives) == (None, 48, ())


def test_a_card_is_taken_as_ordered_even_where_the_code_wants_more() -> None:
    hardware = correct_spec(GPU, Corrections(gpu="RTX4090", vram_gib=48)).hardware
    assert hardware.gpu_type == "RTX4090"
    assert hardware.vram_required_gb == 24


def test_a_cpu_program_gets_a_gpu_where_one_is_asked_for_and_loses_it_again() -> None:
    asked = correct_spec(CPU, Corrections(vram_gib=16))
    assert asked.needs_gpu
    assert asked.hardware.gpu_count == 1
    assert not correct_spec(GPU, Corrections(gpu_count=0)).needs_gpu
    assert not correct_spec(CPU, Corrections(image="acme/cuda:1")).needs_gpu


ANSWERS = KeptAnswers("ab" * 20, {"0f" * 32: '{"vram_required_gb": 48}', "1e" * 32: None}, "some-model")


def test_answers_are_read_as_they_were_written_and_outlive_what_people_set() -> None:
    note = ProposalNote(answers=ANSWERS).corrected((Correction("vram", 48),), "ada")
    assert note_from_json(note_to_json(note)) == note
    assert note.answers == ANSWERS
    assert note.answers.at("ab" * 20) == ANSWERS
    assert note.answers.at("cd" * 20) == KeptAnswers("cd" * 20)


@pytest.mark.parametrize(
    "answers",
    [
        None,
        [],
        "x",
        {},
        {"head": "ab" * 20},
        {"head": 3, "given": {}},
        {"head": "main", "given": {"0f" * 32: None}},
        {"head": "ab" * 20, "given": [["0f" * 32, None]]},
        {"head": "ab" * 20, "given": {"short": None}},
        {"head": "ab" * 20, "given": {"0f" * 32: None}, "model": 3},
        {"head": "ab" * 20, "given": {"0f" * 32: None}, "model": "x" * 201},
        {"head": "ab" * 20, "given": {"0f" * 32: 48}},
        {"head": "ab" * 20, "given": {"0f" * 32: "x" * 2001}},
        {"head": "ab" * 20, "given": {f"{place:064x}": None for place in range(7)}},
    ],
)
def test_answers_that_cannot_be_read_are_asked_for_anew_and_take_nothing_else_with_them(answers: object) -> None:
    document = json.loads(note_to_json(ProposalNote().corrected((Correction("vram", 48),), "ada")))
    note = note_from_json(json.dumps({**document, "answers": answers}))
    assert note.answers == KeptAnswers()
    assert note.words == (("vram=48", "ada"),)
