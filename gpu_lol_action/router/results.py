"""How what was asked for ended; the only place that turns errors into endings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Ignore, Outcome
from gpu_lol_action.errors import Ending, GpuLolError
from gpu_lol_action.handlers.context import Context

if TYPE_CHECKING:
    from gpu_lol_action.handlers.finish import DeadJob


@dataclass(frozen=True, slots=True)
class Step:
    """Which part of the work this process does.

    ``may_use_cloud`` False is the light step: it answers what needs no cloud and defers the rest. ``only`` names what
    the light step deferred to this one; then nothing is reacted to or answered a second time. ``finishes``: this step
    only ties up what a job that died has left.
    """

    may_use_cloud: bool = True
    only: tuple[int, ...] | None = None
    finishes: DeadJob | None = None

    @property
    def is_first(self) -> bool:
        """Whether nobody has answered yet."""
        return self.only is None


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that was asked for and how it ended. ``index`` counts the commands of a comment."""

    outcome: Outcome
    ending: Ending
    index: int = 0
    error: GpuLolError | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What a whole event led to."""

    results: tuple[Result, ...] = ()
    ignored: Ignore | None = None
    pinned_sha: str = ""
    may_spend: bool = False
    is_smoke: bool = False

    @property
    def lane(self) -> str:
        """The queue in which a second step waits: what rents, what ends, and tests, which take longer than either."""
        return "smoke" if self.is_smoke else "spend" if self.may_spend else "end"

    @property
    def deferred(self) -> tuple[int, ...]:
        """What needs the cloud and was left to a second step."""
        return tuple(result.index for result in self.results if result.outcome.decision == "deferred")


# What a smoke test found is told apart from what befell the run itself.
_TEST_ENDINGS = {"smoke_failed": Ending.TEST_FAILED, "smoke_not_run": Ending.TEST_NOT_RUN}


def guard(context: Context, number: int | None, action: Callable[[], Outcome], index: int) -> Result:
    """Run one action; every way in which it can go wrong becomes a result with its ending."""
    try:
        outcome = action()
    except GpuLolError as error:
        return replace(failure(context, number, error), index=index)
    except Exception as error:  # noqa: BLE001  our bug: the run must still say what is billing
        from gpu_lol_action.handlers.refuse import tell_internal_error

        text = tell_internal_error(context, error, number)
        return Result(Outcome("failed", "internal_error", text=text), Ending.INTERNAL_ERROR, index)
    return Result(outcome, ending_of(outcome), index)


def ending_of(outcome: Outcome) -> Ending:
    """Return the ending behind an outcome that a handler returned as a value."""
    if outcome.reason_code in _TEST_ENDINGS:
        return _TEST_ENDINGS[outcome.reason_code]
    if outcome.decision == "denied":
        return Ending.DENIED
    if outcome.decision == "failed":
        return Ending.TRANSIENT_ERROR
    return Ending.ANSWERED


def failure(context: Context, number: int | None, error: GpuLolError) -> Result:
    """Say an error where it was asked, and return how it ended."""
    from gpu_lol_action.handlers.refuse import tell_error

    text = tell_error(context, error, number)
    return Result(Outcome("failed", error.reason_code, text=text), error.ending, error=error)


def policy_for_an_end(context: Context, load_policy: Callable[[], Policy]) -> Policy:
    """Return the policy; where it cannot be read, one that allows nothing but teardown, which must not wait for it."""
    try:
        return load_policy()
    except GpuLolError as error:
        context.progress.line(f"the policy could not be read: {error.explanation.what}")
        return Policy(problem=error.explanation.what)
