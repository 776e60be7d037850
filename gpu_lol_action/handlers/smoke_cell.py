"""One machine of a smoke test: rent it, prove it, run the test, end it; what came of it is a value, whatever went wrong."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gpu_lol_action.domain.environment import Attempt, Check, CheckStatus, EnvironmentRecord, Tombstone
from gpu_lol_action.domain.measurement import Measurement
from gpu_lol_action.domain.smoke import SmokeCell, SmokeMachine, SmokeResult, SmokeRun, SmokeTest, TestReport
from gpu_lol_action.errors import Explanation, GpuLolError, TransientError
from gpu_lol_action.handlers.compensate import buried, compensate
from gpu_lol_action.handlers.install import install_and_validate
from gpu_lol_action.handlers.journal import Journal, StoppedError
from gpu_lol_action.handlers.ladder import NoOfferError, climb
from gpu_lol_action.handlers.loss import explain_loss
from gpu_lol_action.handlers.planned import UpPlan
from gpu_lol_action.handlers.teardown import Ended
from gpu_lol_action.launch.access import Access
from gpu_lol_action.launch.code import folder_name
from gpu_lol_action.launch.failures import recognize
from gpu_lol_action.launch.probe_gpu import versions
from gpu_lol_action.launch.smoke import Trial, build_smoke_script, is_marker, parse_smoke_output
from gpu_lol_action.launch.test_report import placed_report, read_report, redacted_report, report_sentence

OVER = "smoke_over"
# Nobody logs in to a machine of a smoke test but we.
NOBODY = Access(())
ANOTHER = "Run it again: another machine will be taken."
OTHER_MACHINES = (
    "Let any card that fits serve (no `gpu_type` in `.gpu-lol.yaml`), or allow more `clouds`, a higher "
    "`limits.price_usd_per_hour` or a longer `smoke.retry_within` in `.github/gpu-lol.yml`."
)
# What pytest says where nothing was selected (docs.pytest.org, "Exit codes").
NO_TESTS = 5
# Checks that speak of the code and its packages; all others speak of the machine.
_OF_THE_CODE = frozenset({"packages"})
# What went wrong with the code's own doing, as opposed to the machine's: then it failed, where else it was not run.
_CODES_FAULTS = frozenset({"setup_failed"})
_CONNECTING = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class CellPlan:
    """One cell that may begin: its machine's plan, its test, and how its lines are shown."""

    cell: SmokeCell
    plan: UpPlan
    test: SmokeTest
    show: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of the three results, the reason's code, and where there is one the sentence and the fix."""

    result: SmokeResult
    reason_code: str
    why: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class CellEnd:
    """How a cell ended: the run for the books, and the JUnit report as the machine sent it.

    ``record`` as it was closed; None where nothing was rented. ``measured`` is what the test used.
    """

    run: SmokeRun
    record: EnvironmentRecord | None
    report: bytes | None = None
    measured: Measurement | None = None


def run_cell(journal: Journal, plan: CellPlan) -> CellEnd:
    """Rent the machine of a claimed record, run the test on it, and end it; only an interruption is raised.

    The machine is ended before anything is returned or raised; ``is_clean`` says whether its end is proven.
    """
    tested: Trial | None = None
    try:
        climb(journal, plan.plan)
        install_and_validate(journal, plan.plan, NOBODY)
        verdict = judge_checks(journal.record.checks)
        if verdict is None:
            # It stays a machine in the making: handed over to nobody, it is nobody's when this run dies, nor is it saved from.
            journal.write()
            proven_at = journal.context.clock.now()
            tested = _tested(journal, plan)
            journal.note(ready_at=proven_at)
            verdict = with_report(judge_test(plan.test, tested), tested)
            verdict = explained(verdict, tested.log, read_report(tested))
    except StoppedError as stopped:
        verdict = _stopped(stopped.tombstone)
    except NoOfferError as none:
        verdict = judge_error(none.reason_code, none.explanation)
        verdict = replace(verdict, remedy=verdict.remedy or OTHER_MACHINES)
    except GpuLolError as error:
        # Who ends a machine breaks the connection to it, and does not want another one.
        tombstone = buried(journal)
        verdict = _stopped(tombstone) if tombstone is not None else _failed(journal, error)
    except Exception as error:  # noqa: BLE001  a fault of ours is no verdict on the code, and the machine has to end
        journal.context.progress.failure(error)
        verdict = verdict_of(error)
    except BaseException:
        compensate(journal, "cancelled")
        raise
    end = compensate(journal, OVER)
    journal.entry = end.entry
    run = _run(journal, plan, verdict, tested)
    run = replace(run, is_clean=isinstance(end, Ended))
    report, measured = (tested.report, tested.measured) if tested else (None, None)
    return CellEnd(run, journal.record, report, measured)


