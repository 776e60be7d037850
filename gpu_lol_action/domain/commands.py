"""The command table: one row defines a command for the parser, the help, the docs and both doors."""

from __future__ import annotations

import enum
from dataclasses import dataclass


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


class DoorKind(enum.Enum):
    """Where a command can be given."""

    BOTH = "both"
    COMMENT = "comment"
    TERMINAL = "terminal"


class Permission(enum.Enum):
    """Who may give a command in a comment (in the terminal it is whoever holds the keys)."""

    ANYONE = "anyone"
    COMMAND_ROLES = "command roles"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name with dashes, what its value is, and a line of help."""

    name: str
    kind: OptionKind
    summary: str
    metavar: str = ""


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command. ``positional`` names the optional argument, ``needs_cloud`` loads SkyPilot."""

    name: str
    summary: str
    permission: Permission
    doors: DoorKind = DoorKind.BOTH
    positional: str = ""
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    needs_cloud: bool = False
    is_spending: bool = False

    @property
    def usage(self) -> str:
        """The command with its arguments, without the door's prefix."""
        words = [self.name]
        if self.positional:
            words.append(f"[{self.positional}]")
        words.extend(
            f"[{option.name}]" if option.kind is OptionKind.SWITCH else f"[{option.name} {option.metavar}]"
            for option in self.options
        )
        return " ".join(words)


UP_OPTIONS = (
    Option("--gpu", OptionKind.ACCELERATOR, "rent this accelerator instead", "A100-80GB:2"),
    Option("--hours", OptionKind.DURATION, "length of the lease", "2h"),
    Option("--spot", OptionKind.SWITCH, "an interruptible machine"),
    Option("--cloud", OptionKind.CLOUD, "only this cloud", "runpod"),
    Option("--region", OptionKind.REGION, "only this region", "US"),
    Option("--image", OptionKind.IMAGE, "another container image", "IMAGE"),
    Option("--sha", OptionKind.SHA, "exactly this commit of the pull request", "abc1234"),
    Option("--share", OptionKind.USER, "install this GitHub user's SSH keys too", "USER"),
    Option("--dry-run", OptionKind.SWITCH, "say what would happen and cost, launch nothing"),
)

COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "analyze",
        "Read the code again and refresh the proposal",
        Permission.COMMAND_ROLES,
        examples=("analyze",),
    ),
    CommandSpec(
        "up",
        "Rent the machine this code needs, check it, and post SSH details",
        Permission.COMMAND_ROLES,
        positional="profile",
        options=UP_OPTIONS,
        examples=("up", "up --gpu A100-80GB:2 --hours 4", "up --dry-run"),
        needs_cloud=True,
        is_spending=True,
    ),
    CommandSpec(
        "status",
        "Show state, age, time left and cost of what is running",
        Permission.COMMAND_ROLES,
        aliases=("ls",),
        examples=("status",),
    ),
    CommandSpec(
        "down",
        "Tear the machine down and post the bill",
        Permission.COMMAND_ROLES,
        options=(Option("--all", OptionKind.SWITCH, "every environment of this pull request"),),
        examples=("down", "down --all"),
        aliases=("stop",),
        needs_cloud=True,
    ),
    CommandSpec(
        "help",
        "List the commands, or explain one",
        Permission.ANYONE,
        positional="command",
        examples=("help", "help up"),
    ),
    CommandSpec(
        "sweep",
        "End what is over or ownerless, and report what could not be ended",
        Permission.COMMAND_ROLES,
        doors=DoorKind.TERMINAL,
        options=(Option("--dry-run", OptionKind.SWITCH, "say what would be ended, end nothing"),),
        examples=("sweep --dry-run",),
        needs_cloud=True,
    ),
    CommandSpec(
        "rehearse",
        "Play the whole story on this machine, with real SkyPilot on a loopback cloud",
        Permission.ANYONE,
        doors=DoorKind.TERMINAL,
        positional="path",
        examples=("rehearse .",),
        needs_cloud=True,
    ),
)

_BY_WORD = {word: spec for spec in COMMANDS for word in (spec.name, *spec.aliases)}


def find_command(word: str) -> CommandSpec | None:
    """Return the row for a command or one of its aliases, in any case."""
    return _BY_WORD.get(word.lower())


def command_words(door: DoorKind) -> tuple[str, ...]:
    """Return every word that is a command at this door, in the table's order."""
    return tuple(word for word, spec in _BY_WORD.items() if spec.doors in (DoorKind.BOTH, door))
