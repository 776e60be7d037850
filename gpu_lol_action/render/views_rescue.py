"""What was saved from a machine, in a line of its certificate, and the commands that bring it back."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_lol_action.domain.rescue import Rescue
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, inline, join


@dataclass(frozen=True, slots=True)
class RescueView:
    """``summary`` is what the row says; ``commands`` is empty where none of the person's own keys opens it."""

    summary: Safe
    commands: str
    is_kept: bool


def rescue_view(saved: Rescue | None) -> RescueView | None:
    """Return the row about saved work, or None where there was none to save."""
    if saved is None:
        return None
    counts = (
        (saved.changed, "changed file", ""),
        (saved.files, "new file", ""),
        (saved.commits, "commit", ""),
    )
    what = join(formats.plural(count, one, many) for count, one, many in counts if count)
    if saved.problem:
        return RescueView(Safe(f"**not saved**: {inline(saved.problem)}"), "", is_kept=False)
    size = (
        f"{max(saved.size_bytes / 1024, 0.1):.1f} KiB"
        if saved.size_bytes < 2**20
        else f"{saved.size_bytes / 2**20:.1f} MiB"
    )
    left = f"; too large to keep: {formats.plural(saved.left_out, 'file')}" if saved.left_out else ""
    commands = f"{saved.command}\nage -d -i ~/.ssh/id_ed25519 work.age | tar xz"
    return RescueView(
        Safe(f"saved: {what or 'only a list'} ({size}, encrypted to the requester's SSH keys){left}"),
        commands if saved.recipients else "",
        saved.is_kept,
    )
