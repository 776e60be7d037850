"""Smoke tests: what is tried, on which machines, and the three ways in which a try ends."""

from __future__ import annotations

import enum
from datetime import datetime, timedelta
from decimal import Decimal

from gpu_lol_action.domain.records import record


class SmokeResult(enum.Enum):
    """How a smoke test ended. ``NOT_RUN`` says nothing about the code: no machine, no driver, no connection."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not run"


class TestStatus(enum.Enum):
    """How one test of a JUnit report ended; an error outside of the test's own assertions counts as failed."""

    __test__ = False  # a name like a test class's, and none of pytest's

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@record(frozen=True, slots=True)
class TestCase:
    """One test: name, status, seconds, and the first line of what it said where it failed.

    ``path`` and ``line`` (1-based) as the report tells them, relative to the checkout; empty and 0 where it does not.
    """

    __test__ = False

    name: str
    status: TestStatus
    seconds: float
    message: str = ""
    path: str = ""
    line: int = 0


@record(frozen=True, slots=True)
class TestReport:
    """What a JUnit report says: counts over all, the failed and the slowest by name."""

    __test__ = False

    passed: int
    failed: int
    skipped: int
    seconds: float
    failures: tuple[TestCase, ...] = ()
    slowest: tuple[TestCase, ...] = ()

    @property
    def total(self) -> int:
        """How many tests there were."""
        return self.passed + self.failed + self.skipped


@record(frozen=True, slots=True)
class SmokeCell:
    """One machine of the matrix; what is None is the spec's. ``gpu`` as ``A100-80GB`` with ``gpu_count`` cards.

    ``project`` is the folder of the project that is tested, where the repository leaves a choice.
    """

    gpu: str | None = None
    gpu_count: int | None = None
    image: str | None = None
    project: str = ""

    @property
    def variant(self) -> str:
        """What tells it from the other machines of its project, and the profile of its record."""
        card = f"{self.gpu}{f':{self.gpu_count}' if (self.gpu_count or 1) > 1 else ''}" if self.gpu else ""
        return ", ".join(filter(None, (card, self.image or ""))) or "smoke"

    @property
    def name(self) -> str:
        """What the cell is called in reports and in a branch's history."""
        is_only_one = self == SmokeCell(project=self.project)
        return ", ".join(filter(None, (self.project, "" if is_only_one and self.project else self.variant)))


@record(frozen=True, slots=True)
class SmokeTest:
    """What is run in the checkout: a shell command within a time box, and why it is this one.

    ``folder`` is where the command goes first, from which its report tells paths; empty where it stays at the root.
    """

    command: str
    time_box: timedelta
    why: str
    folder: str = ""


@record(frozen=True, slots=True)
class SmokeMachine:
    """What it ran on, as the provider and the machine said it; empty where they did not."""

    cloud: str = ""
    accelerator: str = ""
    accelerator_count: int = 0
    driver: str = ""
    cuda: str = ""
    torch: str = ""
    price_usd_per_hour: Decimal | None = None


@record(frozen=True, slots=True)
class SmokeRun:
    """One cell of one run. ``reason_code`` and ``why`` tell what kept it from running, or what failed; ``remedy`` the fix.

    ``took`` is the command's own time; ``cost_usd`` an estimate, None where nothing was rented or the end is not proven.
    ``offers`` are the answers of the offers that were tried. ``peak_memory_gib`` per card, None where nobody measured;
    ``memory_note`` says it in words, beside what was estimated.
    ``report_note``: why the test's own report could not be read, where there was one.
    """

    cell: str
    sha: str
    at: datetime
    result: SmokeResult
    reason_code: str
    why: str = ""
    remedy: str = ""
    exit_code: int | None = None
    took: timedelta = timedelta(0)
    tests: TestReport | None = None
    machine: SmokeMachine = SmokeMachine()
    cost_usd: Decimal | None = None
    peak_memory_gib: tuple[float, ...] = ()
    memory_note: str = ""
    offers: tuple[str, ...] = ()
    log_tail: str = ""
    run_url: str = ""
    is_clean: bool = True
    report_note: str = ""


@record(frozen=True, slots=True)
class SmokeIntent:
    """A run of a branch's test that was begun: written before anything is spent, and taken off once it has told its end.

    ``run_id`` and ``attempt`` are the workflow run's, ``sha`` the commit; after ``ends_by`` each of its time boxes is over.
    """

    run_id: str
    attempt: str
    sha: str
    at: datetime
    ends_by: datetime
    cells: tuple[str, ...]
    run_url: str = ""


@record(frozen=True, slots=True)
class SmokeHistory:
    """The runs of one branch, newest last, every cell of a run beside its others; of many the newest are kept.

    ``issue_number`` is the one issue about this branch. ``begun`` are runs that have not told yet how they ended.
    """

    runs: tuple[SmokeRun, ...] = ()
    issue_number: int | None = None
    begun: tuple[SmokeIntent, ...] = ()

    def of_cell(self, cell: str) -> tuple[SmokeRun, ...]:
        """Return one cell's runs, newest last."""
        return tuple(run for run in self.runs if run.cell == cell)


KEPT_RUNS = 240
KEPT_RUNS_OF_CELL = 40
MOST_CELLS = 60
"""Cells that are no longer run fall out of a history with the oldest runs."""
