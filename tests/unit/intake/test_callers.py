from __future__ import annotations

import pytest

from gpu_lol_action.intake.callers import find_callers

USES = "gpu-lol/gpu-lol-action/.github/workflows/bot.yml@v1.0.0"


def one(text: str):
    (caller,) = find_callers({"a.yml": text})
    return caller


@pytest.mark.parametrize(
    ("granted", "permissions"),
    [
        ("permissions: write-all", {"*": "write"}),
        ("permissions: read-all", {"*": "read"}),
        ("permissions: {}", {}),
        ("permissions: {issues: write}", {"issues": "write"}),
        ("", None),
    ],
)
def test_job_takes_what_the_top_grants_unless_it_says_so_itself(granted: str, permissions: object) -> None:
    assert one(f"on: push\n{granted}\njobs: {{a: {{uses: {USES}}}}}").permissions == permissions
    text = f"on: push\n{granted}\njobs: {{a: {{uses: {USES}, permissions: {{checks: write}}}}}}"
    assert one(text).permissions == {"checks": "write"}


@pytest.mark.parametrize(
    ("written", "triggers"),
    [
        ("on: schedule", {"schedule"}),
        ("on: [schedule, issue_comment]", {"schedule", "issue_comment"}),
        ("on: {schedule: [{cron: x}], push: }", {"schedule", "push"}),
        ("name: x", set()),
    ],
)
def test_triggers_are_read_in_each_of_their_forms(written: str, triggers: set[str]) -> None:
    caller = one(f"{written}\njobs: {{a: {{uses: {USES}}}}}")
    assert caller.triggers == triggers
    assert caller.has_schedule == ("schedule" in triggers)


@pytest.mark.parametrize(
    ("written", "hears"),
    [
        ("on: {pull_request_target: {types: [closed, labeled]}}", True),
        ("on: {pull_request_target: {types: labeled}}", True),
        ("on: {pull_request_target: {types: [closed]}}", False),
        ("on: {pull_request_target: }", False),
        ("on: {pull_request: {types: [labeled]}}", False),
        ("on: [pull_request_target]", False),
        ("on: pull_request_target", False),
    ],
)
def test_labels_are_heard_where_they_are_named(written: str, *, hears: bool) -> None:
    assert one(f"{written}\njobs: {{a: {{uses: {USES}}}}}").hears_labels is hears


def test_secrets_are_names_or_all_of_them() -> None:
    assert one(f"jobs: {{a: {{uses: {USES}, secrets: inherit}}}}").secrets == {"inherit"}
    assert one(f"jobs: {{a: {{uses: {USES}, secrets: {{A: x, B: y}}}}}}").secrets == {"A", "B"}


@pytest.mark.parametrize(
    "text", ["", "[", "- a", "jobs: [a]", "jobs: {a: b}", "jobs: {a: {uses: other/x@v1}}", "&a [*a]"]
)
def test_what_calls_nobody_has_no_caller(text: str) -> None:
    assert find_callers({"a.yml": text}) == ()


STEP = "jobs: {a: {permissions: {contents: write}, steps: [{run: x}, {uses: gpu-lol/gpu-lol-action@v1, with: {WITH}}]}}"


@pytest.mark.parametrize(
    ("triggers", "callees"),
    [
        ("pull_request", ["propose"]),
        ("[issue_comment, schedule]", ["bot"]),
        ("[pull_request_target, issue_comment, schedule]", ["propose", "bot"]),
        ("push", []),
    ],
)
def test_the_action_as_a_step_does_what_its_triggers_say(triggers: str, callees: list[str]) -> None:
    text = f"on: {triggers}\n" + STEP.replace("WITH", "runpod-api-key: '${{ secrets.RUNPOD_API_KEY }}'")
    found = find_callers({"a.yml": text})
    assert [caller.callee for caller in found] == callees
    for caller in found:
        assert (caller.ref, caller.is_direct, caller.has_model, caller.called) == ("v1", True, False, "the action")
        assert caller.permissions == {"contents": "write"}
        assert caller.secrets == {"RUNPOD_API_KEY"}


def test_a_language_model_is_seen() -> None:
    text = "on: pull_request\n" + STEP.replace(
        "WITH", "llm-url: 'https://api.example', llm-key: '${{ secrets.LLM_KEY }}'"
    )
    caller = one(text)
    assert caller.has_model
    assert caller.secrets == {"LLM_KEY"}


@pytest.mark.parametrize("steps", ["5", "[5, {uses: 3}]", "{a: 1}", "[{uses: actions/checkout@v4}]"])
def test_other_steps_call_nothing(steps: str) -> None:
    assert find_callers({"a.yml": f"on: pull_request\njobs: {{a: {{steps: {steps}}}}}"}) == ()
