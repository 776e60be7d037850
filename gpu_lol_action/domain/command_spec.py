"""What a row of the command table says of a command."""

from __future__ import annotations

import enum

from gpu_lol_action.domain.records import record


class OptionKind(enum.Enum):
    """How an option's value is read; ``SWITCH`` takes none."""

    SWITCH = "switch"
    ACCELERATOR = "accelerator"
    DURATION = "duration"
    CLOUD = "cloud"
    REGION = "region"
    IMAGE = "image"
    SHA = "sha"
    USER = "user"
    FORMAT = "format"
    REF = "ref"
    FILE = "file"
    TABLE = "table"
    CELL = "cell"
    LEVEL = "level"
    PIN = "pin"
    ENDPOINT = "endpoint"
    MODEL_NAME = "model name"
    PROFILE = "profile"
    MEMORY = "memory"
    PRICE = "price"
    COUNT = "count"
    PATTERN = "pattern"
    PROJECT = "project"


class DoorKind(enum.Enum):
    """Where a command can be given."""

    BOTH = "both"
    COMMENT = "comment"
    TERMINAL = "terminal"


class Permission(enum.Enum):
    """Who may give a command in a comment (in the terminal it is whoever holds the keys)."""

    ANYONE = "anyone"
    COMMAND_ROLES = "command roles"
    CONFIRMERS = "confirmers"


@record(frozen=True, slots=True)
class Option:
    """One option: its name with dashes, what its value is, and a line of help.

    ``column``: the cell of a run's description that it fills, named as in the tables that ``estimate --csv`` reads.
    """

    name: str
    kind: OptionKind
    summary: str
    metavar: str = ""
    door: DoorKind = DoorKind.BOTH
    column: str = ""


@record(frozen=True, slots=True)
class CommandSpec:
    """One command. ``positional`` names the optional argument, ``needs_cloud`` loads SkyPilot.

    ``settings`` are words of the form ``name=value``; a command that has any takes at least one. ``is_positional_needed``:
    there is no command without its argument. ``is_once``: an old run of it, started again by another, does nothing.
    ``ships_code``: it brings the pull request's code to a machine, so a fork's has to be named. ``words_behind`` names what has to stand behind ``--``, as it is written.
    """

    name: str
    summary: str
    permission: Permission
    doors: DoorKind = DoorKind.BOTH
    positional: str = ""
    positional_door: DoorKind = DoorKind.BOTH
    options: tuple[Option, ...] = ()
    settings: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    needs_cloud: bool = False
    is_spending: bool = False
    is_positional_needed: bool = False
    is_once: bool = False
    words_behind: str = ""
    ships_code: bool = False

    def usage(self, door: DoorKind) -> str:
        """Return the command with the arguments that it takes at this door, without the door's prefix."""
        words = [self.name]
        if self.positional_at(door):
            words.append(self.positional if self.is_positional_needed else f"[{self.positional}]")
        words += [f"[{setting.name}={setting.metavar}]" for setting in self.settings]
        for option in self.options_at(door):
            value = "" if option.kind is OptionKind.SWITCH else f" {option.metavar}"
            words.append(f"[{option.name}{value}]")
        if self.words_behind:
            words.append(f"-- {self.words_behind}")
        return " ".join(words)

    def examples_at(self, door: DoorKind) -> tuple[str, ...]:
        """Return the examples as this door takes them: what backticks hold together in Markdown, quotes do in a shell."""
        is_shell = door is DoorKind.TERMINAL
        return tuple(example.replace("`", "'") if is_shell else example for example in self.examples)

    def options_at(self, door: DoorKind) -> tuple[Option, ...]:
        """Return the options that can be given at this door."""
        return tuple(option for option in self.options if option.door in (DoorKind.BOTH, door))

    def positional_at(self, door: DoorKind) -> str:
        """Return the name of the positional argument at this door, or nothing."""
        return self.positional if self.positional_door in (DoorKind.BOTH, door) else ""
