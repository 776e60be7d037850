"""What a command or a log on a machine said, cut to a comment's size from its end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.launch.command import Output
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, clean_lines
from gpu_lol_action.render.views import BillingView, MachineView, ReplyTo, billing_view, machine_view, reply_marker

MOST_LINES = 200
MOST_CHARACTERS = 24_000


@dataclass(frozen=True, slots=True)
class Said:
    """What is told of a command besides its output: what it used, why it died, and the remedy."""

    measured: str = ""
    cause: str = ""
    remedy: str = ""


NOTHING_SAID = Said()


@dataclass(frozen=True, slots=True)
class OutputView:
    """A command with its exit status, or a log with its age; ``summary`` says how much of it is shown."""

    marker: Safe
    mark: Safe
    machine: MachineView
    command: str
    verdict: Safe
    summary: Safe
    text: str
    hint: str
    said: Said
    billing: BillingView


def output_view(  # noqa: PLR0913 - an answer is made from all of these
    record: EnvironmentRecord,
    command: str,
    text: str,
    found: Output,
    now: datetime,
    reply_to: ReplyTo | None,
    *,
    said: Said,
) -> OutputView:
    """Return the answer; ``text`` is the redacted output."""
    shown, left_out = _tail(text)
    is_log = found.exit_code is None
    lines = formats.plural(len(shown), "line")
    beginning = " the beginning is left out" if found.is_cut or left_out else ""
    summary = Safe(f"{'The last ' if beginning else ''}{lines}{';' + beginning if beginning else ''}")
    return OutputView(
        marker=reply_marker(reply_to, "output"),
        mark=Safe("🟢" if is_log or found.exit_code == 0 else "🔴"),
        machine=machine_view(record),
        command=command,
        verdict=_verdict(found),
        summary=summary,
        text="\n".join(shown),
        hint="" if is_log or not beginning else "All of it is on the machine, in `~/.gpu-lol/runs`.",
        said=said,
        billing=billing_view(record, now),
    )


def _verdict(found: Output) -> Safe:
    if found.exit_code is None:
        return Safe(f"Log, written {formats.duration(found.age)} ago")
    took = formats.duration(found.took)
    if found.is_timed_out:
        return Safe(f"Stopped after {took}, its time box")
    return Safe(f"Exit status {found.exit_code} after {took}")


def _tail(text: str) -> tuple[list[str], bool]:
    """Return the last lines that fit, and whether any are left out. A progress bar's line is what it showed last."""
    lines = clean_lines("\n".join(line.rsplit("\r", 1)[-1] for line in text.replace("\r\n", "\n").split("\n")))
    kept: list[str] = []
    room = MOST_CHARACTERS
    for line in reversed(lines[-MOST_LINES:]):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept[::-1], len(kept) < len(lines)
