"""Save the work on a machine before a planned end; whatever goes wrong with that never keeps the end from coming."""

from __future__ import annotations

import dataclasses
import secrets
import tempfile
from datetime import timedelta
from pathlib import Path

from gpu_lol_action.domain.environment import EnvironmentRecord, SshEndpoint
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.rescue import Rescue
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.ports import Vault
from gpu_lol_action.launch.code import folder_name
from gpu_lol_action.launch.rescue import MAX_PACKED_BYTES, build_rescue_script, parse_rescue_output

TIME_BOX = timedelta(seconds=90)


def rescue_work(context: Context, entry: Entry) -> Entry:
    """Save what would be lost with this machine and write into the record what was saved, or why nothing was."""
    record = entry.record
    if context.vault is None or record.ready_at is None or record.ssh is None or record.rescue is not None:
        return entry
    if record.cloud not in context.settings.clouds:
        return entry
    context.progress.phase("saving the work on it")
    try:
        saved = _save(context, record, record.ssh, context.vault())
    except GpuLolError as error:
        saved = Rescue(context.clock.now(), problem=context.redact(error.explanation.what))
    except Exception as error:  # noqa: BLE001  a fault of ours must not keep a machine running
        context.progress.failure(error)
        saved = Rescue(context.clock.now(), problem="gpu-lol failed on a fault of its own")
    if saved is None:
        return entry
    try:
        changed = dataclasses.replace(record, rescue=saved, updated_at=context.clock.now())
        return context.ledger.update(entry, changed)
    except GpuLolError as error:
        context.progress.line(f"what was saved is not in the record: {error.explanation.what}")
        return entry


def _save(context: Context, record: EnvironmentRecord, endpoint: SshEndpoint, vault: Vault) -> Rescue | None:
    """Return what was saved; None where nothing would be lost."""
    now, nonce = context.clock.now(), secrets.token_hex(16)
    script = build_rescue_script(folder_name(record.repository), record.sha, record.keep, nonce)
    with tempfile.TemporaryDirectory(prefix="gpu-lol-rescue-") as folder:
        packed = Path(folder) / "work.tar.gz"
        output = context.shell().run(endpoint, script, timeout=TIME_BOX, into=packed)
        fetched = parse_rescue_output(output.stderr, nonce)
        if isinstance(fetched, str):
            return Rescue(now, problem=context.redact(fetched))
        if fetched.is_empty:
            return None
        counts = Rescue(now, fetched.changed, fetched.commits, fetched.files, fetched.left_out)
        size_bytes = packed.stat().st_size
        if size_bytes > MAX_PACKED_BYTES:
            limit = f"it is {size_bytes >> 20} MiB packed, more than the {MAX_PACKED_BYTES >> 20} that can be kept"
            return dataclasses.replace(counts, problem=limit)
        keys = context.forge.ssh_keys(record.requester.login)
        kept = vault.keep(record.name, packed.read_bytes(), keys)
    return dataclasses.replace(
        counts, size_bytes=size_bytes, locator=kept.locator, command=kept.command, recipients=kept.recipients
    )
