from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal

import pytest

from gpu_lol_action.adapters.skypilot_answers import (
    classify_problem,
    clean_line,
    describe_progress,
    find_answer,
    parse_machine,
)

NONE_LEFT = (
    "There are no longer any instances available with the requested specifications. Please refresh and try again."
)
REGION_FAILED = {"types": ["ResourcesUnavailableError"], "text": "Failed to acquire resources in all zones in CA"}
UNAVAILABLE = {
    "types": ["ResourcesUnavailableError", "Exception"],
    "text": "Failed to provision all possible launchable resources.",
}


def failed(regions):
    return {**UNAVAILABLE, "history": [REGION_FAILED] * regions}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (NONE_LEFT, "no_capacity"),
        ("instance-operations/launch/insufficient-capacity", "no_capacity"),
        ("Your account balance is too low to rent this pod", "no_balance"),
        ("Please add funds to continue", "no_balance"),
        ("instance-operations/launch/quota-exceeded", "quota"),
        ("You have exceeded the limit of GPUs", "quota"),
        ("Unauthorized request, please check your API key.", "credentials"),
        ("Something went wrong. Please try again later or contact support.", "failed"),
    ],
)
def test_clouds_own_words_decide(answer, kind):
    found = classify_problem(failed(2), [answer, answer])
    assert found.kind == kind
    assert found.detail == f"{answer} (in each of 2 regions)"
    assert found.is_certain == (kind != "failed")


# As each cloud's own documents and SDKs word them, none of them seen from a real account: docs/clouds.md says so.
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        # RunPod
        ("You do not have enough balance to rent this pod.", "no_balance"),
        ("There are not enough free GPUs on the host machine to start this pod.", "no_capacity"),
        ("This machine does not have the resources to deploy your pod. Please try a different machine", "no_capacity"),
        ("You've reached your spending limit of $80 per hour.", "quota"),
        # Lambda
        ("global/invalid-api-key: API key was invalid, expired, or deleted.", "credentials"),
        ("global/account-inactive: Your account is inactive.", "no_balance"),
        ("global/quota-exceeded: Quota exceeded.", "quota"),
        (
            "instance-operations/launch/insufficient-capacity: Not enough capacity to fulfill launch request.",
            "no_capacity",
        ),
        ("Your API requests are being rate limited.", "failed"),
        # Vast
        ("400 Client Error: insufficient_credit: Your account lacks credit; see the billing page.", "no_balance"),
        ("401 Client Error: auth_error: Invalid user key", "credentials"),
        ("Failed to create instances, could not find an offer that satisfies the requirements", "no_capacity"),
        ("404: no_such_ask: Instance type by id 123 is not available.", "no_capacity"),
        # AWS
        ("An error occurred (InsufficientInstanceCapacity) when calling the RunInstances operation", "no_capacity"),
        ("An error occurred (VcpuLimitExceeded): You have requested more vCPU capacity than your limit of 0", "quota"),
        ("An error occurred (MaxSpotInstanceCountExceeded): Max spot instance count exceeded", "quota"),
        ("An error occurred (SpotMaxPriceTooLow): Your Spot request price is lower than the minimum", "no_capacity"),
        ("An error occurred (UnauthorizedOperation): You are not authorized to perform this operation.", "credentials"),
        (
            "An error occurred (AuthFailure): AWS was not able to validate the provided access credentials",
            "credentials",
        ),
        ("An error occurred (RequestLimitExceeded): Request limit exceeded.", "failed"),
        # GCP
        ("ZONE_RESOURCE_POOL_EXHAUSTED: The zone does not have enough resources available", "no_capacity"),
        ("<HttpError 403: Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 0.0 globally.>", "quota"),
        ("<HttpError 403: Location us-east1-d is not found or access is unauthorized.>", "no_capacity"),
        ("IAM_PERMISSION_DENIED: Required 'compute.instances.create' permission", "credentials"),
        ("The project to be billed is associated with a closed billing account.", "no_balance"),
        ("<HttpError 403 when requesting the instance>", "credentials"),
        ("<HttpError 403: Rate Limit Exceeded>", "failed"),
        # Azure
        ("(SkuNotAvailable) The requested VM size is currently not available in location 'eastus'.", "no_capacity"),
        (
            "(AllocationFailed) Allocation failed. We do not have sufficient capacity for the requested VM size",
            "no_capacity",
        ),
        ("(QuotaExceeded) Operation could not be completed: exceeding approved standardNCFamily Cores quota", "quota"),
        ("(AuthorizationFailed) The client does not have authorization to perform this action", "credentials"),
        ("(ReadOnlyDisabledSubscription) The subscription is disabled", "no_balance"),
        # Nebius
        ("StatusCode.RESOURCE_EXHAUSTED: NotEnoughResources in project", "no_capacity"),
        ("StatusCode.RESOURCE_EXHAUSTED: QuotaFailure: compute.instance.gpu.h100", "quota"),
        ("StatusCode.UNAUTHENTICATED: token is not valid", "credentials"),
        # SkyPilot itself
        ("Failed to provision on cloud AWS due to invalid cloud credentials: expired", "credentials"),
    ],
)
def test_each_clouds_refusals_are_told_apart(answer, kind):
    assert classify_problem(failed(2), [answer, answer]).kind == kind


