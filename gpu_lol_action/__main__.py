"""The Action's door: environment and event in, comments and outputs out, exit code last."""

from __future__ import annotations

import json
import signal
import sys
import traceback
from types import FrameType
from typing import TYPE_CHECKING

from gpu_lol_action import action_io
from gpu_lol_action.domain.annotation import Level
from gpu_lol_action.domain.request import Ignore
from gpu_lol_action.errors import Door, Ending, GpuLolError, SpecError, exit_code

if TYPE_CHECKING:
    from gpu_lol_action.router import Step

# A check's words for how loud an annotation is, in those of the job's log.
_LEVELS = {Level.NOTICE: "notice", Level.WARNING: "warning", Level.FAILURE: "error"}


def main() -> int:
    """Handle the event of this step and return the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _cancel)
    surroundings = action_io.read_surroundings()
    for item in action_io.INPUTS:
        if item.is_secret and surroundings.inputs[item.name]:
            action_io.mask(surroundings.inputs[item.name])
    try:
        return _handle(surroundings)
    except KeyboardInterrupt:
        action_io.annotate(
            "error", "gpu-lol was cancelled. `/gpu-lol status` shows what may still run.", title="Cancelled"
        )
        _finish("failed", "cancelled", {})
        return exit_code(Ending.CANCELLED, Door.JOB)
    except GpuLolError as error:
        action_io.annotate("error", _sentences(error), title=error.reason_code)
        action_io.write_summary(_sentences(error))
        _finish("failed", error.reason_code, {})
        return exit_code(error.ending, Door.JOB)
    except Exception as error:  # noqa: BLE001  nothing may end without a reason code
        action_io.log("".join(traceback.format_exception(error)))
        action_io.annotate("error", "gpu-lol met an error of its own; the log has the details.", title="internal_error")
        _finish("failed", "internal_error", {})
        return exit_code(Ending.INTERNAL_ERROR, Door.JOB)


def _cancel(_number: int, _frame: FrameType | None) -> None:
    """Turn the first signal into an exception that the compensation block sees; leave it its time afterwards."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _handle(surroundings: action_io.Surroundings) -> int:
    from gpu_lol_action.intake.events import parse_event

    try:
        payload = action_io.read_event(surroundings.event_path)
    except ValueError as error:
        action_io.annotate("error", f"The event cannot be read: {error}")
        _finish("failed", "event_unreadable", {})
        return exit_code(Ending.INTERNAL_ERROR, Door.JOB)
    event = parse_event(surroundings.event_name, payload)
    if isinstance(event, Ignore):
        return _ignore(event)

    from gpu_lol_action.router import route
    from gpu_lol_action.wiring.github import count_requests, load_policy
    from gpu_lol_action.wiring.job import job, left_out

    step = _step(surroundings)
    with job(surroundings, event) as context:
        run = route(context, event, lambda: load_policy(context, event.repository), step)
        (requests, requests_line), omissions = count_requests(context), left_out(context)
    if run.ignored is not None:
        return _ignore(run.ignored)
    action_io.log(requests_line)
    endings = [result.ending for result in run.results] or [Ending.ANSWERED]
    for result in run.results:
        if isinstance(result.error, SpecError):
            action_io.annotate(
                "error",
                context.redact(_sentences(result.error)),
                path=result.error.path,
                line=result.error.line,
                title="Invalid .gpu-lol.yaml",
            )
        elif result.error is not None:
            action_io.annotate("error", context.redact(_sentences(result.error)), title=result.error.reason_code)
        for each in result.outcome.annotations:
            action_io.annotate(
                _LEVELS[each.level], context.redact(each.message), path=each.path, line=each.line, title=each.title
            )
        if result.outcome.text:
            action_io.write_summary(context.redact(result.outcome.text))
        elif result.outcome.decision != "deferred":
            action_io.write_summary(f"gpu-lol: {result.outcome.decision}, `{result.outcome.reason_code}`.")
    action_io.write_summary(f"<sub>{requests_line}</sub>")
    if omissions:
        action_io.write_summary(context.redact("\n".join(f"- {line}" for line in omissions)))
    last = run.results[-1].outcome if run.results else None
    folders = [r.outcome.details["report_path"] for r in run.results if "report_path" in r.outcome.details]
    _finish(
        "deferred" if run.deferred else last.decision if last else "done",
        last.reason_code if last else "needs_cloud",
        {
            "results": [
                {"decision": r.outcome.decision, "reason_code": r.outcome.reason_code, **r.outcome.details}
                for r in run.results
            ],
            "github_requests": requests,
            **({"report_path": folders[-1]} if folders else {}),
        },
        deferred=run.deferred,
        pinned_sha=run.pinned_sha,
        lane=run.lane,
    )
    return max(exit_code(ending, Door.JOB) for ending in endings)


def _step(surroundings: action_io.Surroundings) -> Step:
    from gpu_lol_action.router import Step

    may_use_cloud, deferred = surroundings.phase != "decide", _indices(surroundings.deferred)
    if surroundings.is_finishing:
        from gpu_lol_action.handlers.finish import DeadJob

        return Step(may_use_cloud, finishes=DeadJob(deferred, surroundings.act_decision))
    return Step(may_use_cloud, only=deferred if surroundings.phase == "act" else None)


def _sentences(error: GpuLolError) -> str:
    """Return what a person is told, in one line."""
    return " ".join(filter(None, (error.explanation.what, error.explanation.why, error.explanation.fix)))


def _indices(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip().isdigit())


def _ignore(ignored: Ignore) -> int:
    action_io.log(f"Nothing to do: {ignored.why}.")
    _finish("ignored", ignored.reason_code, {"why": ignored.why})
    return exit_code(Ending.ANSWERED, Door.JOB)


def _finish(
    decision: str,
    reason_code: str,
    result: dict[str, object],
    *,
    deferred: tuple[int, ...] = (),
    pinned_sha: str = "",
    lane: str = "end",
) -> None:
    action_io.log(f"{decision}: {reason_code}")
    action_io.write_outputs(
        {
            "decision": decision,
            "reason_code": reason_code,
            "result": json.dumps({"decision": decision, "reason_code": reason_code, **result}, sort_keys=True),
            "report_path": str(result.get("report_path", "")),
            "needs_cloud": "true" if deferred else "false",
            "deferred": ",".join(str(index) for index in deferred),
            "pinned_sha": pinned_sha,
            "lane": lane,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
