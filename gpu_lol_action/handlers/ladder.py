"""Climb the ladder of offers: one launch per offer with a time box, until one grants a machine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import timedelta

from gpu_lol_action.domain.environment import Attempt, EnvironmentRecord, State
from gpu_lol_action.domain.machine import Launched, LaunchRequest, NotLaunched
from gpu_lol_action.domain.market import Template
from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.request import Deny
from gpu_lol_action.errors import Explanation, LostRace, OperatorError, UserError
from gpu_lol_action.handlers.journal import Journal
from gpu_lol_action.handlers.launched_price import hold_to_limit
from gpu_lol_action.handlers.planned import UpPlan
from gpu_lol_action.handlers.teardown import prove_absence
from gpu_lol_action.handlers.templates import template_words
from gpu_lol_action.intake.spending_gates import check_head
from gpu_lol_action.launch.refusals import find_account_refusal, is_account, name_outcome

MAX_DETAIL_CHARACTERS = 200
SIGHT_HOLDS = timedelta(seconds=20)
"""How old a look at the pull request may be when money is spent on it: a few requests and a small archive's download."""


# What an image that does not start looks like from outside.
_MAY_BE_THE_IMAGE = frozenset({"timed_out", "failed"})


class NoOfferError(Exception):
    """Every offer that was tried said no."""

    def __init__(self, reason_code: str, explanation: Explanation) -> None:
        """Keep the reason code and what to tell."""
        super().__init__(reason_code)
        self.reason_code = reason_code
        self.explanation = explanation


def climb(journal: Journal, plan: UpPlan) -> None:
    """Try offers in order and write the granted machine into the record.

    Raises NoOfferError when all said no, OperatorError when every cloud asks for a maintainer, StoppedError for a
    tombstone, UserError when the head moved since it was pinned.
    """
    refused: set[str] = set()
    tried = 0
    with journal.phase("launching"):
        for candidate in plan.ladder.candidates:
            if candidate.offer.cloud in refused or tried >= journal.order.policy.max_offers_tried:
                continue
            tried += 1
            _check_head(journal, plan)  # before each offer: the one before may have taken a quarter of an hour
            answer = _try_offer(journal, plan, candidate)
            if isinstance(answer, Launched):
                return
            if answer.kind in _MAY_BE_THE_IMAGE and plan.template_on(candidate.offer.cloud) is not None:
                plan = dataclasses.replace(plan, template=None)  # the next offer gets the image that our table knows
            if is_account(journal.record.attempts[-1]):
                refused.add(candidate.offer.cloud)
            if answer.kind == "invalid":
                raise UserError("launch_refused", "The cloud refuses this request.", why=answer.detail)
    account = find_account_refusal(journal.record.attempts)
    if account is not None:
        raise OperatorError(account.reason_code, account.what, why=account.why, fix=account.fix)
    raise NoOfferError(name_outcome(journal.record.attempts), Explanation(f"None of {tried} offers has a machine now."))


def _check_head(journal: Journal, plan: UpPlan) -> None:
    """Compare, right before spending, the pinned commit with the pull request as it is now.

    A smoke test of a branch is of the commit that it had: that the branch goes on is no reason to leave it.
    """
    if journal.order.command.name == "smoke" and not journal.order.pull_request.number:
        return
    context, seen = journal.context, journal.order.seen
    if seen is not None and context.clock.now() - seen.at <= SIGHT_HOLDS:
        current = seen.pull_request
    else:
        current = context.forge.pull_request(journal.order.pull_request.number)
    gate = check_head(plan.sha, current)
    if isinstance(gate, Deny):
        raise UserError(gate.reason_code, gate.what, why=gate.why, fix=gate.fix)


