"""What a change does to an environment: which runs need more or less and why, and which parts of it are others."""

from __future__ import annotations

import enum
import re

from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.records import record


class Kind(enum.Enum):
    """What became of a run."""

    CHANGED = "changed"
    NEW = "new"
    GONE = "gone"


@record(frozen=True, slots=True)
class RunNeed:
    """What one run needs: cards (0: no GPU), GiB that each must offer, GiB that are expected on each (None: not computed)."""

    gpu_count: int
    required_gib: int | None
    expected_gib: float | None

    @property
    def total_gib(self) -> float:
        """The memory of all cards together, expected or else asked for, in GiB; 0 without a GPU."""
        return self.gpu_count * (self.expected_gib or self.required_gib or 0)

    @property
    def asked_gib(self) -> int:
        """The memory that is asked of all cards together, in GiB; 0 without a GPU."""
        return self.gpu_count * (self.required_gib or 0)


NOTHING = RunNeed(0, None, None)


def is_more(old: RunNeed, new: RunNeed) -> bool:
    """Whether more is needed than before: by the sums where both are known, and where they are the same by what is asked for."""
    if _are_expected(old, new) and old.total_gib != new.total_gib:
        return new.total_gib > old.total_gib
    return new.asked_gib > old.asked_gib


def _are_expected(*needs: RunNeed) -> bool:
    """Whether sum can be compared with sum: what documents ask for on one side is no more than what is computed on the other."""
    return all(need.expected_gib is not None or not need.gpu_count for need in needs)


# Of a developer's desk: they check, test, pack or describe the code, and nothing that runs takes anything of them. Not yapf, with
# which MMCV prints its configurations, nor wheel, which builds need.
_DESK_TOOLS = frozenset({
    "autoflake", "autopep8", "black", "bumpversion", "bump2version", "codespell", "coverage", "flake8", "flake8-bugbear", "isort", "mypy",
    "nox", "pip-tools", "pre-commit", "pycodestyle", "pydocstyle", "pyflakes", "pylint", "pyright", "pytest", "pytest-cov", "pytest-xdist",
    "pyupgrade", "ruff", "sphinx", "sphinx-rtd-theme", "tox", "twine",
})  # fmt: skip
_NAMES = {"model.id": "model", "model.family": "model", "media.network": "model"}
_OWN_NAME = re.compile(r"`([\w.-]{1,60})` is ")


def _apart(one: float, other: float) -> float:
    most = max(one, other)
    return 100 * abs(one - other) / most if most else 0.0


@record(frozen=True, slots=True)
class Cause:
    """A finding that differs from the base's.

    ``old_value`` is None where the base has no such finding, ``new_value`` where the head has none: then ``finding`` is the
    base's and ``evidence`` a line there. ``effect_gib`` is by how much the memory per GPU would be less without this change
    (negative: more); None where that cannot be computed.
    """

    finding: Finding
    old_value: str | None
    new_value: str | None
    evidence: Evidence
    effect_gib: float | None = None

    @property
    def name(self) -> str:
        """What the code calls it, where the finding says so (`` `max_seq_length` is 4096 ``), else the last word of the field."""
        own = _OWN_NAME.match(self.finding.why)
        return own[1] if own is not None else _NAMES.get(self.finding.field, self.finding.field.rpartition(".")[2])


@record(frozen=True, slots=True)
class RunChange:
    """One run that differs; ``causes`` come with the strongest first. ``evidence`` is where the run is said (head, else base)."""

    kind: Kind
    name: str
    command: str
    evidence: Evidence
    before: RunNeed
    after: RunNeed
    causes: tuple[Cause, ...] = ()

    @property
    def percent(self) -> float:
        """By how much the memory of all cards differs, expected or asked for, in percent of the larger of both.

        What is asked for counts where the sums are the same (documents say otherwise now) or cannot be compared, and with another
        number of cards: beside sums that differ it is the same difference, with a margin and rounded.
        """
        old, new = self.before, self.after
        asked = _apart(old.asked_gib, new.asked_gib)
        if not _are_expected(old, new):
            return asked
        expected = _apart(old.total_gib, new.total_gib)
        return expected if expected and old.gpu_count == new.gpu_count else max(expected, asked)

    @property
    def is_more(self) -> bool:
        """Whether it needs more than before; where the sums are the same, whether more is asked for."""
        return is_more(self.before, self.after)


@record(frozen=True, slots=True)
class PartChange:
    """One part of the environment: ``what`` is image, CUDA, Python, package, system package or command; None: not there."""

    what: str
    name: str
    old: str | None
    new: str | None
    evidence: Evidence | None = None


@record(frozen=True, slots=True)
class Change:
    """The difference between base and head.

    ``first`` is the run that is provisioned for, where it differs; ``others`` are runs beside it, the largest difference
    first. ``file_causes`` are keys of the repository's own file that a hand changed. ``is_other_run``: another run is first now.
    """

    first: RunChange | None = None
    others: tuple[RunChange, ...] = ()
    parts: tuple[PartChange, ...] = ()
    file_causes: tuple[Cause, ...] = ()
    is_other_run: bool = False

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What the difference in machine and price is put down to, the strongest first."""
        return (*self.file_causes, *(self.first.causes if self.first is not None else ()))


def is_worth_saying(change: Change, *, least_percent: float, says_parts: bool) -> bool:
    """Whether a change is more than a team wants to overlook: a run by so many percent of memory, or any part of the rest."""
    if change.file_causes or change.is_other_run or (says_parts and any(map(_is_of_the_work, change.parts))):
        return True
    runs = (*((change.first,) if change.first is not None else ()), *change.others)
    return any(is_telling(run, least_percent) for run in runs)


def _is_of_the_work(part: PartChange) -> bool:
    """Whether what runs may depend on it: a formatter's or a test tool's release in the list that is installed tells nobody anything."""
    return part.what != "package" or part.name not in _DESK_TOOLS


def is_telling(run: RunChange, least_percent: float) -> bool:
    """Whether a run's difference is worth a word; one that came or went is where it needs a GPU."""
    if run.kind is not Kind.CHANGED:
        return run.before.gpu_count > 0 or run.after.gpu_count > 0
    return run.before.gpu_count != run.after.gpu_count or run.percent >= max(least_percent, 0.1)
