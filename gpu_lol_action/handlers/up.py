"""``up``: plan, claim, launch, install, validate, hand over; whatever fails after the claim is torn down."""

from __future__ import annotations

from gpu_lol_action.domain.environment import CheckStatus, EnvironmentRecord, Lease, State, Tombstone
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.names import user_hash
from gpu_lol_action.domain.request import Allow, Deny, Outcome
from gpu_lol_action.domain.surfaces import DeploymentState
from gpu_lol_action.errors import Door, Explanation, GpuLolError, LostRace, TransientError, exit_code
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.compensate import buried, compensate
from gpu_lol_action.handlers.confirm import ask_for_confirmation
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.install import install_and_validate
from gpu_lol_action.handlers.journal import Journal, StoppedError
from gpu_lol_action.handlers.ladder import NoOfferError
from gpu_lol_action.handlers.plan import plan_up, read_access
from gpu_lol_action.handlers.planned import AlreadyRunning, AwaitsConfirmation, UpPlan
from gpu_lol_action.handlers.refuse import deny
from gpu_lol_action.handlers.seal import Login, decide_login, hidden_from_others, seal_login
from gpu_lol_action.handlers.surfaces import begin_deployment, move_deployment
from gpu_lol_action.handlers.teardown import Unproven, mark_launcher_stopped
from gpu_lol_action.handlers.wait import climb_or_wait
from gpu_lol_action.intake.spending_gates import check_head
from gpu_lol_action.render import comments


def answer_without_cloud(context: Context, order: Order) -> Outcome | UpPlan:
    """Return the answer where none needs a machine (denied, running already, dry run), else the plan."""
    plan = plan_up(context, order)
    now, number = context.clock.now(), order.pull_request.number
    if isinstance(plan, Deny):
        return deny(context, order, plan)
    if isinstance(plan, AlreadyRunning):
        body = comments.already_running(record=plan.record, now=now, reply_to=order.reply_to, another=plan.another)
        answers.reply(context, number, body)
        return Outcome("done", "already_running", text=body)
    if isinstance(plan, UpPlan) and not order.command.is_dry_run:
        return plan
    access = read_access(context, order)
    if isinstance(access, Deny):
        return deny(context, order, access)
    if order.command.is_dry_run:
        return _rehearse(context, order, plan)
    if isinstance(plan, AwaitsConfirmation):
        return ask_for_confirmation(context, order, plan)
    return plan


def _rehearse(context: Context, order: Order, found: UpPlan | AwaitsConfirmation) -> Outcome:
    """Say what ``up`` would do and cost, and that a second person would be asked where one would."""
    plan = found if isinstance(found, UpPlan) else found.plan
    body = comments.dry_run(
        ladder=plan.ladder,
        policy=order.policy,
        lease=plan.lease,
        month_usd=plan.month_usd,
        worst_case_usd=plan.worst_case.usd,
        worst_case_at=plan.worst_case.ends_by,
        is_swept=plan.worst_case.sweep_gap is not None,
        refusals=() if isinstance(found, UpPlan) else (f"{found.denial.what}: {found.denial.why}",),
        now=context.clock.now(),
        reply_to=order.reply_to,
        project=plan.project,
    )
    answers.reply(context, order.pull_request.number, body)
    return Outcome("done", "dry_run", text=body)


def handle_up(context: Context, order: Order) -> Outcome:
    """Rent the machine that the code needs and hand it over, or say why not; nothing is left behind."""
    moved = check_head(order.pull_request.head_sha, order.seen.pull_request) if order.seen is not None else Allow()
    if isinstance(moved, Deny):
        return deny(context, order, moved)  # while this waited for its turn
    is_planned_already = context.settings.door is Door.JOB and not order.command.is_dry_run
    if is_planned_already:
        # The light step let this order through: loading goes on while it is planned again.
        context.cloud().warm()
    plan = answer_without_cloud(context, order)
    if isinstance(plan, Outcome):
        return plan
    login = decide_login(context, order)
    if isinstance(login, Deny):
        return deny(context, order, login)
    context = hidden_from_others(context, login)
    context.cloud().warm()
    try:
        entry = context.ledger.claim(_record(context, order, plan))
    except LostRace:
        return _answer_lost_claim(context, order, plan)
    # From here on a machine's record depends on this run.
    context.forge.open_reserve()
    journal = Journal(context, order, entry, plan.worst_case)
    try:
        journal.open_status()
        begin_deployment(context, journal.record)
        return _launch_and_hand_over(journal, plan, login)
    except StoppedError as stopped:
        return _stop(journal, stopped.tombstone)
    except NoOfferError as none:
        return _fail(journal, none.reason_code, none.explanation, comment_kind="no_capacity")
    except GpuLolError as error:
        tombstone = buried(journal)
        if tombstone is not None:
            # Somebody ended the machine under our hands: what failed is no fault of its own.
            return _stop(journal, tombstone)
        outcome = _fail(journal, error.reason_code, error.explanation)
        error.is_told = True
        if outcome.reason_code != error.reason_code and exit_code(error.ending, Door.JOB) == 0:
            # What is red already keeps its own reason: a refused key says more than what follows from it.
            raise _left_running(journal.record) from error
        raise
    except BaseException as error:
        reason = "cancelled" if isinstance(error, KeyboardInterrupt | SystemExit) else "internal_error"
        _fail(journal, reason, Explanation("The run ended before the machine was ready."))
        raise


