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
    TABLE = "table"
    CELL = "cell"
    LEVEL = "level"
    PIN = "pin"
    PROFILE = "profile"
    MEMORY = "memory"
    PRICE = "price"
    COUNT = "count"


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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


TERMINAL = DoorKind.TERMINAL

WHICH = Option("--profile", OptionKind.PROFILE, "which machine, where several run", "NAME")

UP_OPTIONS = (
    Option("--gpu", OptionKind.ACCELERATOR, "rent this accelerator instead", "A100-80GB:2"),
    Option("--hours", OptionKind.DURATION, "length of the lease", "2h"),
    Option("--spot", OptionKind.SWITCH, "an interruptible machine"),
    Option("--cloud", OptionKind.CLOUD, "only this cloud", "runpod"),
    Option("--region", OptionKind.REGION, "only this region", "US"),
    Option("--image", OptionKind.IMAGE, "another container image", "IMAGE"),
    Option("--sha", OptionKind.SHA, "only if this is still the head", "abc1234", DoorKind.COMMENT),
    Option("--share", OptionKind.USER, "install this GitHub user's SSH keys too", "USER"),
    Option("--restore", OptionKind.SWITCH, "put back what was saved from the last machine of this pull request"),
    Option("--dry-run", OptionKind.SWITCH, "say what would happen and cost, launch nothing"),
)

