"""Words in, a typed command or a problem out; the same grammar for comments and for the terminal."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from gpu_lol_action.domain import gpus
from gpu_lol_action.domain.commands import (
    CommandSpec,
    DoorKind,
    Option,
    OptionKind,
    command_words,
    find_command,
)
from gpu_lol_action.domain.request import Command, Ignore, ParseProblem
from gpu_lol_action.domain.suggest import nearest
from gpu_lol_action.intake.estimate_cells import check_cell
from gpu_lol_action.intake.estimate_words import TRUTHS
from gpu_lol_action.intake.lines import COMMAND_PREFIX, command_lines
from gpu_lol_action.intake.values import CHOICES, PROFILE, SWITCHES, VALUES, read_login

MAX_COMMANDS_PER_COMMENT = 5
MAX_LINE_CHARACTERS = 500

# Phones and word processors turn two hyphens into one dash.
_TYPED_DASHES = str.maketrans({"\u2013": "--", "\u2014": "--", "\u2212": "--"})


def parse_comment(body: str) -> list[Command | ParseProblem] | Ignore:
    """Return what the comment asks for, in its order, or why it asks for nothing."""
    lines = command_lines(body)
    if not lines:
        return Ignore("no_command", f"no line of the comment begins with {COMMAND_PREFIX}")
    parsed = [_parse_line(line) for line in lines[:MAX_COMMANDS_PER_COMMENT]]
    if len(lines) > MAX_COMMANDS_PER_COMMENT:
        parsed.append(
            ParseProblem(
                lines[MAX_COMMANDS_PER_COMMENT],
                f"only the first {MAX_COMMANDS_PER_COMMENT} commands of a comment are run",
            )
        )
    return parsed


def _parse_line(line: str) -> Command | ParseProblem:
    if len(line) > MAX_LINE_CHARACTERS:
        return ParseProblem(line[:80] + "…", f"a command has at most {MAX_LINE_CHARACTERS} characters")
    words = line.split()[1:]
    return parse_words(words or ["help"], DoorKind.COMMENT)


def parse_words(words: Sequence[str], door: DoorKind) -> Command | ParseProblem:
    """Return the command that ``words`` (without the door's prefix) write, or what is wrong with them."""
    prefix = COMMAND_PREFIX if door is DoorKind.COMMENT else "gpu-lol"
    line = " ".join([prefix, *words])
    spec = find_command(words[0])
    if spec is None or spec.doors not in (DoorKind.BOTH, door):
        return _unknown_command(line, words[0], spec, door)
    command = Command(spec.name, line)
    rest = [_normalize_dashes(word) for word in words[1:]]
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            step = _apply_positional(command, spec.positional_at(door), word)
        else:
            step = _apply_option(command, spec.options_at(door), word, rest)
        if isinstance(step, ParseProblem):
            return step
        command = step
    return command


def _unknown_command(line: str, word: str, spec: CommandSpec | None, door: DoorKind) -> ParseProblem:
    if spec is not None:
        where = "in a terminal" if spec.doors is DoorKind.TERMINAL else "in a comment"
        return ParseProblem(line, f"`{spec.name}` works only {where}", command=spec.name)
    valid = command_words(door)
    return ParseProblem(line, f"there is no command `{_shown(word)}`", nearest(word, valid) or valid)


def _normalize_dashes(word: str) -> str:
    return word.translate(_TYPED_DASHES) if word[:1] in "\u2013\u2014\u2212" else word


def _apply_positional(command: Command, positional: str, word: str) -> Command | ParseProblem:
    taken = command.profile or command.topic or command.path
    if not positional or taken:
        return ParseProblem(command.line, f"`{command.name}` takes no `{_shown(word)}` here", command=command.name)
    if positional == "path":
        return dataclasses.replace(command, path=word)
    if positional == "profile":
        if not PROFILE.fullmatch(word):
            return ParseProblem(command.line, f"`{_shown(word)}` is no profile's name", command=command.name)
        return dataclasses.replace(command, profile=word)
    return dataclasses.replace(command, topic=word)


def _apply_option(command: Command, options: Sequence[Option], word: str, rest: list[str]) -> Command | ParseProblem:
    name, _, attached = word.partition("=")
    option = next((o for o in options if o.name == name.lower()), None)
    if option is None:
        names = tuple(o.name for o in options)
        return ParseProblem(
            command.line,
            f"`{command.name}` has no option `{_shown(name)}`",
            nearest(name, names) or names,
            command.name,
        )
    if option.kind is OptionKind.SWITCH:
        return _with_switch(command, option, attached, rest)
    value = attached or (rest.pop(0) if rest and not rest[0].startswith("--") else "")
    if not value:
        return ParseProblem(
            command.line,
            f"`{option.name}` needs a value, as `{option.name} {option.metavar}`",
            command=command.name,
        )
    return _with_value(command, option, value)


def _with_switch(command: Command, option: Option, attached: str, rest: list[str]) -> Command | ParseProblem:
    if option.column:
        # A cell that is true or false: the word behind it may say which.
        following = rest[:1] if not attached and rest[:1] and rest[0].lower() in TRUTHS else []
        del rest[: len(following)]
        return _with_cell(command, option, attached or "".join(following) or "1")
    if attached:
        return ParseProblem(command.line, f"`{option.name}` takes no value", command=command.name)
    return dataclasses.replace(command, **dict[str, Any]({SWITCHES[option.name]: True}))


def _with_value(command: Command, option: Option, value: str) -> Command | ParseProblem:
    if option.kind is OptionKind.ACCELERATOR:
        return _with_accelerator(command, value)
    if option.kind is OptionKind.CELL:
        return _with_cell(command, option, value)
    if option.kind is OptionKind.USER:
        login = read_login(value)
        if login is not None:
            return dataclasses.replace(command, share=(*command.share, login))
    field, read = VALUES.get(option.kind, ("", read_login))
    read_value = read(value) if field else None
    if read_value is not None:
        return dataclasses.replace(command, **dict[str, Any]({field: read_value}))
    valid = CHOICES.get(option.kind, ())
    return ParseProblem(
        command.line,
        f"`{option.name}` cannot be `{_shown(value)}`: write it as `{option.name} {option.metavar}`",
        nearest(value, valid) or valid,
        command.name,
    )


def _with_cell(command: Command, option: Option, value: str) -> Command | ParseProblem:
    problem = check_cell(option.column, value)
    if problem is not None:
        what = f"`{option.name}` cannot be `{_shown(value)}`: it takes {problem.what}"
        choices = tuple(option.metavar.split("|")) if "|" in option.metavar else ()
        return ParseProblem(command.line, what, nearest(value, choices), command.name)
    return dataclasses.replace(command, cells=(*command.cells, (option.column, value)))


def _with_accelerator(command: Command, value: str) -> Command | ParseProblem:
    choice = gpus.parse_accelerator(value)
    if isinstance(choice, gpus.UnknownAccelerator):
        return ParseProblem(command.line, choice.what, choice.did_you_mean, command.name, "unknown_accelerator")
    return dataclasses.replace(command, gpu=choice.accelerator.name, gpu_count=choice.count)


def _shown(word: str) -> str:
    """Return a word of a stranger cut to a length that fits a sentence; the renderer escapes it."""
    return word if len(word) <= 40 else word[:39] + "…"
