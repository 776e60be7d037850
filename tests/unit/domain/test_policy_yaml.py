from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.policy_yaml import parse_policy
from gpu_lol_action.errors import SpecError


@pytest.mark.parametrize("text", [None, "", "# nothing\n"])
def test_no_file_means_the_defaults(text: str | None) -> None:
    assert parse_policy(text) == Policy()


def test_every_key_is_read() -> None:
    policy = parse_policy(
        """
enabled: false
roles: [maintain, admin]
clouds: [lambda]
limits: {price_usd_per_hour: 1.50, confirm_above_usd_per_hour: $2, environments_per_person: 1,
         environments_per_repository: 3, offers_tried: 2}
lease: {default: 1h, max: 3h, min: 10m, idle: 30m}
budget: {month_usd: 20}
analysis: {hub: true, llm_for_forks: true}
forks: {may_launch: true}
sweep: {required: false}
validation: {teardown_on_failure: false}
"""
    )
    assert policy == Policy(
        is_enabled=False,
        roles=("maintain", "admin"),
        clouds=("lambda",),
        max_price_usd_per_hour=Decimal("1.50"),
        confirm_above_usd_per_hour=Decimal(2),
        environments_per_person=1,
        environments_per_repository=3,
        max_offers_tried=2,
        lease=timedelta(hours=1),
        max_lease=timedelta(hours=3),
        min_lease=timedelta(minutes=10),
        idle_end=timedelta(minutes=30),
        month_usd=Decimal(20),
        asks_hub=True,
        may_forks_ask_llm=True,
        may_forks_launch=True,
        requires_recent_sweep=False,
        is_teardown_on_failed_validation=False,
    )


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("enabled: true\nlimit: {}\n", 2, "limits"),
        ("budget:\n  month: 20\n", 2, "month_usd"),
        ("clouds: [runpood]\n", 1, "runpod"),
        ("roles: [owner]\n", 1, "Known"),
        ("enabled: 'no'\n", 1, ""),
        ("budget: {month_usd: lots}\n", 1, "3.50"),
        ("budget: {month_usd: .nan}\n", 1, "3.50"),
        ("budget: {month_usd: -1}\n", 1, "3.50"),
        ("lease: {default: soon}\n", 1, "2h"),
        ("lease: {default: 20h}\n", 1, ""),
        ("limits: {offers_tried: 1e9}\n", 1, ""),
        ("- a\n", 1, ""),
        ("a: &x [1]\nb: *x\n", 2, ""),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(text: str, line: int, hint: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_policy(text)
    assert caught.value.line == line
    assert hint in caught.value.explanation.fix
