"""The commands about machines: from renting one to its bill."""

from __future__ import annotations

from gpu_lol_action.domain.command_spec import CommandSpec, DoorKind, Option, OptionKind, Permission

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
    Option(
        "--wait", OptionKind.SWITCH, "where no offer has a machine, ask again for as long as half of the lease is left"
    ),
    Option("--dry-run", OptionKind.SWITCH, "say what would happen and cost, launch nothing"),
)

MACHINE_COMMANDS: tuple[CommandSpec, ...] = (
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
        "smoke",
        "Run the GPU smoke test of this commit on a machine of its own, report it, and end the machine",
        Permission.COMMAND_ROLES,
        positional="commit",
        positional_door=DoorKind.COMMENT,
        options=(
            Option("--gpu", OptionKind.ACCELERATOR, "on this accelerator instead of the spec's", "A100-80GB:2"),
            Option("--image", OptionKind.IMAGE, "in another container image", "IMAGE"),
            Option("--cloud", OptionKind.CLOUD, "only on this cloud", "runpod"),
            Option("--dry-run", OptionKind.SWITCH, "say what would be run where, rent nothing"),
        ),
        examples=("smoke", "smoke --gpu L4", f"smoke {'4f1d' * 10}"),
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
)
