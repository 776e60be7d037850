"""``smoke``: a machine for each cell of the matrix, the test on it, the report, and nothing left running."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from gpu_lol_action.domain.environment import EnvironmentRecord, Lease, State, Tombstone
from gpu_lol_action.domain.names import user_hash
from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.domain.smoke import SmokeCell, SmokeResult, SmokeRun
from gpu_lol_action.errors import Door, GpuLolError, LostRace
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.journal import Journal
from gpu_lol_action.handlers.measured import Ran, tell_measured
from gpu_lol_action.handlers.one_at_a_time import one_at_a_time
from gpu_lol_action.handlers.plan import plan_machine
from gpu_lol_action.handlers.planned import AlreadyRunning, AwaitsConfirmation, UpPlan, Wanted
from gpu_lol_action.handlers.smoke_book import enter_run, tell_end
from gpu_lol_action.handlers.smoke_cell import CellEnd, CellPlan, Verdict, refused, run_cell, verdict_of
from gpu_lol_action.handlers.smoke_parts import Part, Smoke, smoke_of
from gpu_lol_action.handlers.smoke_report import report_smoke
from gpu_lol_action.handlers.teardown import write_tombstone

RETRY_PAUSE = timedelta(minutes=10)
# What another hour may bring: everything else says the same again, or waits for a person.
RETRIED = frozenset({
    "no_capacity", "too_many_environments", "test_not_run", "cloud_unreachable", "launch_timed_out", "launch_failed",
    "code_not_shipped", "access_not_installed",
})  # fmt: skip
BUSY = "too_many_environments"


def handle_smoke(context: Context, order: Order) -> Outcome:
    """Run the smoke test of a commit and report it. Raises SpecError for an invalid spec; no cell leaves a machine."""
    smoke = smoke_of(context, order)
    if order.command.is_dry_run:
        return _rehearse(context, smoke)
    # Before anything is spent: of a run whose runner is lost, others say so.
    intent = enter_run(
        context, order, [*(end.run.cell for end in smoke.unread), *(cell.name for cell in smoke.cells)], smoke.lease
    )
    try:
        ends = _play_on(context, smoke)
    except KeyboardInterrupt:
        # A job has ten seconds, and GitHub ends one so that is over its time, too: whoever comes next says that it is lost.
        if context.settings.door is Door.TERMINAL:
            tell_end(context, order, intent, Verdict(SmokeResult.NOT_RUN, "stopped", "It was stopped at the terminal."))
        raise
    except Exception as error:
        tell_end(context, order, intent, verdict_of(error))
        raise
    told = [_with_measured(context, smoke, ends[cell.name]) for cell in smoke.cells]
    return report_smoke(context, order, smoke.tests, [*smoke.unread, *told], intent)


def _play_on(context: Context, smoke: Smoke) -> dict[str, CellEnd]:
    """Return how each cell ended, by name: those that could not be run are tried again within the policy's window."""
    began = context.clock.now()
    ends = {end.run.cell: end for end in _play(context, smoke, smoke.cells)}
    while _is_retry_due(context, smoke.order, began, ends):
        context.progress.line(f"not run: tried again in {RETRY_PAUSE / timedelta(minutes=1):.0f} minutes")
        context.clock.sleep(RETRY_PAUSE)
        again = tuple(cell for cell in smoke.cells if _is_retried(ends[cell.name].run))
        ends |= {end.run.cell: end for end in _play(context, smoke, again)}
    return ends


def _with_measured(context: Context, smoke: Smoke, end: CellEnd) -> CellEnd:
    """Say in a run what its test used, against the estimate where the test is the run that was estimated."""
    if end.measured is None or end.run.exit_code is None:
        return end
    part = smoke.part_of(end.run.cell)
    ran = Ran("smoke", part.test.command, end.run.sha, end.run.at, end.run.exit_code, end.measured)
    return replace(end, run=replace(end.run, memory_note=tell_measured(context, ran, part.scene)))


def _is_retried(run: SmokeRun) -> bool:
    is_machines = run.reason_code.startswith("machine_")
    return run.result is SmokeResult.NOT_RUN and (is_machines or run.reason_code in RETRIED)


def _is_retry_due(context: Context, order: Order, began: datetime, ends: dict[str, CellEnd]) -> bool:
    """Whether something was not run that may run later, on a schedule's own time: whoever waits at a door is told at once."""
    if order.pull_request.number or context.settings.door is not Door.JOB or not order.policy.smoke_retry_within:
        return False
    late = context.clock.now() + RETRY_PAUSE > began + order.policy.smoke_retry_within
    return not late and any(_is_retried(end.run) for end in ends.values())


def _rehearse(context: Context, smoke: Smoke) -> Outcome:
    """Say what would be run where, and what it may cost; nothing is rented."""
    ends = [*smoke.unread]
    for cell in smoke.cells:
        plan = _plan(context, smoke.part_of(cell.name), cell)
        best = plan.ladder.best if isinstance(plan, UpPlan) else None
        verdict = plan if isinstance(plan, Verdict) else Verdict(SmokeResult.NOT_RUN, "dry_run", "Nothing was rented.")
        run = refused(cell, smoke.order.pull_request.head_sha, context.clock.now(), verdict)
        if best is not None:
            run = replace(run, offers=(f"{best.offer.label} on {best.offer.cloud}: ${best.price_usd_per_hour:.2f}/h",))
        ends.append(CellEnd(run, None))
    return report_smoke(context, smoke.order, smoke.tests, ends)


