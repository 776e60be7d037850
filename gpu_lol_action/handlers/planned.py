"""What a launch is planned from, and what that comes to: a plan past every gate, one that waits for a second person, what runs already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease
from gpu_lol_action.domain.ledger import Survey
from gpu_lol_action.domain.market import Template
from gpu_lol_action.domain.offer import Candidate, Ladder
from gpu_lol_action.domain.request import Deny
from gpu_lol_action.domain.rescue import Rescue
from gpu_lol_action.domain.spec import EnvironmentSpec
from gpu_lol_action.errors import UserError
from gpu_lol_action.handlers.templates import RUNPOD
from gpu_lol_action.launch.setup import SetupRequest
from gpu_lol_action.launch.task import TaskRequest, build_task
from gpu_lol_action.pricing.budget import WorstCase


@dataclass(frozen=True, slots=True)
class AlreadyRunning:
    """The environment that was asked for exists: it is shown, not rented twice.

    ``another`` is the project that would be meant today, where the machine is of another one.
    """

    record: EnvironmentRecord
    another: str = ""


@dataclass(frozen=True, slots=True)
class AwaitsConfirmation:
    """A launch that passed every gate but the last: a second person has to agree to its price."""

    denial: Deny
    best: Candidate
    plan: UpPlan


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a command settles of a launch; ``lease`` None is the policy's.

    ``called`` tells its machine from the others of the pull request, ``profile`` is the spec's; both are empty for the default one.
    ``gpu``, ``gpu_count`` and ``image`` stand over the spec's.
    """

    called: str
    profile: str = ""
    lease: timedelta | None = None
    gpu: str | None = None
    gpu_count: int | None = None
    image: str | None = None


@dataclass(frozen=True, slots=True)
class UpPlan:
    """A launch that passed every gate; ``survey`` is the ledger that it was held against."""

    name: str
    sha: str
    spec: EnvironmentSpec
    ladder: Ladder
    lease: timedelta
    worst_case: WorstCase
    month_usd: Decimal
    setup: SetupRequest
    identity: Mapping[str, str]
    survey: Survey
    project: str = ""
    restore: Rescue | None = None
    template: Template | None = None
    budget_noticed_at: datetime | None = None

    def build_task(self, candidate: Candidate, lease: Lease) -> Mapping[str, object]:
        """Return the SkyPilot task for one candidate. Raises UserError where no cloud could run it so."""
        template, spec = self.template_on(candidate.offer.cloud), self.spec
        if template is not None:
            spec = replace(spec, environment=replace(spec.environment, base_image=template.image))
        task = build_task(
            TaskRequest(
                spec,
                candidate,
                self.name,
                lease,
                use_spot=self.ladder.requirement.use_spot,
                region=self.ladder.requirement.region,
                identity=self.identity,
            )
        )
        if isinstance(task, Deny):
            raise UserError(task.reason_code, task.what, why=task.why, fix=task.fix)
        return task

    def template_on(self, cloud: str) -> Template | None:
        """Return the template whose image is used there; None where it is the spec's."""
        return self.template if cloud == RUNPOD else None
