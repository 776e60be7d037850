"""An engine on the trainer's cards: what a card must satisfy while it generates and while the trainer steps."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.estimation.engine_beside import Engine, beside_engine, engine_gib, with_companions
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram import GB, GIB, Method, Sharding, VramQuestion, estimate_vram

found_model = find_model("Qwen/Qwen2.5-7B-Instruct")
assert found_model is not None
QWEN = found_model
TRAINER = VramQuestion(
    QWEN, Method.FULL, sharding=Sharding.FSDP, gpu_count=8, sequence_length=2048, is_checkpointing=True
)
ALONE = estimate_vram(TRAINER)


def test_an_engine_holds_weights_over_its_cards_and_a_groups_cache() -> None:
    whole = engine_gib(QWEN, Engine(0.5), 1024)
    halves = engine_gib(QWEN, Engine(0.5, parts=2), 1024)
    assert whole - 1 == pytest.approx(2 * (halves - 1))
    group = engine_gib(QWEN, Engine(0.5, group=9), 1024) - whole
    # Qwen2.5 7B: 28 layers, 4 key-value heads of 128, two bytes, keys and values: 57,344 bytes a token.
    assert group == pytest.approx(8 * 1024 * 57_344 / GIB, rel=0.01)


def test_one_that_sleeps_asks_for_room_only_while_it_generates() -> None:
    awake = beside_engine(ALONE, TRAINER, Engine(0.5, parts=8, sleeps=False))
    assert awake.expected_gib == pytest.approx(ALONE.expected_gib * 2, rel=0.01)
    asleep = beside_engine(ALONE, TRAINER, Engine(0.5, parts=8))
    assert asleep.expected_gib < awake.expected_gib


def test_what_the_trainer_leaves_on_the_card_must_fit_beside_it() -> None:
    resident = sum(t.gib for t in ALONE.terms if t.name in {"weights", "optimizer", "overhead"})
    found = beside_engine(ALONE, TRAINER, Engine(0.9, parts=8))
    assert found.expected_gib == pytest.approx(resident / 0.1, rel=0.01)
    moved = beside_engine(ALONE, TRAINER, Engine(0.9, parts=8, is_trainer_moved=True))
    assert moved.expected_gib < found.expected_gib


def test_its_weights_must_fit_into_its_share() -> None:
    found = beside_engine(ALONE, TRAINER, Engine(0.2, is_trainer_moved=True))
    assert found.expected_gib * 0.2 >= QWEN.parameters_b * 2 * GB / GIB


@given(st.floats(0.05, 1.0), st.integers(1, 8), st.booleans(), st.booleans())
def test_an_engine_never_makes_a_card_smaller(share: float, parts: int, is_asleep: bool, is_moved: bool) -> None:
    engine = Engine(share, parts=parts, sleeps=is_asleep, is_trainer_moved=is_moved)
    found = beside_engine(ALONE, TRAINER, engine)
    assert found.required_gib >= ALONE.required_gib
    assert found.low_gib <= found.expected_gib <= found.high_gib


def test_a_critic_has_states_and_a_reward_model_weights() -> None:
    states = sum(t.gib for t in ALONE.terms if t.name in {"weights", "optimizer"})
    weights = sum(t.gib for t in ALONE.terms if t.name == "weights")
    half = dataclasses.replace(QWEN, name="half", parameters_b=QWEN.parameters_b / 2)
    found = with_companions(ALONE, TRAINER, QWEN, [("reward model", half)])
    terms = {t.name: t.gib for t in found.terms}
    assert terms["critic"] == pytest.approx(states, abs=0.02)
    assert terms["reward model"] == pytest.approx(weights / 2, abs=0.02)
    assert with_companions(ALONE, TRAINER, None, []) is ALONE