# --- side by side --------------------------------------------------------------------------------------------


def _play(context: Context, smoke: Smoke, cells: Sequence[SmokeCell]) -> list[CellEnd]:
    """Run cells in waves as large as policy allows; what the limits keep out waits for the wave before it."""
    ends: list[CellEnd] = []
    waiting = list(cells)
    lock = threading.RLock()
    if len(cells) > 1:
        forge, ledger = one_at_a_time(context.forge, lock), one_at_a_time(context.ledger, lock)
        context = replace(context, forge=forge, ledger=ledger)
    while waiting:
        wave: list[tuple[Journal, CellPlan]] = []
        kept: list[SmokeCell] = []
        try:
            for cell in waiting:
                claimed = _claim(context, smoke, cell, is_alone=len(cells) == 1, is_first=not wave)
                if isinstance(claimed, tuple):
                    wave.append(claimed)
                elif claimed.reason_code == BUSY and wave:
                    kept.append(cell)
                else:
                    run = refused(cell, smoke.order.pull_request.head_sha, context.clock.now(), claimed)
                    ends.append(CellEnd(run, None))
        except BaseException:
            _bury(context, [journal for journal, _ in wave], "internal_error")
            raise
        ends += _side_by_side(context, wave)
        waiting = kept
    return ends


def _side_by_side(context: Context, wave: Sequence[tuple[Journal, CellPlan]]) -> list[CellEnd]:
    if len(wave) < 2:
        return [run_cell(journal, plan) for journal, plan in wave]
    ends: dict[int, CellEnd] = {}
    errors: list[BaseException] = []

    def play(index: int, journal: Journal, plan: CellPlan) -> None:
        try:
            ends[index] = run_cell(journal, plan)
        except BaseException as error:  # noqa: BLE001  a thread's errors reach nobody else
            errors.append(error)

    threads = [
        threading.Thread(target=play, args=(index, journal, plan), daemon=True)
        for index, (journal, plan) in enumerate(wave)
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        # The cells see the tombstone and end their machines themselves; what they do not manage is the finisher's.
        _bury(context, [journal for journal, _ in wave], "cancelled")
        for thread in threads:
            thread.join(5)
        raise
    if errors:
        raise errors[0]
    return [ends[index] for index in sorted(ends)]


def _bury(context: Context, journals: Sequence[Journal], reason: str) -> None:
    for journal in journals:
        try:
            write_tombstone(
                context, journal.entry, Tombstone(journal.record.requester.login, reason, context.clock.now())
            )
            journal.context.cloud().cancel()
        except GpuLolError as error:
            context.progress.line(
                f"the end of {journal.record.name} could not be written down: {error.explanation.what}"
            )


def _claim(
    context: Context, smoke: Smoke, cell: SmokeCell, *, is_alone: bool, is_first: bool
) -> tuple[Journal, CellPlan] | Verdict:
    part = smoke.part_of(cell.name)
    plan = _plan(context, part, cell)
    if isinstance(plan, Verdict):
        return plan
    try:
        entry = context.ledger.claim(_record(context, part.order, cell, plan))
    except LostRace:
        return Verdict(SmokeResult.NOT_RUN, "already_running", "Another run began the same test at the same time.")
    context.forge.open_reserve()
    # The first may use what is loaded already; the others get a SkyPilot of their own, so that none ends another's launch.
    mine = context if is_first or context.another_cloud is None else replace(context, cloud=context.another_cloud())
    prefix = "" if is_alone else f"[{cell.name}] "

    def show(line: str) -> None:
        context.progress.line(f"{prefix}{line}")

    return Journal(mine, part.order, entry, plan.worst_case), CellPlan(cell, plan, part.test, show)


def _plan(context: Context, part: Part, cell: SmokeCell) -> UpPlan | Verdict:
    order = part.order
    wanted = Wanted(
        called=f"smoke {cell.variant}",
        lease=part.lease,
        gpu=cell.gpu,
        gpu_count=cell.gpu_count,
        image=cell.image,
    )
    plan = plan_machine(context, order, wanted)
    if isinstance(plan, UpPlan):
        return plan
    if isinstance(plan, AlreadyRunning):
        why = f"`{plan.record.name}` is at it since {plan.record.claimed_at:%H:%M} UTC."
        return Verdict(SmokeResult.NOT_RUN, "already_running", why, "/gpu-lol status")
    denial = plan.denial if isinstance(plan, AwaitsConfirmation) else plan
    why = ": ".join(filter(None, (denial.what, denial.why)))
    return Verdict(SmokeResult.NOT_RUN, denial.reason_code, why[:1].upper() + why[1:], denial.fix)


def _record(context: Context, order: Order, cell: SmokeCell, plan: UpPlan) -> EnvironmentRecord:
    now = context.clock.now()
    return EnvironmentRecord(
        name=plan.name,
        state=State.CLAIMED,
        repository=order.repository.full_name,
        repository_id=order.repository.repository_id,
        pull_request=order.pull_request_number,
        project=plan.project,
        profile=f"smoke {cell.variant}" if cell.variant != "smoke" else "smoke",
        sha=plan.sha,
        requester=order.requester,
        run_id=context.settings.run_id,
        claimed_at=now,
        lease=Lease(now, now + plan.lease),
        updated_at=now,
        user_hash=user_hash(order.repository.repository_id),
        is_rehearsal=context.settings.is_rehearsal,
        budget_noticed_at=plan.budget_noticed_at,
        is_ssh_sealed=order.policy.is_ssh_sealed,
    )
