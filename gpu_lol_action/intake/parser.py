"""Words in, a typed command or a problem out; the same grammar for comments and for the terminal."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Sequence
from typing import Any

from gpu_lol_action.domain import gpus
from gpu_lol_action.domain.command_spec import CommandSpec, DoorKind, Option, OptionKind
from gpu_lol_action.domain.commands import command_words, find_command
from gpu_lol_action.domain.durations import parse_duration
from gpu_lol_action.domain.folders import read_folder_name
from gpu_lol_action.domain.request import Command, Ignore, ParseProblem
from gpu_lol_action.domain.suggest import nearest
from gpu_lol_action.intake.corrections import SettingProblem, forms, read_setting
from gpu_lol_action.intake.estimate_words import TRUTHS
from gpu_lol_action.intake.lines import COMMAND_PREFIX, command_lines
from gpu_lol_action.intake.rare_values import check_cell, comment_of, read_requirements
from gpu_lol_action.intake.values import CHOICES, ENVIRONMENT, LABEL, PROFILE, SWITCHES, VALUES, read_login

MAX_COMMANDS_PER_COMMENT = 5
MAX_LINE_CHARACTERS = 500

# Phones and word processors turn two hyphens into one dash.
_TYPED_DASHES = str.maketrans({"\u2013": "--", "\u2014": "--", "\u2212": "--"})


_BEHIND = re.compile(r"[ \t](?:--|[\u2013\u2014\u2212])[ \t]")

_REPEATABLE = frozenset({OptionKind.USER})


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
    words = [_normalize_dashes(word) for word in line.replace("\t", " ").split(" ") if word]
    foreign = next((character for character in "".join(words) if not "!" <= character <= "~"), None)
    if foreign is not None:
        # Another alphabet's letter, a zero width or bidirectional mark: what is read is not what would be run.
        return ParseProblem(line, f"it holds the character U+{ord(foreign):04X}; commands are plain ASCII")
    parsed = parse_words(words[1:] or ["help"], DoorKind.COMMENT)
    if isinstance(parsed, Command) and parsed.script:
        # As it stands there: blanks count between quotes.
        written = _BEHIND.split(line, maxsplit=1)[-1].strip()
        if not written.isascii() or not written.isprintable():
            return ParseProblem(line, "commands are plain ASCII, on one line", command=parsed.name)
        return dataclasses.replace(parsed, script=written)
    return parsed


def parse_words(words: Sequence[str], door: DoorKind) -> Command | ParseProblem:
    """Return the command that ``words`` (without the door's prefix) write, or what is wrong with them."""
    prefix = COMMAND_PREFIX if door is DoorKind.COMMENT else "gpu-lol"
    line = " ".join([prefix, *words])
    spec = find_command(words[0])
    if spec is None or spec.doors not in (DoorKind.BOTH, door):
        return _unknown_command(line, words[0], spec, door)
    parsed = _arguments(Command(spec.name, line), spec, door, [_normalize_dashes(word) for word in words[1:]])
    if isinstance(parsed, Command) and spec.settings and not parsed.corrections:
        return ParseProblem(
            line, f"`{spec.name}` needs at least one word of the form `name=value`", forms(spec), spec.name
        )
    if isinstance(parsed, Command) and spec.words_behind and not parsed.script.strip():
        what = f"`{spec.name}` needs a command behind `--`, as `{spec.examples[0]}`"
        return ParseProblem(line, what, command=spec.name)
    if isinstance(parsed, Command) and spec.is_positional_needed and not (parsed.share or parsed.path):
        needed = "a user" if spec.positional == "user" else "a file or an environment"
        return ParseProblem(line, f"`{spec.name}` needs {needed}, as `{spec.examples[0]}`", command=spec.name)
    return parsed


def _arguments(command: Command, spec: CommandSpec, door: DoorKind, rest: list[str]) -> Command | ParseProblem:
    options, is_over = spec.options_at(door), False
    given: set[str] = set()
    while rest:
        word = rest.pop(0)
        if word == "--" and not is_over:
            if not rest:
                return ParseProblem(command.line, "something is missing behind `--`", command=command.name)
            if spec.words_behind:
                # One word is a line for the shell, several are a program and its arguments.
                return dataclasses.replace(command, script=rest[0] if len(rest) == 1 else shlex.join(rest))
            is_over = True  # as everywhere: no options behind it
            continue
        step: Command | ParseProblem
        if spec.settings:
            step = _apply_setting(command, spec, word)
        elif is_over or not word.startswith("-"):
            step = _apply_positional(command, spec.positional_at(door), word)
        else:
            step = _apply_option(command, options, word, rest)
            step = _refuse_repetition(step, word, options, given)
        if isinstance(step, ParseProblem):
            return step
        command = step
    return command


def _apply_setting(command: Command, spec: CommandSpec, word: str) -> Command | ParseProblem:
    read = read_setting(spec, word)
    if isinstance(read, SettingProblem):
        return ParseProblem(command.line, read.what, read.did_you_mean, command.name, read.reason_code)
    return dataclasses.replace(command, corrections=(*command.corrections, *read))


def _refuse_repetition(
    step: Command | ParseProblem, word: str, options: Sequence[Option], given: set[str]
) -> Command | ParseProblem:
    """Refuse an option that is given twice, where the second would silently win over the first."""
    name = word.partition("=")[0].lower()
    option = next((o for o in options if o.name == name), None)
    if isinstance(step, ParseProblem) or option is None or option.column or option.kind in _REPEATABLE:
        return step
    if name in given:
        return ParseProblem(step.line, f"`{name}` is given twice", command=step.name)
    given.add(name)
    return step


def _unknown_command(line: str, word: str, spec: CommandSpec | None, door: DoorKind) -> ParseProblem:
    if spec is not None:
        where = "in a terminal" if spec.doors is DoorKind.TERMINAL else "in a comment"
        return ParseProblem(line, f"`{spec.name}` works only {where}", command=spec.name)
    valid = command_words(door)
    return ParseProblem(line, f"there is no command `{_shown(word)}`", nearest(word, valid) or valid)


def _normalize_dashes(word: str) -> str:
    return word.translate(_TYPED_DASHES) if word[:1] in "\u2013\u2014\u2212" else word


def _apply_positional(command: Command, positional: str, word: str) -> Command | ParseProblem:
    taken: object = command.profile or command.topic or command.path or command.sha
    if positional in ("duration", "user"):
        taken = command.lease if positional == "duration" else command.share
    if not positional or taken:
        return ParseProblem(command.line, f"`{command.name}` takes no `{_shown(word)}` here", command=command.name)
    if positional in ("path", "file-or-environment"):
        return dataclasses.replace(command, path=word)
    if positional == "duration":
        lease = parse_duration(word)
        if lease is None:
            what = f"`{_shown(word)}` is no duration: write it as `{command.name} 2h` or `{command.name} 45m`"
            return ParseProblem(command.line, what, command=command.name)
        return dataclasses.replace(command, lease=lease)
    if positional == "commit":
        sha = VALUES[OptionKind.SHA][1](word)
        if sha is None:
            what = f"`{_shown(word)}` is no commit: 7 to 40 digits of its id are"
            return ParseProblem(command.line, what, command=command.name)
        return dataclasses.replace(command, sha=str(sha))
    if positional == "profile":
        return _apply_profile(command, word)
    if positional in ("user", "environment", "requirements") or "|" in positional:
        return _apply_known_word(command, positional, word)
    if positional == "request" and comment_of(word) is None:
        what = f"`{_shown(word)}` names no request; the answer to `up` has the whole line"
        return ParseProblem(command.line, what, command=command.name)
    return dataclasses.replace(command, topic=word)


def _apply_profile(command: Command, word: str) -> Command | ParseProblem:
    """Take a profile's name; what runs already is called as it is shown, with its project."""
    spec = find_command(command.name)
    is_asked_apart = spec is not None and any(option.kind is OptionKind.PROJECT for option in spec.options)
    if (PROFILE if is_asked_apart else LABEL).fullmatch(word):
        return dataclasses.replace(command, profile=word)
    what = f"`{_shown(word)}` is no profile's name"
    project = read_folder_name(word) if is_asked_apart else None
    hint = (f"{command.name} --project {project}",) if project is not None else ()
    return ParseProblem(command.line, what, hint, command.name)


def _apply_requirements(command: Command, word: str) -> Command | ParseProblem:
    if command.topic or command.gpu or command.memory_gib:
        return ParseProblem(command.line, f"`{command.name}` takes no `{_shown(word)}` here", command=command.name)
    wanted = read_requirements(word)
    if isinstance(wanted, gpus.UnknownAccelerator):
        return ParseProblem(command.line, wanted.what, wanted.did_you_mean, command.name, "unknown_accelerator")
    return dataclasses.replace(
        command,
        topic=word.lower() if wanted.is_all else None,
        gpu=wanted.accelerator,
        gpu_count=wanted.count,
        memory_gib=wanted.memory_gib,
        is_memory_as_sold=wanted.is_as_sold,
    )


def _apply_known_word(command: Command, positional: str, word: str) -> Command | ParseProblem:
    """Take a word that is one of a few (``setup|run``), or has a form of its own."""
    if "|" in positional:
        valid = tuple(positional.split("|"))
        if word.lower() in valid:
            return dataclasses.replace(command, topic=word.lower())
        what = f"`{command.name}` knows no `{_shown(word)}`"
        return ParseProblem(command.line, what, nearest(word, valid) or valid, command.name)
    if positional == "requirements":
        return _apply_requirements(command, word)
    if positional == "environment":
        if ENVIRONMENT.fullmatch(word):
            return dataclasses.replace(command, topic=word)
        return ParseProblem(command.line, f"`{_shown(word)}` is no environment's name", command=command.name)
    login = read_login(word)
    if login is None:
        return ParseProblem(command.line, f"`{_shown(word)}` is no GitHub login", command=command.name)
    return dataclasses.replace(command, share=(login,))


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
    if option.kind is OptionKind.FORMAT and value.lower() not in option.metavar.split("|"):
        return _no_value(command, option, value, tuple(option.metavar.split("|")))
    if option.kind is OptionKind.USER:
        login = read_login(value)
        if login is not None:
            return dataclasses.replace(command, share=(*command.share, login))
    field, read = VALUES.get(option.kind, ("", read_login))
    read_value = read(value) if field else None
    if read_value is not None:
        return dataclasses.replace(command, **dict[str, Any]({field: read_value}))
    return _no_value(command, option, value, CHOICES.get(option.kind, ()))


def _no_value(command: Command, option: Option, value: str, valid: tuple[str, ...]) -> ParseProblem:
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
