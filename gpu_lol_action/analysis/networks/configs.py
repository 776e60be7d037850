"""Parts of configurations that name a class and its arguments: Hydra's ``_target_``, OpenMMLab's ``type`` in dictionaries of Python.

A program hands such a part on (``instantiate(cfg.model)``, ``build_detector(cfg.model)``), so that it is found by its key. Of
files that name each other the nearest to the command says what it says, and its bases the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configured_lists import document_of
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.texts import may_define
from gpu_lol_action.analysis.networks.machine import Frame, Machine
from gpu_lol_action.analysis.networks.programs import program_of
from gpu_lol_action.analysis.networks.sources import may_hold_layers, network_sources
from gpu_lol_action.analysis.networks.values import Value
from gpu_lol_action.analysis.programs.import_graph import module_source

TARGETS = ("_target_", "class", "cls", "target", "type")
"""The second and third are Hydra's before 1.0."""
MAX_NODES, MAX_DEPTH, MAX_MODULES, MAX_NAME = 200, 8, 12, 200
_PLACES = ("configs", "config", "conf")


def mappings_of(machine: Machine, sources: Sequence[Source]) -> dict[str, dict[str, Value]]:
    """Return the parts of a run's configuration files by their keys; of several the nearest to the command, and the one further out."""
    found: dict[str, dict[str, Value]] = {}
    whole: dict[str, Value] = {}
    for source in sources:
        document = _python_values(machine, source) if source.code is not None else _document(source)
        if any(_is_dotted(document.get(key)) for key in TARGETS[:3]):
            document = {source.folder.rpartition("/")[2]: document}  # a file of a group is the part itself
        whole = _over(document, whole)
    for key, node in _walked(whole):
        if len(found) < MAX_NODES:
            found.setdefault(key, node)
    return found


def nodes_of(mappings: Mapping[str, dict[str, Value]]) -> dict[str, dict[str, Value]]:
    """Return those parts of a configuration that name a class."""
    return {key: node for key, node in mappings.items() if _names_class(node)}


_PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)


@remembered
def is_plain(source: Source) -> bool:
    """Whether a configuration is a program that assigns numbers and texts alone: no part of it names a class."""
    program = program_of(source) if source.code is not None else None
    values = program.values.values() if program is not None else ()
    return program is not None and all(isinstance(inner, _PLAIN) for value in values for inner in ast.walk(value))


def configured_modules(checkout: Checkout, sources: Sequence[Source], known: Sequence[Source]) -> tuple[Source, ...]:
    """Return the modules of the classes that configuration files name, with those that they import; not those already ``known``."""
    names = list(dict.fromkeys(name for source in sources for name in _named_classes(source)))
    found: list[Source] = []
    for name in names[:MAX_NODES]:
        module, _, last = name.rpartition(".")
        home = module_source(checkout, module) if module else _definer(checkout, last)
        if home is not None and home not in found and len(found) < MAX_MODULES:
            found.append(home)
    inner = [other for source in found for other in network_sources(checkout, source)[1:8]]
    return tuple(source for source in dict.fromkeys([*found, *inner]) if source not in known)


@remembered
def _definer(checkout: Checkout, name: str) -> Source | None:
    """Return the program that registers a class or function under its own name; None where there is none."""
    for source in checkout.of(Form.PYTHON):
        if may_define(source.content, name) and source.mentions("register") and may_hold_layers(source):
            program = program_of(source)
            if program is not None and program.defines(name):
                return source
    return None


@remembered
def _named_classes(source: Source) -> tuple[str, ...]:
    """Return the classes that one file names, in its order."""
    if source.code is not None:
        calls = source.code.calls_named("dict")
        return tuple(value.text for call in calls if (value := call.keyword("type")) is not None and value.text)
    return tuple(
        node[key] for _, node in _walked({"": _document(source)}) for key in TARGETS[:3] if _is_dotted(node.get(key))
    )


@remembered
def _document(source: Source) -> dict[str, Any]:
    document = document_of(source)
    return document if isinstance(document, dict) else {}


def _python_values(machine: Machine, source: Source) -> dict[str, Value]:
    """Return the dictionaries that a configuration in Python assigns."""
    program = program_of(source)
    if program is None or program.is_broken:
        return {}
    frame = Frame(program)
    values = {name: machine.evaluate(frame, node) for name, node in list(program.values.items())[:MAX_NODES]}
    return {name: value for name, value in values.items() if isinstance(value, dict)}


def _is_dotted(name: object) -> bool:
    return isinstance(name, str) and "." in name and len(name) < MAX_NAME


def _over(base: Mapping[str, Any], above: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return two documents as one; what the second says counts, and ``_delete_`` leaves nothing of the first."""
    if depth > MAX_DEPTH or above.get("_delete_") is True:
        return dict(above)
    whole = dict(base)
    for key, value in above.items():
        before = whole.get(key)
        is_both = isinstance(value, dict) and isinstance(before, dict)
        whole[key] = _over(before or {}, value, depth + 1) if is_both else value
    return whole


def _walked(node: Mapping[Any, Any], depth: int = 0) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the mappings in a document by their keys, those further out first."""
    inner = [(fold_key(key), value) for key, value in node.items() if isinstance(key, str) and isinstance(value, dict)]
    yield from inner
    for _, value in inner if depth < MAX_DEPTH else ():
        yield from _walked(value, depth + 1)


def _names_class(node: Mapping[str, Any], depth: int = 0) -> bool:
    """Whether a part names a class, itself or deeper."""
    if any(isinstance(node.get(key), str) for key in TARGETS):
        return True
    return depth < MAX_DEPTH and any(_names_class(v, depth + 1) for v in node.values() if isinstance(v, dict))
