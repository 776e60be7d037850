"""The published schema and the reader take and refuse the same files, but for the two rules that no schema can say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpu_lol_action.domain import policy_keys
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.policy_keys import KEYS, Kind
from gpu_lol_action.domain.policy_schema import build_policy_schema, policy_schema_text
from gpu_lol_action.domain.policy_text import explain, notes, write_policy
from gpu_lol_action.domain.policy_yaml import parse_policy, read_policy
from gpu_lol_action.errors import SpecError

ROOT = Path(__file__).parents[3]
VALIDATOR = jsonschema.Draft202012Validator(build_policy_schema())
BEYOND_A_SCHEMA = ("is no duration up to 30 days", "must lie between")

WORD = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
NUMBER = st.one_of(
    st.integers(-5, 1200), st.floats(-2, 2000, allow_nan=False), st.sampled_from([0, 1, 3.5, 0.01, 720, 721, 100_000])
)
ANYTHING = st.one_of(WORD, NUMBER, st.booleans(), st.none(), st.lists(st.one_of(WORD, NUMBER), max_size=3))
LIKELY: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.SWITCH: st.booleans(),
    Kind.USD: st.one_of(NUMBER, st.from_regex(r"\A\$?[0-9]{1,4}(\.[0-9]{1,3})?\Z")),
    Kind.DURATION: st.one_of(
        NUMBER,
        st.from_regex(r"\A[0-9]{1,4}(\.[0-9])? ?(h|m|d|min|hours|Days|HRS|weeks)\Z"),
        st.from_regex(r"\A[0-9]{1,2}h[0-9]{1,2}m\Z"),
    ),
    Kind.COUNT: st.one_of(NUMBER, st.from_regex(r"\A[0-9]{1,5}\Z")),
    Kind.ROLES: st.lists(st.sampled_from([*policy_keys.ROLES, "owner", "Admin"]), max_size=4),
    Kind.CLOUDS: st.lists(st.sampled_from([*policy_keys.CLOUDS, "RunPod"]), max_size=4),
    Kind.USERS: st.lists(st.from_regex(r"\A@?[a-z]{1,3}-{0,2}[a-z0-9]{1,38}\Z"), max_size=3),
    Kind.TEAMS: st.lists(st.from_regex(r"\A[a-z_]{1,3}[/-]?[a-z0-9]{0,5}\Z"), max_size=7),
    Kind.MODE: st.sampled_from(["comment", "suggest", "commit", "Commit", "off"]),
    Kind.DETAILS: st.sampled_from(["plain", "encrypted", "Plain", "hidden"]),
    Kind.LABEL: st.one_of(st.just(""), st.from_regex(r"\A[a-zA-Z0-9 -]{1,3}[/:.+_ @-]?[a-z0-9 ]{0,50}\Z")),
    Kind.FOLDERS: st.lists(st.from_regex(r"\A[a-z./]{1,3}[/ ._-]{0,3}[a-z0-9/ ]{0,9}\Z"), max_size=3),
    Kind.IMAGES: st.lists(st.from_regex(r"\A[a-zA-Z$*]{1,5}[/:*@ ]?[a-z0-9*.]{0,9}\Z"), max_size=3),
}


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a file of a few keys, most of them with values that they could have."""
    found: dict[str, Any] = {}
    for key in draw(st.lists(st.sampled_from(KEYS), max_size=4)):
        value = draw(st.one_of(LIKELY[key.kind], LIKELY[key.kind], ANYTHING))
        section, _, name = key.name.rpartition(".")
        if section:
            inner = found.setdefault(section, {})
            inner[name] = value
        else:
            found[name] = value
    if draw(st.integers(0, 9)) == 0:
        found[draw(WORD)] = draw(ANYTHING)
    return found


