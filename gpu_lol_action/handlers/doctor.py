"""``doctor``: look at everything that an installation rests on, and say what lacks with its exact fix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from gpu_lol_action.domain.checkup import Account, CheckupFacts, Diagnosis, Probed, RefPlace
from gpu_lol_action.domain.installation import CheckoutFacts
from gpu_lol_action.domain.policy_yaml import parse_policy
from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.errors import GpuLolError, UserError
from gpu_lol_action.handlers.ports import Ledger
from gpu_lol_action.intake.diagnosis import diagnose, is_well
from gpu_lol_action.render.checkup_text import checkup_markdown


class GitHubProbe(Protocol):
    """Requests that change nothing, or whose change is undone at once."""

    def repository(self) -> Probed:
        """Return GitHub's answer about the repository."""
        ...

    def permissions(self) -> Mapping[str, Probed]:
        """Return the answer to one probe for each permission of a workflow's token."""
        ...

    def refs(self, default_branch: str) -> tuple[RefPlace | None, str]:
        """Return where a ref can be made, and why not elsewhere; None where that could not be seen."""
        ...

    def secret_names(self) -> frozenset[str] | None:
        """Return the names of the repository's secrets; None where this token may not list them."""
        ...


@dataclass(frozen=True, slots=True)
class Instruments:
    """What a check-up looks with. ``github``, ``ledger`` and ``read_policy`` are None where GitHub cannot be asked."""

    now: Callable[[], datetime]
    is_job: bool
    default_branch: str
    accounts: Callable[[], Mapping[str, Account | str]]
    skypilot: Callable[[], str | None]
    skypilot_wanted: str
    github: GitHubProbe | None = None
    ledger: Ledger | None = None
    read_policy: Callable[[], str | None] | None = None
    checkout: CheckoutFacts | None = None


def check_up(instruments: Instruments) -> tuple[Diagnosis, ...]:
    """Look at everything, whatever fails on the way, and return what is thought of each thing."""
    facts = CheckupFacts(
        now=instruments.now(),
        is_job=instruments.is_job,
        checkout=instruments.checkout,
        has_token=instruments.github is not None,
        skypilot=instruments.skypilot(),
        skypilot_wanted=instruments.skypilot_wanted,
        accounts=instruments.accounts(),
    )
    if instruments.github is not None:
        facts = _ask_github(instruments, instruments.github, facts)
    return diagnose(facts)


def handle_checkup(instruments: Instruments) -> Outcome:
    """Return the check-up of a job, for its summary."""
    diagnoses = check_up(instruments)
    code = "checked_up" if is_well(diagnoses) else "checkup_found_faults"
    return Outcome("done" if is_well(diagnoses) else "failed", code, text=checkup_markdown(diagnoses))


def _ask_github(instruments: Instruments, github: GitHubProbe, facts: CheckupFacts) -> CheckupFacts:
    repository = github.repository()
    facts = replace(facts, repository=repository)
    if repository.status != 200:
        return facts
    facts = _read_policy(instruments, facts)
    if instruments.is_job:
        facts = replace(facts, permissions=github.permissions())
    else:
        facts = replace(facts, secret_names=github.secret_names())
    refs, why = github.refs(instruments.default_branch or _default_branch(repository))
    facts = replace(facts, refs=refs, refs_why=why)
    if instruments.ledger is None:
        return facts
    try:
        return replace(facts, last_sweep=instruments.ledger.last_sweep(), is_ledger_read=True)
    except GpuLolError as error:
        # Which part of GitHub failed is said by the other lines; here it is only not known.
        return replace(facts, refs_why=facts.refs_why or error.explanation.what)


def _read_policy(instruments: Instruments, facts: CheckupFacts) -> CheckupFacts:
    if instruments.read_policy is None:
        return facts
    try:
        policy = parse_policy(instruments.read_policy())
    except UserError as error:
        problem = " ".join(filter(None, (error.explanation.what, error.explanation.fix)))
        return replace(facts, policy_problem=problem, is_policy_read=True)
    except GpuLolError:
        return facts
    return replace(facts, is_policy_read=True, smoke_label=policy.smoke_label)


def _default_branch(repository: Probed) -> str:
    body = repository.body if isinstance(repository.body, dict) else {}
    return str(body.get("default_branch") or "main")
