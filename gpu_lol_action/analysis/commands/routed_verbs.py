"""Programs behind the verbs of a command that only hands on: ``{"sft": "lab.cli.sft", "infer": "lab.cli.infer"}``, of which it starts one.

Such a command imports nothing of what it starts, or all of it (``{"sft": lab.cli.sft}``): the module is found by the name in its table, run as a process of its own, or
imported by the verb's name (``import_module(f"lab.{verb.replace('-', '_')}.cli")``).
"""

from __future__ import annotations

from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.import_graph import module_source
from gpu_lol_action.domain.patterns import regex

_ROW = regex(
    r"[\"']([a-z][\w-]{0,30})[\"']\s{0,3}:\s{0,3}([\"']?)([A-Za-z_]\w{0,40}(?:\.\w{1,60}){1,6})\2(?=\s{0,3}[,}\n])"
)
_FOLDERS = ("commands", "cmds", "cmd", "subcommands", "cli", "apps")
"""Where packages keep a module for each of their commands."""
LEAST_VERBS = 2


def behind_verb(checkout: Checkout, program: Source, command: LaunchCommand) -> Source | None:
    """Return the module of the checkout that a program's table has under the verb of a command; None without such a table."""
    verb = command.words[1] if command.tool == "python" and len(command.words) > 1 else ""
    if not verb or not (program.mentions(f'"{verb}"') or program.mentions(f"'{verb}'")):
        return None
    if program.mentions("import_module") and (named := _named_for(checkout, program, verb)) is not None:
        return named
    table = {word: module for word, _, module in _ROW.findall(program.text)}
    found = {name: source for name, module in table.items() if (source := module_source(checkout, module)) is not None}
    return found.get(verb) if len(found) >= LEAST_VERBS else None


def _named_for(checkout: Checkout, program: Source, verb: str) -> Source | None:
    """Return the module beside a program that is named for a verb, or the command of the package that is; None without one."""
    name = verb.replace("-", "_")
    if not regex(r"[a-z]\w{1,40}").fullmatch(name):
        return None
    beside = f"{program.folder}/{name}".lstrip("/")
    paths = [f"{beside}/cli.py", f"{beside}/__main__.py", f"{beside}/main.py", f"{beside}.py"]
    paths += [f"{program.folder}/{folder}/{name}.py".lstrip("/") for folder in _FOLDERS]
    return next((source for path in paths if (source := checkout.find(path)) is not None), None)
