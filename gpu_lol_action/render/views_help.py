"""The command table as view models: the list for one door, or one command with its options and examples."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_lol_action.domain.command_spec import CommandSpec, DoorKind, OptionKind, Permission
from gpu_lol_action.domain.commands import COMMANDS, find_command
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import BillingView

_PREFIXES = {DoorKind.TERMINAL: "gpu-lol"}


@dataclass(frozen=True, slots=True)
class CommandView:
    """One command as the table defines it, at this door; texts are ours but go through filters all the same."""

    usage: str
    name: str
    summary: str
    who: str
    examples: str
    options: tuple[tuple[str, str], ...]
    aliases: str


@dataclass(frozen=True, slots=True)
class HelpView:
    """The commands, or one of them."""

    marker: Safe
    topic: CommandView | None
    commands: tuple[CommandView, ...]
    count: Safe
    is_terminal: bool
    more: str
    billing: BillingView


def help_view(topic: str | None, policy: Policy, door: DoorKind, marker: Safe, billing: BillingView) -> HelpView:
    """Return the help for this door; an unknown topic gets the list."""
    prefix = _PREFIXES.get(door, "/gpu-lol")
    shown = [spec for spec in COMMANDS if spec.doors in {DoorKind.BOTH, door}]
    found = find_command(topic) if topic else None
    return HelpView(
        marker=marker,
        topic=_command(found, door, policy) if found in shown and found is not None else None,
        commands=tuple(_command(spec, door, policy) for spec in shown),
        count=formats.plural(len(shown), "command"),
        is_terminal=door is DoorKind.TERMINAL,
        more=f"{prefix} help up",
        billing=billing,
    )


def _command(spec: CommandSpec, door: DoorKind, policy: Policy) -> CommandView:
    prefix = _PREFIXES.get(door, "/gpu-lol")
    return CommandView(
        usage=f"{prefix} {spec.usage(door)}",
        name=f"{prefix} {spec.name}",
        summary=spec.summary,
        who=_who(spec, policy),
        examples="\n".join(f"{prefix} {example}" for example in spec.examples_at(door)),
        options=(
            *((f"{setting.name}={setting.metavar}", setting.summary) for setting in spec.settings),
            *(
                (option.name if option.kind is OptionKind.SWITCH else f"{option.name} {option.metavar}", option.summary)
                for option in spec.options_at(door)
            ),
        ),
        aliases=", ".join(spec.aliases),
    )


def _who(spec: CommandSpec, policy: Policy) -> str:
    """Return in words who may give a command."""
    match spec.permission:
        case Permission.ANYONE:
            return "anyone"
        case Permission.CONFIRMERS:
            return f"{_either(policy.confirm_roles) or 'nobody with any'} permission, but not who asked"
        case Permission.COMMAND_ROLES:
            named = ["users that the policy names"] if policy.users else []
            named += [f"team {team}" for team in policy.teams]
            return " or ".join(filter(None, [f"{_either(policy.roles)} permission" if policy.roles else "", *named]))


def _either(words: tuple[str, ...]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