@settings(max_examples=200, deadline=None)
@given(files())
@example({"lease": {"max": "45 min", "default": "0.5"}})
@example({"lease": {"default": "0h"}})
@example({"limits": {"offers_tried": 3.0}})
@example({"limits": {"price_usd_per_hour": 1e-5}})
@example({"users": [123], "teams": None})
@example({"smoke": {"label": "GPU: ready/for +1"}})
@example({"smoke": {"label": ""}})
@example({"smoke": {"label": None}})
@example({"smoke": {"label": "on"}})
@example({"smoke": {"label": "x" * 51}})
@example({"analysis": {"folders": ["research/llm 2/.hidden"]}})
@example({"analysis": {"folders": ["a/" * 99 + "aa"]}})
@example({"analysis": {"folders": ["a/" * 100 + "a"]}})
@example({"analysis": {"folders": ["a/../b"]}})
@example({"analysis": {"folders": ["a/.."]}})
@example({"analysis": {"folders": [".."]}})
@example({"analysis": {"folders": ["/"]}})
@example({"analysis": {"folders": ["a//b"]}})
@example({"analysis": {"folders": ["a "]}})
@example({"analysis": {"folders": ["2026"]}})
def test_schema_and_reader_agree_on_generated_files(content: dict[str, Any]) -> None:
    text = yaml.safe_dump(content)
    assert yaml.safe_load(text) == content
    said = [error.message for error in VALIDATOR.iter_errors(content)]
    refusal = refusal_of(text)
    if refusal is None:
        assert said == [], f"the reader takes {text!r}"
    else:
        is_beyond = any(words in refusal for words in BEYOND_A_SCHEMA)
        assert said or is_beyond, f"the reader refuses {text!r}: {refusal}"


def refusal_of(text: str) -> str | None:
    try:
        parse_policy(text)
    except SpecError as error:
        return error.explanation.what
    return None


def test_published_schema_is_what_the_key_table_gives() -> None:
    jsonschema.Draft202012Validator.check_schema(build_policy_schema())
    assert (ROOT / "docs/gpu-lol-policy.schema.json").read_text(encoding="utf-8") == policy_schema_text()


def test_every_key_of_the_table_sets_a_field_of_its_own() -> None:
    assert len({key.field for key in KEYS}) == len({key.name for key in KEYS}) == len(KEYS)
    for key in KEYS:
        key.value(Policy())


@settings(max_examples=200, deadline=None)
@given(files())
def test_a_policy_written_out_reads_as_the_same_policy(content: dict[str, Any]) -> None:
    try:
        policy = parse_policy(yaml.safe_dump(content))
    except SpecError:
        return
    again = parse_policy(write_policy(policy))
    assert write_policy(again) == write_policy(policy)
    assert (again.users, again.images, again.roles) == (policy.users, policy.images, policy.roles)


def test_each_value_knows_its_line_or_that_it_is_a_default() -> None:
    reading = read_policy("roles: [admin]\n\nlimits:\n  # dear\n  price_usd_per_hour: 9\n")
    origins = {each.name: (each.value, each.line) for each in explain(reading)}
    assert origins["roles"] == ("[admin]", 1)
    assert origins["limits.price_usd_per_hour"] == ("9", 5)
    assert origins["limits.offers_tried"] == ("4", None)
    assert sum(line is not None for _, line in origins.values()) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing is ever confirmed"),
        ("enabled: false", "switched off"),
        ("roles: []", "Nobody may command"),
        ("clouds: [vast]", "API key"),
        ("forks: {may_launch: true}", "forks"),
        ("sweep: {required: false}", "nothing sweeps"),
        ("smoke: {label: gpu-smoke, forks: false}", "gpu-smoke starts nothing"),
    ],
)
def test_what_values_mean_together_is_said(text: str, words: str) -> None:
    assert any(words in note for note in notes(parse_policy(text)))


def test_a_policy_under_which_things_are_confirmed_needs_no_note() -> None:
    assert notes(parse_policy("limits: {price_usd_per_hour: 9}")) == ()
    for alone in ("analysis: {folders: [a]}\nproposal: {mode: commit}\n", "analysis: {folders: [a, b]}\n"):
        assert notes(parse_policy(f"{alone}limits: {{price_usd_per_hour: 9}}")) == ()
