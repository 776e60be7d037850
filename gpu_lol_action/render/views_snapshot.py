"""A running machine as a spec: what is new of it, and the file that says so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.policy import SPEC_PATH
from gpu_lol_action.domain.snapshot import Change, Snapshot
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, code, html_code, join
from gpu_lol_action.render.views import BillingView, MachineView, ReplyTo, billing_view, machine_view, reply_marker

MOST_LISTED = 24


@dataclass(frozen=True, slots=True)
class SnapshotView:
    """``lines`` are the changes, ``more`` how many of them are not listed; ``spec_yaml`` is empty where nothing is new."""

    marker: Safe
    machine: MachineView
    verdict: Safe
    lines: tuple[Safe, ...]
    more: Safe
    summary: Safe
    spec_yaml: str
    notice: str
    left_out: tuple[str, ...]
    billing: BillingView


@dataclass(frozen=True, slots=True)
class SnapshotCase:
    """A snapshot with its file's text; ``notice`` says where else it was proposed."""

    record: EnvironmentRecord
    taken: Snapshot
    spec_yaml: str
    has_file: bool
    notice: str
    now: datetime
    reply_to: ReplyTo | None = None
    spec_name: str = SPEC_PATH

    @property
    def is_new(self) -> bool:
        """Whether there is anything to propose."""
        return bool(self.taken.changes) or not self.has_file


def snapshot_view(case: SnapshotCase) -> SnapshotView:
    """Return the answer to ``snapshot``."""
    changes = case.taken.changes
    count = formats.plural(len(changes), "change")
    is_new = case.is_new
    listed = tuple(_line(each) for each in changes[:MOST_LISTED])
    file = Safe(f"<code>{SPEC_PATH}</code>") if case.spec_name == SPEC_PATH else html_code(case.spec_name, 120)
    return SnapshotView(
        marker=reply_marker(case.reply_to, "snapshot"),
        machine=machine_view(case.record),
        verdict=Safe(f"{count} since set-up" if changes else "Nothing new since set-up"),
        lines=listed,
        more=Safe(f"{len(changes) - MOST_LISTED} more are in the file") if len(changes) > MOST_LISTED else Safe(""),
        summary=Safe(f"{file} with what is on the machine" if case.has_file else f"{file}, new in this repository"),
        spec_yaml=case.spec_yaml if is_new else "",
        notice=case.notice,
        left_out=case.taken.left_out,
        billing=billing_view(case.record, case.now),
    )


def _line(change: Change) -> Safe:
    key = code(change.key)
    if change.before and change.after:
        return join(
            (key, Safe(": "), code(change.before, 120), Safe(" is "), code(change.after, 120), Safe(" now")), ""
        )
    verb, value = ("is new", change.after) if change.after else ("is gone", change.before)
    return join((key, Safe(": "), code(value, 160), Safe(f" {verb}")), "")
