"""A label as somebody's word: what is known of how it was set, and of the code that it was set on."""

from __future__ import annotations

from datetime import datetime

from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class LabelWord:
    """When a person last set a label, and when the repository of the head was last pushed to, by the clock of GitHub.

    None is what GitHub does not say.
    """

    set_at: datetime | None = None
    pushed_at: datetime | None = None
