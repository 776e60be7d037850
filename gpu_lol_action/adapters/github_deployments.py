"""Transient deployments under the one GitHub environment `gpu-lol`: a view of what runs, which can be rebuilt."""

from __future__ import annotations

from typing import Any

from gpu_lol_action.adapters.github import Ask, GitHubClient
from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.surfaces import DeploymentState

ENVIRONMENT = "gpu-lol"
"""One for all pull requests: a workflow's token may make GitHub environments and not delete them."""
_MAX_DESCRIPTION = 140


class GitHubDeployments:
    """The deployments of environments. Needs `deployments: write`."""

    def __init__(self, client: GitHubClient) -> None:
        """Ask nothing yet."""
        self._client = client
        self._ids: dict[str, int] = {}

    def begin(self, record: EnvironmentRecord) -> None:
        """Make the deployment of a claim; GitHub calls it pending until it is moved. Raises OperatorError where it may not."""
        body = {
            "ref": record.sha,
            "task": _task(record),
            "environment": ENVIRONMENT,
            "description": f"{record.name} for {record.requester.login}"[:_MAX_DESCRIPTION],
            "transient_environment": True,
            "production_environment": False,
            # Else GitHub refuses while checks are pending, or merges the default branch into the head.
            "required_contexts": [],
            "auto_merge": False,
            "payload": {"name": record.name, "run_id": record.run_id},
        }
        made = self._client.ask(Ask("POST", "deployments", body=body))
        self._ids[_task(record)] = int(made.body["id"])

    def move(
        self, record: EnvironmentRecord, state: DeploymentState, log_url: str | None, environment_url: str | None
    ) -> None:
        """Give the claim's deployment another state; nothing where there is none."""
        deployment_id = self._ids.get(_task(record)) or self._find(record)
        if deployment_id is None:
            return
        body: dict[str, Any] = {"state": state.value, "auto_inactive": False, "description": _words(record, state)}
        if log_url:
            body["log_url"] = log_url
        if environment_url:
            body["environment_url"] = environment_url
        path, values = "deployments/{deployment_id}/statuses", {"deployment_id": deployment_id}
        # The same state twice says nothing new.
        self._client.ask(Ask("POST", path, values, body=body, is_repeatable=True))

    def _find(self, record: EnvironmentRecord) -> int | None:
        found = self._client.get("deployments", environment=ENVIRONMENT, task=_task(record), sha=record.sha, per_page=1)
        if not found:
            return None
        self._ids[_task(record)] = int(found[0]["id"])
        return self._ids[_task(record)]


def _task(record: EnvironmentRecord) -> str:
    """Return what makes a claim's deployment its own: a name is claimed again after its end."""
    return f"gpu-lol:{record.name}:{record.run_id}"


def _words(record: EnvironmentRecord, state: DeploymentState) -> str:
    if state is DeploymentState.SUCCESS and record.accelerator:
        return f"{record.accelerator_count} x {record.accelerator} until {record.lease.expires_at:%H:%M} UTC"[:140]
    if state is DeploymentState.INACTIVE:
        return f"torn down at {record.closed_at:%H:%M} UTC" if record.closed_at else "torn down"
    return str(state.value).replace("_", " ")
