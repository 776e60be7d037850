"""Snapshots in a terminal: a file that was asked for, and a copy by the environment's name for `resume`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.request import Outcome
from gpu_lol_action.domain.spec_yaml import parse_spec
from gpu_lol_action.errors import UserError
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.intake.values import ENVIRONMENT
from gpu_lol_action.wiring.hands import state_folder

MAX_SPEC_BYTES = 1024 * 1024


def keep_snapshot(outcome: Outcome, order: Order) -> Path | None:
    """Keep a copy under the environment's name; write the file that was asked for, and return it. Raises UserError."""
    text, kept = outcome.details["spec"], _kept(order, outcome.details["environment"])
    try:
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(kept, text)
        if order.command.output is None:
            return None
        path = Path(order.command.output)
        _write(path, text)
    except OSError as error:
        what = f"{error.filename or kept} cannot be written: {error.strerror or error}."
        raise UserError("spec_unwritable", what, fix="gpu-lol snapshot --output FILE") from error
    return path


def resumed(context: Context, order: Order) -> Order:
    """Return `up` with the spec that `resume` names: a file, else the last snapshot of an environment, for the project that it was of.

    Raises UserError where there is neither, SpecError where it is no spec.
    """
    word = order.command.path or ""
    path = Path(word)
    project = order.command.project
    if not path.is_file() and ENVIRONMENT.fullmatch(word):
        path, last = _kept(order, word), context.ledger.read(word)
        project = project or (last.record.project if isinstance(last, Entry) else "")
    try:
        if path.stat().st_size > MAX_SPEC_BYTES:
            raise UserError("spec_not_found", f"{path} is larger than a spec can be.")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            "spec_not_found",
            f"There is no spec {word}, and no snapshot of an environment of that name.",
            fix="gpu-lol snapshot --output FILE",
        ) from error
    parse_spec(text, word)  # what is wrong is said of this file, not of the one in the repository
    return replace(order, command=replace(order.command, name="up", path=None, project=project), spec_text=text)


def _kept(order: Order, environment: str) -> Path:
    return state_folder("snapshots", order.repository.full_name) / f"{environment}.yaml"


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all: the one before it stays until then."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)
