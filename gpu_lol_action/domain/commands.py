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
    FORMAT = "format"
    REF = "ref"
    FILE = "file"


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
    door: DoorKind = DoorKind.BOTH


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command. ``positional`` names the optional argument, ``needs_cloud`` loads SkyPilot."""

    name: str
    summary: str
    permission: Permission
    doors: DoorKind = DoorKind.BOTH
    positional: str = ""
    positional_door: DoorKind = DoorKind.BOTH
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    needs_cloud: bool = False
    is_spending: bool = False

    def usage(self, door: DoorKind) -> str:
        """Return the command with the arguments that it takes at this door, without the door's prefix."""
        words = [self.name]
        if self.positional_at(door):
            words.append(f"[{self.positional}]")
        for option in self.options_at(door):
            value = "" if option.kind is OptionKind.SWITCH else f" {option.metavar}"
            words.append(f"[{option.name}{value}]")
        return " ".join(words)

    def options_at(self, door: DoorKind) -> tuple[Option, ...]:
        """Return the options that can be given at this door."""
        return tuple(option for option in self.options if option.door in (DoorKind.BOTH, door))

    def positional_at(self, door: DoorKind) -> str:
        """Return the name of the positional argument at this door, or nothing."""
        return self.positional if self.positional_door in (DoorKind.BOTH, door) else ""


TERMINAL = DoorKind.TERMINAL

UP_OPTIONS = (
    Option("--gpu", OptionKind.ACCELERATOR, "rent this accelerator instead", "A100-80GB:2"),
    Option("--hours", OptionKind.DURATION, "length of the lease", "2h"),
    Option("--spot", OptionKind.SWITCH, "an interruptible machine"),
    Option("--cloud", OptionKind.CLOUD, "only this cloud", "runpod"),
    Option("--region", OptionKind.REGION, "only this region", "US"),
    Option("--image", OptionKind.IMAGE, "another container image", "IMAGE"),
    Option("--sha", OptionKind.SHA, "only if this is still the head", "abc1234", DoorKind.COMMENT),
    Option("--share", OptionKind.USER, "install this GitHub user's SSH keys too", "USER"),
    Option("--dry-run", OptionKind.SWITCH, "say what would happen and cost, launch nothing"),
)

COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "analyze",
        "Read the code and propose the machine that it needs",
        Permission.COMMAND_ROLES,
        positional="path",
        positional_door=DoorKind.TERMINAL,
        options=(
            Option("--format", OptionKind.FORMAT, "how the proposal is printed", "text|json|yaml|markdown", TERMINAL),
            Option("--base", OptionKind.REF, "compare with this commit or branch", "REF", TERMINAL),
            Option("--verbose", OptionKind.SWITCH, "show every finding and every offer", door=TERMINAL),
            Option("--hub", OptionKind.SWITCH, "look models up on the Hugging Face Hub", door=TERMINAL),
            Option("--llm", OptionKind.SWITCH, "ask the language model of GPU_LOL_LLM_URL too", door=TERMINAL),
        ),
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
        positional="profile",
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
        doors=TERMINAL,
        options=(Option("--dry-run", OptionKind.SWITCH, "say what would be ended, end nothing"),),
        examples=("sweep --dry-run",),
        needs_cloud=True,
    ),
    CommandSpec(
        "rehearse",
        "Play the whole story on this machine, with real SkyPilot on a loopback cloud",
        Permission.ANYONE,
        doors=TERMINAL,
        positional="path",
        options=(Option("--output", OptionKind.FILE, "where the conversation is written", "rehearsal.html"),),
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
