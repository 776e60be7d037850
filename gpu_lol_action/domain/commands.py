"""The command table: one row defines a command for the parser, the help, the docs and both doors."""

from __future__ import annotations

from gpu_lol_action.domain.command_rows_code import CODE_COMMANDS
from gpu_lol_action.domain.command_rows_machine import MACHINE_COMMANDS
from gpu_lol_action.domain.command_rows_upkeep import UPKEEP_COMMANDS
from gpu_lol_action.domain.command_spec import CommandSpec, DoorKind

COMMANDS: tuple[CommandSpec, ...] = (*CODE_COMMANDS, *MACHINE_COMMANDS, *UPKEEP_COMMANDS)

_BY_WORD = {word: spec for spec in COMMANDS for word in (spec.name, *spec.aliases)}


def find_command(word: str) -> CommandSpec | None:
    """Return the row for a command or one of its aliases, in any case."""
    # Python lowers the Kelvin sign to a k: only ASCII is a word of ours.
    return _BY_WORD.get(word.lower()) if word.isascii() else None


def command_words(door: DoorKind) -> tuple[str, ...]:
    """Return every word that is a command at this door, in the table's order."""
    return tuple(word for word, spec in _BY_WORD.items() if spec.doors in (DoorKind.BOTH, door))