def _stopped(tombstone: Tombstone) -> Verdict:
    """Say who or what ended the machine: a word, a closed pull request, or its lease."""
    reason, by = tombstone.reason.replace("_", " "), f"`{tombstone.by}`"
    how = {
        "down": f"{by} took the machine down (`/gpu-lol down`)",
        "lease over": "the machine's lease was over",
        "idle": "nobody used the machine",
    }.get(reason, f"{reason} ({by})")
    return Verdict(SmokeResult.NOT_RUN, "stopped", f"It was stopped: {how}.")


def _failed(journal: Journal, error: GpuLolError) -> Verdict:
    return explained(judge_error(error.reason_code, error.explanation), journal.record.failure or "")


def judge_checks(checks: Sequence[Check]) -> Verdict | None:
    """Say what failed checks mean; None where all passed. A machine's fault is no failure of the code."""
    failed = [check for check in checks if check.status is CheckStatus.FAILED]
    if not failed:
        return None
    of_machine = [check for check in failed if check.name not in _OF_THE_CODE]
    said, fix = _sentences(of_machine or failed)
    if of_machine:
        return Verdict(SmokeResult.NOT_RUN, f"machine_{of_machine[0].name}", said, fix)
    return Verdict(SmokeResult.FAILED, "packages_failed", said, fix)


def judge_test(test: SmokeTest, tested: Trial) -> Verdict:
    """Say what a test's end means for the code."""
    if tested.is_timed_out:
        minutes = test.time_box / timedelta(minutes=1)
        why = f"It had not ended after {minutes:.0f} minutes and was stopped."
        remedy = "Raise `smoke.timeout_minutes` in `.gpu-lol.yaml`, or test less."
        return Verdict(SmokeResult.FAILED, "time_box_over", why, remedy)
    if tested.exit_code == 0:
        return Verdict(SmokeResult.PASSED, "passed")
    if tested.exit_code == NO_TESTS and "pytest" in test.command:
        remedy = "Mark tests for GPUs, or name another command under `smoke` in `.gpu-lol.yaml`."
        return Verdict(SmokeResult.FAILED, "no_tests", "pytest found no test to run.", remedy)
    return Verdict(SmokeResult.FAILED, "tests_failed", f"The command ended with exit status {tested.exit_code}.")


def with_report(verdict: Verdict, tested: Trial) -> Verdict:
    """Add what the test's own report says against its exit status."""
    if verdict.reason_code == "no_tests":
        return verdict
    more = report_sentence(read_report(tested), is_passed=verdict.result is SmokeResult.PASSED)
    return replace(verdict, why=" ".join(filter(None, (verdict.why, more))))


def judge_error(reason_code: str, explanation: Explanation) -> Verdict:
    """Say what an error on the way means: only what the code itself brings (its set-up) is a failure of it."""
    why = " ".join(filter(None, (explanation.what, explanation.why)))
    result = SmokeResult.FAILED if reason_code in _CODES_FAULTS else SmokeResult.NOT_RUN
    return Verdict(result, reason_code, why, explanation.fix)


def verdict_of(error: Exception) -> Verdict:
    """Say what an error means that ended a whole run: with its own fix where it has one; a fault of ours is no verdict."""
    if isinstance(error, GpuLolError):
        return judge_error(error.reason_code, error.explanation)
    return Verdict(SmokeResult.NOT_RUN, "internal_error", "gpu-lol failed on a fault of its own.")


def explained(verdict: Verdict, log: str, report: TestReport | str | None = None) -> Verdict:
    """Say what the log says of a failure, with its remedy; what the machine did is no failure of the code.

    A download that broke off speaks for the machine's network only where set-up failed on it: a test may want one to fail.
    Where a report names failed tests, the machine is to blame only if each of them says so: a line of a log, which the code
    can write, must not hide a test that failed on its own.
    """
    said = recognize(log) if verdict.result is SmokeResult.FAILED else None
    if said is None:
        return verdict
    why = f"{verdict.why} {said.what}".strip()
    is_machines = said.is_machines and (said.kind != "network" or verdict.reason_code in _CODES_FAULTS)
    if is_machines and not _has_failure_of_its_own(report):
        return Verdict(SmokeResult.NOT_RUN, f"machine_{said.kind}", why, said.remedy)
    return replace(verdict, why=why, remedy=said.remedy)