def _launch_and_hand_over(journal: Journal, plan: UpPlan, login: Login) -> Outcome:
    context, order = journal.context, journal.order
    climb_or_wait(journal, plan)
    install_and_validate(journal, plan, login.access)
    if any(check.status is CheckStatus.FAILED for check in journal.record.checks) and (
        order.policy.is_teardown_on_failed_validation
    ):
        return _fail(journal, "validation_failed", _failed_checks(journal.record))
    now = context.clock.now()
    # Against the ledger that the launch was planned with: this machine is what has changed since, as far as it knows.
    notice = answers.budget_notice(plan.survey.with_entry(journal.entry), order.policy, now)
    noticed = {"budget_noticed_at": now} if notice is not None else {}
    journal.write(state=State.READY, ready_at=now, launcher_stopped_at=now, **noticed)
    body = comments.ready(
        record=journal.record,
        policy=order.policy,
        now=now,
        worst_case_at=journal.worst_case.ends_by,
        repository_name=plan.setup.folder,
        head_ref=order.pull_request.head_ref,
        notice=notice,
        sealed=seal_login(context, journal.record, plan.setup.folder, login.readers),
    )
    journal.status.end()
    last = comments.status(entries=[journal.record], unreadable=[], now=now, gpu_use={})
    posted, has_reacted = answers.close_command(context, order, (journal.status.comment_id, last), body)
    move_deployment(context, journal.record, DeploymentState.SUCCESS, posted.html_url if posted else None)
    details = {"environment": journal.record.name}
    return Outcome("done", "launched", details, text=body, has_reacted=has_reacted)


def _failed_checks(record: EnvironmentRecord) -> Explanation:
    failed = [check for check in record.checks if check.status is CheckStatus.FAILED]
    fixes = [check.fix for check in failed if check.fix]
    return Explanation(
        what=f"The machine failed {len(failed)} of {len(record.checks)} checks.",
        why=" ".join(f"{check.name}: {check.sentence}" for check in failed),
        fix=fixes[0] if fixes else "",
    )


def _stop(journal: Journal, tombstone: Tombstone) -> Outcome:
    """Stop for a tombstone: cancel for real, then let whoever asked for the end certify it."""
    context = journal.context
    context.cloud().cancel()
    journal.entry = mark_launcher_stopped(context, journal.entry)
    body = comments.ending(record=journal.record, now=context.clock.now())
    journal.status.close_with(body)
    return Outcome("done", "stopped", {"reason": tombstone.reason}, text=body)


def _fail(journal: Journal, reason_code: str, explanation: Explanation, *, comment_kind: str = "failed") -> Outcome:
    """The money rule: end what was launched, say what happened, what it cost, and what is billing now."""
    context, order = journal.context, journal.order
    end = compensate(journal, reason_code)
    journal.entry = end.entry
    now, number = context.clock.now(), order.pull_request.number
    if comment_kind == "no_capacity":
        body = comments.no_capacity(record=journal.record, policy=order.policy, now=now)
    else:
        body = comments.failed(
            explanation=explanation,
            reason_code=reason_code,
            log_tail=context.redact(journal.record.failure or ""),
            record=journal.record,
            run_url=context.settings.run_url,
            now=now,
            reply_to=order.reply_to,
        )
    # The environment's own comment becomes the certificate, with the bill; the answer says what went wrong.
    certificate = answers.certificate(context, end, order.policy)
    journal.status.close_with(certificate)
    answers.reply(context, number, body)
    move_deployment(context, journal.record, DeploymentState.FAILURE)
    if isinstance(end, Unproven):
        # An edit notifies nobody, and this one somebody has to read.
        answers.reply(context, number, certificate)
        return Outcome("failed", "teardown_unproven", text=f"{body}\n\n{certificate}")
    return Outcome("failed" if comment_kind == "failed" else "denied", reason_code, text=body)


def _left_running(record: EnvironmentRecord) -> TransientError:
    error = TransientError(
        "teardown_unproven",
        f"The end of {record.name_on_cloud or record.name} on {record.cloud} could not be proven.",
        why="It counts as running, and the sweeper tries again.",
        fix="/gpu-lol down",
    )
    error.is_told = True
    return error


def _answer_lost_claim(context: Context, order: Order, plan: UpPlan) -> Outcome:
    """Somebody else claimed this environment first: adopt what they started."""
    found = context.ledger.read(plan.name)
    if not isinstance(found, Entry):
        raise TransientError("record_unreadable", f"the record of {plan.name} cannot be read")
    body = comments.already_running(record=found.record, now=context.clock.now(), reply_to=order.reply_to)
    answers.reply(context, order.pull_request.number, body)
    return Outcome("done", "already_running", text=body)


def _record(context: Context, order: Order, plan: UpPlan) -> EnvironmentRecord:
    now = context.clock.now()
    return EnvironmentRecord(
        name=plan.name,
        state=State.CLAIMED,
        repository=order.repository.full_name,
        repository_id=order.repository.repository_id,
        pull_request=order.pull_request_number,
        profile=order.command.profile,
        project=plan.project,
        sha=plan.sha,
        requester=order.requester,
        run_id=context.settings.run_id,
        claimed_at=now,
        lease=Lease(now, now + plan.lease),
        updated_at=now,
        user_hash=user_hash(order.repository.repository_id),
        use_spot=plan.ladder.requirement.use_spot,
        keep=plan.spec.keep,
        is_rehearsal=context.settings.is_rehearsal,
        budget_noticed_at=plan.budget_noticed_at,
        shared=tuple(
            dict.fromkeys(each for each in order.command.share if each.lower() != order.requester.login.lower())
        ),
        confirmed_by=order.confirmation.by.login if order.confirmation else None,
        is_ssh_sealed=order.policy.is_ssh_sealed,
    )