def _try_offer(journal: Journal, plan: UpPlan, candidate: Candidate) -> Launched | NotLaunched:
    context, offer = journal.context, candidate.offer
    cloud = context.cloud()
    started = context.clock.now()
    journal.write(
        state=State.LAUNCHING,
        cloud=offer.cloud,
        region=None,
        accelerator=offer.accelerator,
        accelerator_count=offer.accelerator_count,
        price_usd_per_hour=candidate.price_usd_per_hour,
        name_on_cloud=cloud.name_on_cloud(plan.name),
        launch_asked_at=started,
    )
    journal.count_on(candidate.price_usd_per_hour)
    journal.say()
    request = LaunchRequest(
        plan.build_task(candidate, journal.record.lease),
        plan.name,
        offer.cloud,
        journal.order.policy.timeouts.provision,
    )
    with journal.watching_for_tombstone():
        answer = cloud.launch(request, _reporter(journal))
        if isinstance(answer, Launched):
            answer = hold_to_limit(context, candidate, answer)
    seconds = (context.clock.now() - started).total_seconds()
    template = plan.template_on(offer.cloud)
    attempt = _attempt(candidate, answer, seconds, _detail(answer, template, context.redact))
    attempts = _with_attempt(journal.record, attempt)
    if isinstance(answer, Launched):
        journal.write(
            state=State.VALIDATING,
            attempts=attempts,
            name_on_cloud=answer.name_on_cloud,
            region=answer.region,
            ssh=answer.ssh,
            provider_config=dict(answer.provider_config),
            # From here on nothing launches for this record: whoever ends it need not wait for set-up or checks.
            launcher_stopped_at=context.clock.now(),
        )
        return answer
    record = dataclasses.replace(journal.record, attempts=attempts)
    if answer.is_certain:
        # No machine came of it: nothing that a bill could run for, nor a name that would have to be proven absent.
        record = dataclasses.replace(record, launch_asked_at=None, cloud=None, name_on_cloud=None)
    journal.entry = dataclasses.replace(journal.entry, record=record)  # written with the next change
    if answer.kind == "cancelled":
        journal.stop_if_buried()
    if not answer.is_certain:
        _end_remains(journal)
    return answer


def _reporter(journal: Journal) -> Callable[[str], None]:
    """Return what a launch tells its progress to: job log and status comment."""

    def report(line: str) -> None:
        text = journal.context.redact(line)
        journal.context.progress.line(text)
        journal.say([text])

    return report


def _detail(answer: Launched | NotLaunched, template: Template | None, redact: Callable[[str], str]) -> str:
    """Return what is to be said of a try beside its answer: what it started from, or the cloud's own words."""
    if isinstance(answer, Launched):
        return template_words(template) if template is not None else ""
    return redact(answer.detail)[:MAX_DETAIL_CHARACTERS]


def _attempt(candidate: Candidate, answer: Launched | NotLaunched, seconds: float, detail: str) -> Attempt:
    offer = candidate.offer
    is_launched = isinstance(answer, Launched)
    return Attempt(
        cloud=offer.cloud,
        accelerator=offer.accelerator,
        accelerator_count=offer.accelerator_count,
        price_usd_per_hour=candidate.price_usd_per_hour,
        answer="launched" if isinstance(answer, Launched) else answer.kind,
        detail=detail,
        seconds=round(seconds, 1),
        region=answer.region if is_launched and isinstance(answer, Launched) else None,
    )


def _with_attempt(record: EnvironmentRecord, newest: Attempt) -> tuple[Attempt, ...]:
    """Return the attempts with the newest last; where a wait has an offer asked again, its newest answer counts."""
    before = record.attempts
    if record.waiting is not None:
        before = tuple(each for each in before if _offer_of(each) != _offer_of(newest))
    return (*before, newest)


def _offer_of(attempt: Attempt) -> tuple[object, ...]:
    return (attempt.cloud, attempt.accelerator, attempt.accelerator_count, attempt.price_usd_per_hour)


def _end_remains(journal: Journal) -> None:
    """End what a failed try may have left, before another machine of the same name is asked for.

    Its time counts also where nothing is listed: SkyPilot may have rented a machine and ended it again.
    """
    context, record = journal.context, journal.record
    if record.cloud is None or record.name_on_cloud is None:
        return
    absences = prove_absence(context, journal.entry, journal.order.policy)
    if absences is None:
        journal.stop_if_buried()
        raise LostRace("record_changed", f"the record of `{record.name}` was closed by another run")
    journal.write(earlier_cost_usd=record.cost_so_far_usd(absences[0]), launch_asked_at=None)
