"""What `gpu-lol --help` and `gpu-lol help COMMAND` print, from the command table; it loads nothing else."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from gpu_lol_action.domain.command_spec import CommandSpec, DoorKind, Option, OptionKind
from gpu_lol_action.domain.commands import COMMANDS

HELP_COLUMNS = 80
_EXIT_CODES = (
    "Exit code: 0 done, 1 refused or a wrong request, 2 a key or setting is missing, 3 a fault of ours, "
    "4 an outage (try again), 130 stopped."
)


def overview() -> str:
    """Return what ``gpu-lol --help`` prints."""
    here = [spec for spec in COMMANDS if spec.doors is not DoorKind.COMMENT]
    only_here = [spec.name for spec in here if spec.doors is DoorKind.TERMINAL]
    only_there = [spec.name for spec in COMMANDS if spec.doors is DoorKind.COMMENT]
    elsewhere = (
        f"A comment on a pull request takes the same as /gpu-lol COMMAND, without {_listed(only_here)}, "
        f"and with {_listed(only_there)}."
    )
    return "\n".join(
        [
            "gpu-lol: GPUs for your ML code, from a pull request or from here.",
            "",
            "Usage: gpu-lol COMMAND [OPTIONS]",
            "",
            *_columns((spec.name, spec.summary) for spec in here),
            "",
            "gpu-lol help COMMAND explains one; gpu-lol --version says which version this is.",
            filled(elsewhere),
            filled(_EXIT_CODES),
        ]
    )


def explain(spec: CommandSpec) -> str:
    """Return what ``gpu-lol help COMMAND`` prints; what only comments take is explained as it is written there."""
    is_comment = spec.doors is DoorKind.COMMENT
    door, prefix = (DoorKind.COMMENT, "/gpu-lol") if is_comment else (DoorKind.TERMINAL, "gpu-lol")
    where = " In a comment on a pull request." if is_comment else ""
    # A break between an option and its value would make two of one.
    usage = spec.usage(door).replace(" [", "\n[").replace(" ", "\0").replace("\n", " ")
    lead = f"Usage: {prefix} {spec.name} "
    lines = textwrap.wrap(
        f"Usage:\0{prefix}\0{usage}",
        HELP_COLUMNS,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )
    options = _columns(
        (
            *((f"{setting.name}={setting.metavar}", setting.summary) for setting in spec.settings),
            *((_label(option), option.summary) for option in spec.options_at(door)),
        )
    )
    return "\n".join(
        [
            *(line.replace("\0", " ") for line in lines),
            "",
            filled(f"{_plain(spec.summary)}.{where}"),
            *(["", *options] if options else []),
            *(
                ["", "Examples:", *(f"  {prefix} {example}" for example in spec.examples_at(door))]
                if spec.examples
                else []
            ),
            *(["", f"Also: {', '.join(f'{prefix} {alias}' for alias in spec.aliases)}"] if spec.aliases else []),
        ]
    )


def _label(option: Option) -> str:
    return option.name if option.kind is OptionKind.SWITCH else f"{option.name} {option.metavar}"


def _columns(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Return two columns that fit the help's width; the second wraps below itself."""
    table = list(rows)
    width = max((len(label) for label, _ in table), default=0)
    indent = " " * (width + 4)
    return [
        line
        for label, text in table
        for line in textwrap.wrap(
            _plain(text),
            HELP_COLUMNS,
            initial_indent=f"  {label:<{width}}  ",
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
    ]


def filled(text: str) -> str:
    """Return a paragraph at the help's width."""
    return textwrap.fill(text, HELP_COLUMNS, break_on_hyphens=False)


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _plain(text: str) -> str:
    return text.replace("`", "")
