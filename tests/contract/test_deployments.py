"""An environment as a deployment on the stand-in: one GitHub environment, found again by another run, gone at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gpu_lol_action.adapters.github_deployments import GitHubDeployments
from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, Requester, State
from gpu_lol_action.domain.surfaces import DeploymentState
from gpu_lol_action.errors import OperatorError
from gpu_lol_action.rehearsal.github_setting import BOT, BOT_PERMISSIONS
from tests.contract.github_setup import START, Place, started_place

RUN = "https://github.com/acme/llm-lab/actions/runs/7"
COMMENT = "https://github.com/acme/llm-lab/pull/1#issuecomment-5"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path) as started:
        yield started


def record(place: Place, **changes: Any) -> EnvironmentRecord:
    made = EnvironmentRecord(
        name="gl-abc-1",
        state=State.CLAIMED,
        repository="acme/llm-lab",
        repository_id=1,
        pull_request=place.number,
        profile="",
        sha=place.head,
        requester=Requester("ada", 7),
        run_id="7",
        claimed_at=START,
        lease=Lease(START, START + timedelta(hours=2)),
        updated_at=START,
        user_hash="c0ffee00",
    )
    return replace(made, **changes)


def statuses(place: Place) -> list[tuple[str, str, str]]:
    kept = place.hub.repository.record("deployment_statuses")
    return [(each["state"], each["log_url"], each["environment_url"]) for _, each in sorted(kept.items())]


def test_a_claim_is_a_transient_deployment_from_its_beginning_to_its_end(place: Place) -> None:
    claim = record(place)
    here = GitHubDeployments(place.forge().client)
    here.begin(claim)
    ready = replace(claim, state=State.READY, accelerator="A40", accelerator_count=1)
    here.move(ready, DeploymentState.SUCCESS, RUN, COMMENT)
    # Another run, days later, knows the record alone.
    GitHubDeployments(place.forge().client).move(
        replace(ready, state=State.CLOSED, closed_at=START), DeploymentState.INACTIVE, f"{RUN}8", None
    )
    (deployment,) = place.hub.repository.record("deployments").values()
    assert deployment["environment"] == "gpu-lol"
    assert deployment["transient_environment"] is True
    assert deployment["production_environment"] is False
    assert deployment["sha"] == place.head
    assert statuses(place) == [
        ("success", RUN, COMMENT),
        ("inactive", f"{RUN}8", ""),
    ]
    assert place.hub.problems() == []


def test_each_claim_of_a_name_has_a_deployment_of_its_own(place: Place) -> None:
    deployments = GitHubDeployments(place.forge().client)
    deployments.begin(record(place))
    deployments.begin(record(place, run_id="8"))
    deployments.move(record(place), DeploymentState.INACTIVE, None, None)
    first, second = place.hub.repository.record("deployments").values()
    moved = [each["deployment_url"] for each in place.hub.repository.record("deployment_statuses").values()]
    assert moved == [first["url"]]
    assert second["url"] != first["url"]


def test_a_machine_that_was_never_shown_is_left_alone(place: Place) -> None:
    GitHubDeployments(place.forge().client).move(record(place), DeploymentState.INACTIVE, None, None)
    assert statuses(place) == []


def test_without_the_permission_it_says_so(place: Place) -> None:
    token = place.hub.add_token(BOT, {**BOT_PERMISSIONS, "deployments": "read"})
    with pytest.raises(OperatorError) as raised:
        GitHubDeployments(place.forge(token).client).begin(record(place))
    assert raised.value.reason_code == "github_permission_missing"
