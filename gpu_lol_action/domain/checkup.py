"""What a check-up of an installation sees, and what it says about it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.installation import CheckoutFacts
from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class Probed:
    """What GitHub answered to a request that changes nothing, or None for its status where it did not answer.

    ``needs``: GitHub's own word on which permission it takes (`X-Accepted-GitHub-Permissions`).
    """

    status: int | None
    message: str = ""
    needs: str = ""
    body: object = None
    requests_left: int | None = None

    @property
    def is_answered(self) -> bool:
        """Whether GitHub answered at all."""
        return self.status is not None and self.status < 500


@record(frozen=True, slots=True)
class Account:
    """A cloud's answer about the account behind a key; amounts are None where the cloud does not tell them."""

    is_accepted: bool
    balance_usd: Decimal | None = None
    spend_usd_per_hour: Decimal | None = None


@record(frozen=True, slots=True)
class CallerFacts:
    """A job in a workflow file that calls one of our workflows; ``permissions`` None where the job names none.

    ``hears_labels``: its file is started by labels on pull requests, in the base repository's name. ``is_direct``: it has the action
    as a step instead, and ``callee`` is the workflow that does the same. ``has_model``: it names a language model,
    and with ``has_copilot`` that is GitHub Copilot, asked with the job's own token.
    """

    path: str
    callee: str
    ref: str
    permissions: Mapping[str, str] | None
    secrets: frozenset[str]
    has_schedule: bool
    triggers: frozenset[str]
    hears_labels: bool = False
    is_direct: bool = False
    has_model: bool = False
    has_copilot: bool = False

    @property
    def called(self) -> str:
        """What it calls, for a sentence."""
        return "the action" if self.is_direct else f"{self.callee}.yml"


class RefPlace(enum.Enum):
    """Where the ledger's refs may stand."""

    CUSTOM = "refs/gpu-lol/"
    BRANCHES = "refs/heads/gpu-lol/"
    NOWHERE = "nowhere"


@record(frozen=True, slots=True)
class CheckupFacts:
    """Everything that was looked at; None stands for what was not, or could not be.

    ``repository`` is GitHub's answer about the repository; ``permissions`` maps each permission of a workflow's token
    to the answer to its probe; ``accounts`` maps each cloud to its account, or to why it did not tell.
    """

    now: datetime
    is_job: bool
    checkout: CheckoutFacts | None = None
    has_token: bool = False
    repository: Probed | None = None
    permissions: Mapping[str, Probed] | None = None
    policy_problem: str | None = None
    is_policy_read: bool = False
    smoke_label: str = ""
    refs: RefPlace | None = None
    refs_why: str = ""
    skypilot: str | None = None
    skypilot_wanted: str = ""
    accounts: Mapping[str, Account | str] = field(default_factory=dict)
    secret_names: frozenset[str] | None = None
    last_sweep: datetime | None = None
    is_ledger_read: bool = False


class Health(enum.Enum):
    """What is thought of one thing."""

    GOOD = "ok"
    NOTE = "note"
    UNKNOWN = "unknown"
    BAD = "wrong"


@record(frozen=True, slots=True)
class Diagnosis:
    """One thing: what was seen, in a sentence, and the fix: a sentence too, or else a command, link or block to paste."""

    subject: str
    health: Health
    sentence: str
    fix: str = ""

    @property
    def is_pasted(self) -> bool:
        """Whether the fix is taken as it stands, letter by letter."""
        return bool(self.fix) and not self.fix.endswith(".")
