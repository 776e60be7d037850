"""Commands that a project keeps under names of its own in ``pyproject.toml`` or ``pixi.toml``: tasks of poe, taskipy, PDM, Hatch, Pixi and Rye.

Sources: https://poethepoet.natn.io/tasks/, https://github.com/taskipy/taskipy, https://pdm-project.org/en/latest/usage/scripts/,
https://hatch.pypa.io/latest/config/environment/overview/#scripts, https://pixi.sh/latest/workspace/advanced_tasks/.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.patterns import regex

FILES = frozenset({"pyproject.toml", "pixi.toml"})
MAX_TASKS = 40
_SECTION = regex(r"[ \t]*\[([\w.\"' -]{1,120})\][ \t]*(?:#.*)?$")
_OF_TASKS = regex(
    r"(?:tool\.(?:poe\.tasks|taskipy\.tasks|pdm\.scripts|rye\.scripts|hatch\.envs\.[\w-]+\.scripts|pixi\.(?:feature\.[\w-]+\.)?tasks)"
    r"|(?:feature\.[\w-]+\.)?tasks)(?:\.([\w-]+))?"
)
_TASK = regex(r"[ \t]*[\"']?([\w:.-]{1,60})[\"']?[ \t]*=[ \t]*(.{1,2000})$")
_COMMAND_KEYS = ("cmd", "shell", "command")
_TEXT = regex(r"\"((?:[^\"\\]|\\.){1,2000})\"|'([^']{1,2000})'")
_INNER = regex(r"\b(?:cmd|shell|command)[ \t]*=[ \t]*(?:\"((?:[^\"\\]|\\.){1,2000})\"|'([^']{1,2000})')")
_TESTS = regex(r"(?:^|[_:.-])(?:tests?|lint|format|check|docs?|cov)(?:$|[_:.-])")


def task_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield the commands of a project's tasks with their line numbers, a task's name as its section; none of those that test or lint."""
    name = None
    count = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        if line.lstrip().startswith("["):
            head = _SECTION.match(line)
            found = _OF_TASKS.fullmatch(head[1]) if head is not None else None
            name = (found[1] or "") if found is not None else None
            continue
        task = _TASK.match(line) if name is not None else None
        if task is None or (name and task[1] not in _COMMAND_KEYS):
            continue
        said = _INNER.search(task[2]) if task[2].startswith("{") else _TEXT.match(task[2])
        called = name or task[1]
        if said is None or _TESTS.search(called) or count >= MAX_TASKS:
            continue
        count += 1
        yield number, (said[1] or said[2] or "").replace('\\"', '"'), called