def test_empty_account_explains_more_than_missing_capacity():
    assert classify_problem(failed(2), [NONE_LEFT, "Insufficient funds"]).kind == "no_balance"


def test_region_that_failed_for_an_unknown_reason_may_have_left_a_machine():
    assert not classify_problem(failed(2), [NONE_LEFT, "socket closed"]).is_certain
    assert not classify_problem(failed(2), [NONE_LEFT]).is_certain


def test_failure_without_any_answer_is_not_taken_for_missing_capacity():
    found = classify_problem(failed(1))
    assert (found.kind, found.is_certain) == ("failed", False)


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        ({"types": ["NoCloudAccessError"], "text": "Cloud access is not set up. Run: sky check"}, "credentials"),
        ({**UNAVAILABLE, "text": "Catalog does not contain any instances satisfying the request\nHint"}, "invalid"),
        ({"types": ["InvalidSkyPilotConfigError", "ValueError"], "text": "Invalid task YAML"}, "invalid"),
        ({"types": ["ValueError"], "text": "bad", "is_asked": False}, "invalid"),
    ],
)
def test_what_never_reached_a_cloud_is_certain(problem, kind):
    found = classify_problem(problem)
    assert (found.kind, found.is_certain) == (kind, True)
    assert "\n" not in found.detail


def test_unknown_crash_is_a_failure_that_may_have_left_a_machine():
    found = classify_problem({"types": ["RuntimeError"], "text": "ray did not start"})
    assert (found.kind, found.detail, found.is_certain) == ("failed", "ray did not start", False)


@pytest.mark.parametrize(
    "problem",
    [
        {"types": ["JSONDecodeError", "ValueError"], "text": "Expecting value", "is_asked": True},
        {"types": ["TypeError"], "text": "'NoneType' is not iterable"},
        {"types": ["ResourcesMismatchError"], "text": "a cluster of that name has other resources"},
        {"types": ["NotSupportedError"], "text": "no", "history": [REGION_FAILED]},
    ],
)
def test_what_breaks_after_the_order_may_have_left_a_machine(problem):
    assert not classify_problem(problem).is_certain


@pytest.mark.parametrize("words", ["503 Service Unavailable", "Service Temporarily Unavailable"])
def test_a_gateway_that_answers_for_the_cloud_is_no_refusal(words):
    assert not classify_problem(failed(1), [words]).is_certain


def test_problem_of_any_shape_is_survived():
    for problem in ({}, {"types": None, "history": "x", "text": None}, {"history": [1, {"text": 2}]}):
        assert classify_problem(problem).kind == "failed"


def test_detail_is_short_and_holds_no_secret():
    found = classify_problem({"types": ["RuntimeError"], "text": "key rpa_SECRET " + "x" * 500}, secrets=["rpa_SECRET"])
    assert len(found.detail) == 200
    assert "rpa_SECRET" not in found.detail


def test_line_is_safe_to_print():
    assert clean_line("\x1b[31mred\x1b[0m\u202e \x07a\tb\r") == "red a b"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("\x1b[0m⚙︎ Launching on RunPod CA\x1b[0m (CA-MTL-1).", "asking RunPod CA (CA-MTL-1) for the machine"),
        (
            "\x1b[2m└── \x1b[0m\x1b[2mInstance is up.\x1b[0m",
            "the machine answers on SSH; setting up SkyPilot's runtime",
        ),
        ("Considered resources (1 node):", None),
        ("", None),
    ],
)
def test_lines_become_words_for_who_waits(line, words):
    assert describe_progress(line) == words


def test_answer_is_found_in_the_stream():
    line = f"\x1b[2mW 11-20 10:32:53.586 PID=32382 instance.py:120] run_instances error: {NONE_LEFT}"
    assert find_answer(line) == NONE_LEFT
    assert find_answer("W instance.py:120] Full traceback:") is None
    aws = "An error occurred (InsufficientInstanceCapacity) when calling the RunInstances operation: none"
    assert find_answer(f"E: {aws}") == aws
    azure = "[azure.core.exceptions.HttpResponseError] (SkuNotAvailable) none in 'eastus'"
    assert find_answer(f"E instance.py:531] Failed to create instances: {azure}") == azure


def test_machine_is_read_with_time_and_price():
    listed = {
        "name": "gl-x-1-c1c1c1c1-head",
        "status": "RUNNING",
        "id": "p1",
        "price": 0.44,
        "since_text": "Rented by User: Fri Jul 12 2024 15:14:40 GMT-0400 (Eastern Daylight Time)",
    }
    machine = parse_machine("runpod", listed)
    assert (machine.name_on_cloud, machine.status, machine.machine_id) == ("gl-x-1-c1c1c1c1", "RUNNING", "p1")
    assert machine.created_at == datetime(2024, 7, 12, 19, 14, 40, tzinfo=timezone.utc)
    assert machine.price_usd_per_hour == Decimal("0.44")


@pytest.mark.parametrize(
    "since", ["Resumed by User: Fri Jul 12 2024", "Rented by User: Fri Foo 99 2024 15:14:40 GMT-0400", None, 5]
)
def test_time_that_is_not_told_is_not_invented(since):
    machine = parse_machine("runpod", {"name": "x", "since_text": since, "price": "NaN"})
    assert machine.created_at is None
    assert machine.price_usd_per_hour is None
    assert machine.status == "UNKNOWN"
