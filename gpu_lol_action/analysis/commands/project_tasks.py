"""Commands that a project keeps under names of its own in ``pyproject.toml`` or ``pixi.toml``: tasks of poe, taskipy, PDM, Hatch, Pixi and Rye.

Sources: https://poethepoet.natn.io/tasks/, https://github.com/taskipy/taskipy, https://pdm-project.org/en/latest/usage/scripts/,
https://hatch.pypa.io/latest/config/environment/overview/#scripts, https://pixi.sh/latest/workspace/advanced_tasks/.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.patterns import regex

FILES = frozenset({"pyproject.toml", "pixi.toml"})
MAX_TASKS = 40
_SECTION = regex(r"[ \t]*\[([\w.\"' -]{1,120})\][ \t]*(?:#.*)?$")
_OF_TASKS = regex(
    r"(?:tool\.(?:poe\.tasks|taskipy\.tasks|pdm\.scripts|rye\.scripts|hatch\.envs\.([\w-]+)\.scripts|pixi\.(?:feature\.([\w-]+)\.)?tasks)"
    r"|(?:feature\.([\w-]+)\.)?tasks)(?:\.([\w-]+))?"
)
_TASK = regex(r"[ \t]*[\"']?([\w:.-]{1,60})[\"']?[ \t]*=[ \t]*(.{1,2000})$")
_COMMAND_KEYS = ("cmd", "shell", "command")
_TEXT = regex(r"\"((?:[^\"\\]|\\.){1,2000})\"|'([^']{1,2000})'")
_LIST = regex(r"\[([^\[\]]{1,1000})\]")
_TESTS = regex(
    r"(?:^|[_:.-])(?:py)?(?:tests?|testing|lint|format|check|typecheck|types|docs?|cov|coverage|bench(?:mark)?s?|profile)(?:$|[_:.-])",
    re.IGNORECASE,
)
_DEFAULT = regex(r"\{args:([^{}]{0,200})\}")


def task_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield the commands of a project's tasks with their line numbers, a task's name as its section; none of those that test or lint."""
    name = None
    count = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        if line.lstrip().startswith("["):
            head = _SECTION.match(line)
            found = _OF_TASKS.fullmatch(head[1]) if head is not None else None
            environment = next((part for part in found.groups()[:3] if part), "") if found is not None else ""
            name = (found[4] or "") if found is not None and not _TESTS.search(environment) else None
            continue
        task = _TASK.match(line) if name is not None else None
        if task is None or (name and task[1] not in _COMMAND_KEYS):
            continue
        called = name or task[1]
        said = _said(task[2])
        if not said or _TESTS.search(called) or count >= MAX_TASKS:
            continue
        count += 1
        yield number, said, called


def _said(value: str) -> str:
    """Return the command of a task, which is a text, a list of words, or a table that has one; words that nobody gives are what they start with."""
    told = regex(r"\b(?:cmd|shell|command)[ \t]*=[ \t]*").search(value) if value.startswith("{") else None
    rest = value[told.end() :] if told is not None else value
    if (listed := _LIST.match(rest)) is not None:
        words = [first or second for first, second in _TEXT.findall(listed[1])]
        return " ".join(map(shlex.quote, words))
    found = _TEXT.match(rest) if told is not None or not value.startswith("{") else None
    text = (found[1] or found[2] or "").replace('\\"', '"') if found is not None else ""
    return _DEFAULT.sub(r"\1", text)