_CELL = OptionKind.CELL
ESTIMATE_OPTIONS = (
    Option("--model", _CELL, "a model's id or name", "ID", column="model"),
    Option("--params-b", _CELL, "parameters in billions", "7", column="params_B"),
    Option("--hidden", _CELL, "hidden size", "4096", column="hidden"),
    Option("--layers", _CELL, "number of layers", "32", column="layers"),
    Option("--heads", _CELL, "attention heads", "32", column="heads"),
    Option("--kv-heads", _CELL, "key-value heads", "8", column="kv_heads"),
    Option("--ffn", _CELL, "inner width of the feed-forward layers", "11008", column="ffn"),
    Option("--vocab", _CELL, "size of the vocabulary", "32000", column="vocab"),
    Option("--method", _CELL, "what is done", "inference|full_ft|lora|qlora|pretrain", column="method"),
    Option("--precision", _CELL, "fp32, bf16, bf16-mixed, int8, nf4, gptq, q4_k, ...", "bf16", column="precision"),
    Option("--optimizer", _CELL, "adamw, adamw_8bit, paged_adamw, adafactor, lion, ...", "adamw", column="optimizer"),
    Option("--seq-len", _CELL, "tokens per sample", "2048", column="seq_len"),
    Option("--batch", _CELL, "samples per card at a time", "1", column="batch"),
    Option("--grad-ckpt", OptionKind.SWITCH, "recompute activations in the backward pass", column="grad_ckpt"),
    Option(
        "--zero-stage",
        _CELL,
        "what is divided: ZeRO's stage, fsdp, tp or pp",
        "0|1|2|3|fsdp|tp|pp",
        column="zero_stage",
    ),
    Option("--gpus", _CELL, "number of cards", "1", column="n_gpus"),
    Option("--tensor-parallel", _CELL, "cards that share each layer", "2", column="tensor_parallel"),
    Option("--offload", _CELL, "what lies in main memory", "optimizer|parameters|activations", column="offload"),
    Option("--lora-rank", _CELL, "rank of the adapters", "16", column="lora_rank"),
    Option("--attention", _CELL, "eager keeps the matrix of all pairs", "fused|eager", column="attention"),
    Option("--format", OptionKind.FORMAT, "how the answer is printed", "text|json|markdown", TERMINAL),
    Option("--csv", OptionKind.TABLE, "estimate each row of this table instead", "FILE", TERMINAL),
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
        "set",
        "Correct the proposal of this pull request; it is remembered, `auto` takes it back",
        Permission.COMMAND_ROLES,
        doors=DoorKind.COMMENT,
        settings=(
            Option("vram", OptionKind.MEMORY, "memory that a program needs per GPU, in GiB", "48"),
            Option("gpu", OptionKind.ACCELERATOR, "this accelerator, with `:2` two of them", "A100-80GB"),
            Option("count", OptionKind.COUNT, "GPUs per machine, 0 for none", "2"),
            Option("image", OptionKind.IMAGE, "this container image", "IMAGE"),
        ),
        examples=("set vram=48", "set gpu=A100-80GB:2", "set vram=auto"),
    ),
    CommandSpec(
        "mute",
        "Leave the proposal of this pull request as it is, until `unmute`",
        Permission.COMMAND_ROLES,
        doors=DoorKind.COMMENT,
        examples=("mute",),
    ),
    CommandSpec(
        "unmute",
        "Keep the proposal of this pull request up to date again",
        Permission.COMMAND_ROLES,
        doors=DoorKind.COMMENT,
        examples=("unmute",),
    ),
    CommandSpec(
        "estimate",
        "Say how much GPU memory a run needs, and which cards have it",
        Permission.COMMAND_ROLES,
        options=ESTIMATE_OPTIONS,
        examples=(
            "estimate --model Qwen/Qwen2.5-7B --method qlora --seq-len 2048",
            "estimate --params-b 7 --method full_ft --gpus 8 --zero-stage 3",
        ),
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
        "confirm",
        "Let another person's `up` rent what costs more than one person may spend",
        Permission.CONFIRMERS,
        doors=DoorKind.COMMENT,
        positional="request",
        options=(
            Option("--sha", OptionKind.SHA, "the commit that you have looked at, in full", "COMMIT"),
            Option("--price", OptionKind.PRICE, "the most that it may cost, in dollars an hour", "7.96"),
        ),
        examples=(f"confirm 2817364555-9f3a61c2d0b47e18 --sha {'4f1d' * 10} --price 7.96",),
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
        "budget",
        "Show what this month has cost, by person and pull request, and what is promised",
        Permission.COMMAND_ROLES,
        options=(Option("--format", OptionKind.FORMAT, "how it is printed", "text|json|markdown", TERMINAL),),
        examples=("budget",),
    ),
    CommandSpec(
        "extend",
        "Give the machine more time, as far as lease and budget allow",
        Permission.COMMAND_ROLES,
        positional="duration",
        options=(WHICH,),
        examples=("extend 2h", "extend 45m"),
        needs_cloud=True,
        is_once=True,
    ),
    CommandSpec(
        "sync",
        "Bring the new commits to the machine, without touching unsaved work",
        Permission.COMMAND_ROLES,
        options=(
            WHICH,
            Option("--sha", OptionKind.SHA, "only if this is still the head", "abc1234", DoorKind.COMMENT),
        ),
        examples=("sync",),
        needs_cloud=True,
        is_once=True,
        ships_code=True,
    ),
    CommandSpec(
        "share",
        "Let another GitHub user log in to the machine too",
        Permission.COMMAND_ROLES,
        doors=DoorKind.COMMENT,
        positional="user",
        options=(WHICH,),
        examples=("share @grace",),
        needs_cloud=True,
        is_positional_needed=True,
        is_once=True,
    ),
    CommandSpec(
        "unshare",
        "Take a user's keys from the machine again",
        Permission.COMMAND_ROLES,
        doors=DoorKind.COMMENT,
        positional="user",
        options=(WHICH,),
        examples=("unshare @grace",),
        needs_cloud=True,
        is_positional_needed=True,
        is_once=True,
    ),
    CommandSpec(
        "validate",
        "Check the running machine again: driver, GPU, packages, disk, credentials",
        Permission.COMMAND_ROLES,
        options=(WHICH,),
        examples=("validate",),
        needs_cloud=True,
    ),
    CommandSpec(
        "run",
        "Run a command in the checkout on the machine, and show its output",
        Permission.COMMAND_ROLES,
        options=(WHICH,),
        examples=("run -- nvidia-smi -L", "run -- python train.py --steps 10"),
        needs_cloud=True,
        is_once=True,
        words_behind="COMMAND",
    ),
    CommandSpec(
        "logs",
        "Show the end of set-up's log, or of the last command's",
        Permission.COMMAND_ROLES,
        positional="setup|run",
        options=(WHICH,),
        examples=("logs", "logs run"),
        needs_cloud=True,
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
        "policy",
        "Check the policy file of this folder, and write out all that holds",
        Permission.ANYONE,
        doors=TERMINAL,
        positional="path",
        options=(
            Option("--explain", OptionKind.SWITCH, "say where each value comes from: a line of the file, or a default"),
            Option("--format", OptionKind.FORMAT, "how it is printed", "text|json"),
        ),
        examples=("policy --explain",),
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
        "ledger",
        "List every machine on record, or show each version of one record: the audit log",
        Permission.ANYONE,
        doors=TERMINAL,
        positional="environment",
        options=(Option("--csv", OptionKind.SWITCH, "print a table for programs"),),
        examples=("ledger", "ledger gl-ahreaa-128", "ledger --csv"),
    ),
    CommandSpec(
        "init",
        "Write the workflows that fit this repository, and say what to do next",
        Permission.ANYONE,
        doors=TERMINAL,
        options=(
            Option("--level", OptionKind.LEVEL, "1: proposals, no secret; 2: machines too, one secret", "1|2"),
            Option("--public", OptionKind.SWITCH, "it is public, where GitHub cannot be asked"),
            Option("--private", OptionKind.SWITCH, "it is private, where GitHub cannot be asked"),
            Option("--forks", OptionKind.SWITCH, "cover pull requests from forks of a private one too"),
            Option("--cloud", OptionKind.CLOUD, "whose key level 2 passes", "runpod|lambda"),
            Option("--pin", OptionKind.PIN, "call this commit or tag of gpu-lol", "COMMIT"),
            Option("--force", OptionKind.SWITCH, "write over files that are there and differ"),
            Option("--dry-run", OptionKind.SWITCH, "show the files, write nothing"),
        ),
        examples=("init", "init --level 2 --dry-run"),
    ),
    CommandSpec(
        "doctor",
        "Check token, permissions, policy, records, sweeper, SkyPilot and cloud key, with the fix of what lacks",
        Permission.ANYONE,
        doors=TERMINAL,
        options=(Option("--format", OptionKind.FORMAT, "how the report is printed", "text|json|markdown", TERMINAL),),
        examples=("doctor", "doctor --format json"),
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
    # Python lowers the Kelvin sign to a k: only ASCII is a word of ours.
    return _BY_WORD.get(word.lower()) if word.isascii() else None


def command_words(door: DoorKind) -> tuple[str, ...]:
    """Return every word that is a command at this door, in the table's order."""
    return tuple(word for word, spec in _BY_WORD.items() if spec.doors in (DoorKind.BOTH, door))