def _has_failure_of_its_own(report: TestReport | str | None) -> bool:
    """Whether any failed test of a report says something else than that the machine failed it."""
    if not isinstance(report, TestReport) or not report.failed:
        return False
    said = [recognize(case.message) for case in report.failures]
    return len(said) < report.failed or not all(each is not None and each.is_machines for each in said)


def refused(cell: SmokeCell, sha: str, at: datetime, verdict: Verdict) -> SmokeRun:
    """Return the run of a cell for which nothing was rented: a gate said no, or its plan could not be made."""
    return SmokeRun(cell.name, sha, at, verdict.result, verdict.reason_code, verdict.why, verdict.remedy)


def _run(journal: Journal, plan: CellPlan, verdict: Verdict, tested: Trial | None) -> SmokeRun:
    record, redact = journal.record, journal.context.redact
    log = tested.log if tested is not None else record.failure or ""
    report = read_report(tested)
    return SmokeRun(
        cell=plan.cell.name,
        sha=plan.plan.sha,
        at=record.claimed_at,
        result=verdict.result,
        reason_code=verdict.reason_code,
        why=redact(verdict.why),
        remedy=redact(verdict.remedy),
        exit_code=tested.exit_code if tested is not None else None,
        took=tested.took if tested is not None else timedelta(0),
        tests=_told(report, plan, redact) if isinstance(report, TestReport) else None,
        report_note=redact(report) if isinstance(report, str) else "",
        machine=_machine(record),
        cost_usd=record.bill.usd if record.bill else None,
        peak_memory_gib=_peaks(tested),
        offers=tuple(_offer(attempt) for attempt in record.attempts),
        log_tail=redact(log),
        run_url=journal.context.settings.run_url or "",
    )


def _told(report: TestReport, plan: CellPlan, redact: Callable[[str], str]) -> TestReport:
    return redacted_report(placed_report(report, plan.test.folder), redact)


def _sentences(checks: Sequence[Check]) -> tuple[str, str]:
    fix = next((check.fix for check in checks if check.fix), "")
    return " ".join(f"{check.name}: {check.sentence}" for check in checks), fix


def _tested(journal: Journal, plan: CellPlan) -> Trial:
    try:
        return _test(journal, plan)
    except TransientError as error:
        raise (explain_loss(journal, during="while the test ran", again=ANOTHER) or error) from error


def _test(journal: Journal, plan: CellPlan) -> Trial:
    record, context, nonce = journal.record, journal.context, secrets.token_hex(16)
    if record.ssh is None:
        raise LookupError("a machine that was validated has an SSH endpoint")

    def show(line: str) -> None:
        if not is_marker(line, nonce):
            plan.show(context.redact(line))

    with journal.phase("test"):
        output = context.shell().run(
            record.ssh,
            build_smoke_script(plan.test, folder_name(record.repository), nonce),
            timeout=plan.test.time_box + _CONNECTING,
            on_line=show,
        )
    found = parse_smoke_output(output.stdout, plan.test.time_box, nonce)
    if isinstance(found, str):
        raise TransientError("test_not_run", "The test could not be run on the machine.", why=found)
    return found


def _peaks(tested: Trial | None) -> tuple[float, ...]:
    """Return the most that each card held; nothing where not every card was measured."""
    gpus = tested.measured.gpus if tested is not None and tested.measured is not None else ()
    peaks = [gpu.peak_gib for gpu in gpus]
    return tuple(round(peak, 2) for peak in peaks if peak is not None) if None not in peaks else ()


def _machine(record: EnvironmentRecord) -> SmokeMachine:
    driver, cuda, torch = versions(record.checks)
    return SmokeMachine(
        driver=driver,
        cuda=cuda,
        torch=torch,
        cloud=record.cloud or "",
        accelerator=record.accelerator or "",
        accelerator_count=record.accelerator_count,
        price_usd_per_hour=record.price_usd_per_hour,
    )


def _offer(attempt: Attempt) -> str:
    return f"{attempt.accelerator} on {attempt.cloud}: {attempt.answer.replace('_', ' ')}"
