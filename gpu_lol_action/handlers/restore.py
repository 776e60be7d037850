"""Put work that was saved from one machine onto the next; the machine is handed over whatever comes of it."""

from __future__ import annotations

import secrets
from datetime import timedelta

from gpu_lol_action.domain.environment import Check, CheckStatus, SshEndpoint
from gpu_lol_action.domain.rescue import Rescue
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.launch.rescue import build_restore_script, parse_restore_output

TIME_BOX = timedelta(minutes=3)


def restore_work(context: Context, endpoint: SshEndpoint, folder: str, saved: Rescue | None) -> tuple[Check, ...]:
    """Return what to tell about the saved work, as a note among the checks; nothing where none was asked for."""
    if saved is None or context.vault is None:
        return ()
    context.progress.phase("putting saved work back")
    nonce = secrets.token_hex(16)
    try:
        data = context.vault().fetch(saved.locator)
        output = context.shell().run(endpoint, build_restore_script(folder, nonce), stdin=data, timeout=TIME_BOX)
        restored = parse_restore_output(output.stdout, nonce)
    except GpuLolError as error:
        restored = error.explanation.what
    if isinstance(restored, str):
        return (_note(f"What was saved is not back: {context.redact(restored)}."),)
    placed = ", ".join(restored.placed) or "nothing"
    left = f"; {', '.join(restored.kept)} did not fit this commit and lie in ~/rescued-work" if restored.kept else ""
    return (_note(f"Saved work is back: {placed}{left}."),)


def _note(sentence: str) -> Check:
    return Check("saved_work", CheckStatus.NOTED, sentence)
