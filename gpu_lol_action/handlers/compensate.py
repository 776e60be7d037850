"""The money rule: whatever a run has launched, it ends, however it came to an end itself."""

from __future__ import annotations

from gpu_lol_action.domain.environment import EnvironmentRecord, Tombstone
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.journal import Journal
from gpu_lol_action.handlers.teardown import Ended, Unproven, end_environment, reread, write_tombstone


def buried(journal: Journal) -> Tombstone | None:
    """Return the tombstone that somebody has put on this environment meanwhile, where that can be read."""
    try:
        newest = reread(journal.context, journal.entry)
    except GpuLolError as error:
        journal.context.progress.line(f"could not look for a tombstone: {error.explanation.what}")
        return None
    if newest.record.tombstone is not None:
        journal.entry = newest  # else the journal knows more: what it has not written yet
    return newest.record.tombstone


def compensate(journal: Journal, reason_code: str) -> Ended | Unproven:
    """End what this run launched; whatever goes wrong with that is an end that is not proven, never an exception."""
    context, order = journal.context, journal.order
    tombstone = Tombstone(order.requester.login, reason_code, context.clock.now())
    is_marked = is_stopped = False
    try:
        # First of all: a runner that was cancelled has ten seconds, and whoever comes next must know that this is over.
        journal.entry = write_tombstone(context, journal.entry, tombstone)
        is_marked = True
        context.progress.phase("ending what was started")
    except Exception as error:  # noqa: BLE001  the machine is ended all the same
        _log(context, "the end could not be written down yet", error)
    try:
        context.cloud().cancel()
        is_stopped = True
    except Exception as error:  # noqa: BLE001  a launch that cannot be cancelled is a reason more to end its machine
        _log(context, "the launch could not be cancelled", error)
    if not is_marked:
        _end_unmarked(context, journal.record)
    try:
        return end_environment(context, journal.entry, tombstone, order.policy, is_launcher=is_stopped)
    except GpuLolError as error:
        return Unproven(journal.entry, error.explanation.what)
    except Exception as error:  # noqa: BLE001  the requester must learn what may still run
        context.progress.failure(error)
        return Unproven(journal.entry, "gpu-lol failed on a fault of its own while ending it")


def _end_unmarked(context: Context, record: EnvironmentRecord) -> None:
    """End the machine where the ledger cannot be written; the record stays open, so nothing is certified by this."""
    if record.launch_asked_at is None or record.cloud is None or record.name_on_cloud is None:
        return
    try:
        context.cloud().teardown(record.cloud, record.name_on_cloud, record.provider_config)
    except Exception as error:  # noqa: BLE001  the record says that it may run, and the sweeper takes it up
        _log(context, "the machine could not be ended yet", error)


def _log(context: Context, what: str, error: Exception) -> None:
    """Keep an error in the log: in a sentence where it was expected, whole where it is a fault of ours."""
    if isinstance(error, GpuLolError):
        context.progress.line(f"{what}: {error.explanation.what}")
    else:
        context.progress.failure(error)
