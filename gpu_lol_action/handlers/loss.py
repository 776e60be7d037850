"""Tell a machine that was lost from one that does not answer: the cloud knows which."""

from __future__ import annotations

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.machine import find_loss
from gpu_lol_action.errors import Explanation, GpuLolError, TransientError
from gpu_lol_action.handlers.journal import Journal


def explain_loss(journal: Journal, *, during: str, again: str) -> TransientError | None:
    """Return what to tell where the provider has taken back, or stopped, the machine; None where it lists it still.

    ``during`` ends the sentence ("while it was being set up"), ``again`` is what brings another one. A cloud that does
    not answer has said nothing.
    """
    record = journal.record
    try:
        is_lost = _is_lost(journal, record)
    except GpuLolError as silence:
        journal.context.progress.line(f"could not look for the machine: {silence.explanation.what}")
        return None
    if not is_lost:
        return None
    told = _taken_back(during, again) if record.use_spot else _ended(during, again)
    return TransientError("machine_lost", told.what, why=told.why, fix=told.fix)


def _is_lost(journal: Journal, record: EnvironmentRecord) -> bool:
    if record.cloud is None or record.name_on_cloud is None:
        return False
    listed = journal.context.cloud().machines(record.cloud, record.name_on_cloud)
    return find_loss(listed, record.name_on_cloud) is not None


def _taken_back(during: str, again: str) -> Explanation:
    return Explanation(
        f"The cloud took back the machine {during}.",
        "A spot machine is taken back when somebody pays more.",
        again,
    )


def _ended(during: str, again: str) -> Explanation:
    return Explanation(
        f"The cloud ended or stopped the machine {during}.",
        "Somebody ended it there, its host failed, or the account's balance was used up.",
        again,
    )
