"""The commands about an installation: help, set-up, policy, records."""

from __future__ import annotations

from gpu_lol_action.domain.command_spec import CommandSpec, DoorKind, Option, OptionKind, Permission

TERMINAL = DoorKind.TERMINAL

UPKEEP_COMMANDS: tuple[CommandSpec, ...] = (
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
            Option(
                "--llm-url", OptionKind.ENDPOINT, "a language model there may correct proposals", "HTTPS_URL|copilot"
            ),
            Option("--llm-model", OptionKind.MODEL_NAME, "its name there; without, Copilot chooses", "NAME"),
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
        "templates",
        "List the templates of your RunPod account, the preferred ones marked",
        Permission.ANYONE,
        doors=TERMINAL,
        options=(
            Option("--filter", OptionKind.PATTERN, "only those with this in their name", "WORD"),
            Option("--format", OptionKind.FORMAT, "how they are printed", "text|json"),
        ),
        examples=("templates", "templates --filter torch"),
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
