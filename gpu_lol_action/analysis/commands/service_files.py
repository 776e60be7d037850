"""What keeps processes running, or names tasks, starts: systemd's units, a Procfile, supervisord's programs, a Taskfile.

Formats: systemd.service(5) (``ExecStart=``, ``Environment=``, ``EnvironmentFile=``), Heroku's Procfile, supervisord's configuration (``command=`` under
``[program:…]``), Task's schema (``dotenv``, ``vars``, ``tasks.*.cmds``, ``{{.NAME}}``).
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.command_lines.container_words import is_secret
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.patterns import regex

TASKFILES = frozenset({"taskfile.yml", "taskfile.yaml"})
MAX_TEXT = 4000  # characters of one command
_UNIT, _PROCFILE, _SUPERVISED = ".service", "procfile", "supervisord.conf"
_STARTS = regex(r"ExecStart=[-@:+!]{0,3}(\S.*)$")
_SETS = regex(r"Environment=[\"']?([A-Za-z_]\w{0,60})=([\w./:@+-]{1,200})[\"']?\s*$")
# Where it is installed nobody knows here: the file of that name is meant.
_READS = regex(r"EnvironmentFile=-?\S{0,200}?([\w.-]{1,80})\s*$")
_PROCESS = regex(r"[A-Za-z][\w-]{0,40}:\s*(\S.*)$")
_COMMAND = regex(r"command\s?=\s?(\S.*)$")
_NAMED = regex(r"\{\{\s?\.(\w{1,60})\s?\}\}")


def keeps_services(source: Source) -> bool:
    """Whether a file lists processes that a supervisor starts."""
    return source.name in {_PROCFILE, _SUPERVISED} or source.name.endswith(_UNIT)


def service_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield what such a file has started, lines that go on as they are, each with an empty section."""
    starts = {_PROCFILE: _PROCESS, _SUPERVISED: _COMMAND}.get(source.name, _STARTS)
    goes_on = False
    for number, line in enumerate(source.text.split("\n"), 1):
        text = line.strip()[:MAX_TEXT]
        if goes_on:
            yield number, text, ""
        elif (found := _SETS.match(text)) is not None:
            if not is_secret(found[1], found[2]):
                yield number, f"export {found[1]}={found[2]}", ""
        elif (found := _READS.match(text)) is not None:
            yield number, f"source {found[1]}", ""
        elif (found := starts.match(text)) is not None:
            yield number, found[1], ""
        else:
            continue
        goes_on = text.endswith("\\")


def taskfile_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield what a Taskfile's tasks start, with the variables that it sets before them."""
    from gpu_lol_action.analysis.files.yaml_reading import yaml_settings  # most projects have no such file

    for setting in yaml_settings(source, MAX_TEXT):
        place, _, key = setting.path.rpartition(".")
        if place == "vars" or place.endswith(".vars"):
            yield setting.evidence.line, f"{key.upper()}={setting.text}", ""
        elif setting.path == "dotenv":
            yield from ((setting.evidence.line, f"source {name.strip()}", "") for name in setting.text.split(","))
        elif setting.path.startswith("tasks.") and key in {"cmds", "cmd"}:
            put = _NAMED.sub(lambda found: f"${{{found[1].upper()}}}", setting.text)
            yield from ((setting.evidence.line, line, "") for line in put.split("\n"))
