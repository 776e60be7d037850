"""Texts that a program turns into values as it builds a network: names that it evaluates, and tables of layers in a YAML file.

YOLOv5 (Jocher et al. 2020) and its many successors write a network as rows of a file: from which row, how often, class, arguments.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configured_lists import document_of
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.networks.machine import MAX_DEPTH, Frame, Machine
from gpu_lol_action.analysis.networks.parsed import parse_value
from gpu_lol_action.analysis.networks.values import UNKNOWN, Named, Value
from gpu_lol_action.analysis.python.syntax import parse_program
from gpu_lol_action.domain.patterns import regex

_OPENED = "opened file "
LONGEST = 200
LEAST_ROWS, COLUMNS = 3, 3
"""Rows that a table of layers has, and columns of each, at least."""
CHARACTERS_PER_STEP = 50
"""Of a file, whose copy takes as long as that step."""


def _evaluated(machine: Machine, places: Sequence[Value]) -> Value:
    """Return what a text of one name, or of one call without arguments that matter, stands for."""
    text = places[0] if places else None
    if not isinstance(text, str) or len(text) >= 400:
        return UNKNOWN
    if text.strip() in {"None", "True", "False"} or regex(r"[\d.,\s\[\]-]{1,80}").fullmatch(text):
        return parse_value(text)
    if text.rstrip().endswith(")") and (tree := _call_of(text)) is not None and machine.program is not None:
        if machine.depth >= MAX_DEPTH:  # a text that evaluates itself
            return UNKNOWN
        machine.depth += 1
        try:
            return machine.evaluate(Frame(machine.program), tree)
        finally:
            machine.depth -= 1
    found = regex(r"(?:\w+\.)*(\w+)(\(.*\))?").fullmatch(text.strip())
    if found is None:
        return UNKNOWN
    value = machine.find(found[1], None)
    return machine.call(value, (), {}) if found[2] else value


def _call_of(text: str) -> ast.Call | None:
    """Return the call that a text is; None where it is something else."""
    tree = parse_program(text.strip())
    if isinstance(tree, str) or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return None
    return tree.body[0].value if isinstance(tree.body[0].value, ast.Call) else None


def _opened(machine: Machine, places: Sequence[Value]) -> Value:
    """Return a file that is opened, with its name where that is known."""
    del machine
    path = places[0] if places else None
    return Named(_OPENED + (path if isinstance(path, str) and len(path) < LONGEST else ""))


def _loaded(machine: Machine, places: Sequence[Value]) -> Value:
    """Return what an opened YAML file holds, where it is one of the run's own and has a table of layers; the rest is read as settings."""
    file = places[0] if places else UNKNOWN
    if not isinstance(file, Named) or not file.name.startswith(_OPENED):
        return UNKNOWN
    name = file.name.removeprefix(_OPENED).rsplit("/", 1)[-1].lower()
    tables = [source for source in machine.files if _table_of(source) is not None]
    named = [source for source in tables if source.name == name]
    named = named or (tables if not name and len(tables) == 1 else [])
    if not named:
        return UNKNOWN
    machine.is_of_file = True
    machine.step(len(named[0].text) // CHARACTERS_PER_STEP)  # a program may load it in a loop
    return copy.deepcopy(_table_of(named[0]))


def _module(machine: Machine, places: Sequence[Value]) -> Value:
    """Return the module of a name that is only known as the program runs."""
    del machine
    name = places[0] if places else UNKNOWN
    return Named(name.strip(".")) if isinstance(name, str) and 0 < len(name) < LONGEST else UNKNOWN


def _file_module(machine: Machine, places: Sequence[Value]) -> Value:
    """Return the module that a file is, by the file's path."""
    path = places[1] if len(places) > 1 else UNKNOWN
    if not isinstance(path, str) or not path.endswith(".py"):
        return UNKNOWN
    return _module(machine, [path.removesuffix(".py").replace("/", ".")])


def _of_environment(machine: Machine, places: Sequence[Value]) -> Value:
    """Return what the run's command sets a variable to, else what the program takes in its place."""
    name = places[0] if places else UNKNOWN
    said = machine.option(name) if isinstance(name, str) else UNKNOWN
    return said if said is not UNKNOWN or len(places) < 2 else places[1]


def _own_names(machine: Machine, places: Sequence[Value]) -> Value:
    del machine, places
    return Named("globals.__dict__")


def _same(machine: Machine, places: Sequence[Value]) -> Value:
    del machine
    return places[0] if places else UNKNOWN


@remembered
def _table_of(source: Source) -> Any:
    """Return what a file of the run holds where it has a table of layers; None else."""
    document = document_of(source)
    return document if _has_layers(document) else None


def _has_layers(document: Any) -> bool:
    """Whether one of a document's lists is a table of layers: rows that each name a class."""
    tables = document.values() if isinstance(document, dict) else ()
    return any(
        isinstance(rows, list)
        and len(rows) >= LEAST_ROWS
        and all(isinstance(row, list) and len(row) >= COLUMNS and any(isinstance(c, str) for c in row) for row in rows)
        for rows in tables
    )


READS: Mapping[str, Callable[[Machine, Sequence[Value]], Value]] = {
    "eval": _evaluated, "open": _opened, "yaml.safe_load": _loaded, "yaml.load": _loaded, "yaml.full_load": _loaded,
    "importlib.import_module": _module, "import_module": _module, "__import__": _module, "globals": _own_names,
    "os.getenv": _of_environment, "os.environ.get": _of_environment, "getenv": _of_environment, "environ.get": _of_environment,
    "importlib.util.spec_from_file_location": _file_module, "importlib.util.module_from_spec": _same,
}  # fmt: skip
