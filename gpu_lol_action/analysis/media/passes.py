"""How often a step runs the network that it trains before it goes back: a pair, an anchor with what is like it and what is not.

What each pass keeps for the way back is there at once, until ``backward`` frees it: twin networks keep twice as much of a sample.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.networks.programs import program_of
from gpu_lol_action.analysis.python.subtrees import nodes_in
from gpu_lol_action.analysis.python.values import dotted_name
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_FUNCTIONS, MAX_STATEMENTS, MAX_NODES, MAX_DEPTH = 400, 1_000, 4_000, 12
"""Functions of one program that are looked at, statements of one block, nodes of one statement, and blocks in one another."""
MAX_NAMES = 60
MAX_WAYS = 20
MOST = 4
"""Passes that are believed: more are a loop over time, or over what is generated."""
_BACK, _STEPS = "backward", frozenset({"training_step", "compute_loss"})
# What looks on, or is only read: its passes keep nothing for the way back.
_BESIDE = regex(
    r"(?i)(?:^|[._])(?:teachers?|ema|target|momentum|ref|reference|old|frozen|vae|critic|disc\w*|loss\w*|criterion\w*|metrics?|acc\w*|log\w*|print|optim\w*|sched\w*)"
    r"(?:[._]|$)|_(?:teacher|ema|old|ref|k|t|target)$"
)
# Its weights are handed to what steps, or it is told to train; a loop over them may freeze them (`for p in net.parameters():`).
_LEARNS = r"(?<![\w.])(?<!in ){}(?:\.module)?\.(?:(?:named_)?parameters\(\)|train\(\)|zero_grad\()"
_LOSSES = regex(r"(?i)loss|entropy|criterion|metric|accuracy|score$|aug|transform")
_LOOKS_ON = frozenset({"no_grad", "inference_mode", "set_grad_enabled"})
_SHARED = frozenset({"detach"})


@record(frozen=True, slots=True)
class Passes:
    """How often a step runs its network, by what the network is called, and where the first pass stands."""

    count: int
    name: str
    line: int


@record(slots=True)
class _Count:
    """What one stretch between two ways back holds: lines of passes by the network's name. Private to the reader."""

    lines: dict[str, list[int]] = field(default_factory=dict)

    def most(self) -> int:
        return max(map(len, self.lines.values()), default=0)


@remembered
def passes_of(source: Source) -> tuple[Passes, ...]:
    """Return how often each step of a program that goes back runs the network that it trains; nothing where one of them runs several."""
    if source.code is None or not (source.mentions(f".{_BACK}(") or any(map(source.mentions, sorted(_STEPS)))):
        return ()
    program = program_of(source)
    if program is None:
        return ()
    found: list[Passes] = []
    for body, is_step, others in _bodies(program.body):
        for stretch in _stretches(body, is_step=is_step):
            trained = {
                called: lines
                for called, lines in stretch.lines.items()
                if called not in others and _BESIDE.search(called) is None and _learns(called, source, is_step=is_step)
            }
            if len(trained) > 1:
                return ()
            found += [
                Passes(len(lines), called, source.code.line_of_file(lines[0])) for called, lines in trained.items()
            ]
    return tuple(found)


def _learns(called: str, source: Source, *, is_step: bool) -> bool:
    """Whether what is called is a network that learns: its weights go to an optimizer, or it is part of a module of Lightning's."""
    if is_step and called.startswith("self"):
        return True
    return re.search(_LEARNS.format(re.escape(called)), source.text) is not None


def _bodies(body: Sequence[ast.stmt]) -> Iterator[tuple[Sequence[ast.stmt], bool, frozenset[str]]]:
    """Yield the statements of a module, its functions and its classes' methods; whether a library goes back behind them; what of an object is no network."""
    none: frozenset[str] = frozenset()
    yield body, False, none
    pending: list[tuple[ast.stmt, frozenset[str] | None]] = [(each, None) for each in reversed(body)]
    for _ in range(MAX_FUNCTIONS):
        if not pending:
            return
        node, others = pending.pop()
        if isinstance(node, ast.ClassDef):
            inner = _no_networks(node)
            pending += [(each, inner) for each in reversed(node.body)]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.body, others is not None and node.name in _STEPS, others or none
            pending += [(each, None) for each in reversed(node.body)]
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            pending += [(each, others) for each in reversed(node.body)]


def _no_networks(home: ast.ClassDef) -> frozenset[str]:
    """Return what an object calls that is no network: its own methods, losses and measures that it makes."""
    found = {f"self.{each.name}" for each in home.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
    starts = [each for each in home.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    for node in nodes_in(starts[0].body, MAX_NODES) if starts else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _LOSSES.search(_last(node.value)):
            found |= {dotted_name(target) or "" for target in node.targets}
    return frozenset(found)


def _stretches(body: Sequence[ast.stmt], *, is_step: bool) -> list[_Count]:
    """Return the stretches of a body that end in a way back; of a step, which a library goes back from, also the last one."""
    done: list[_Count] = []
    last = _follow(body, _Count(), done, 0)
    return [*done, last] if is_step else done


def _follow(body: Iterable[ast.stmt], begun: _Count, done: list[_Count], depth: int) -> _Count:
    """Go through statements in order; return the stretch that is open behind them."""
    for node in itertools.islice(body, MAX_STATEMENTS):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or depth > MAX_DEPTH:
            continue
        if isinstance(node, ast.If):
            _note([node.test], begun)
            ways = [_follow(way, _copied(begun), done, depth + 1) for way in (node.body, node.orelse)]
            begun = min(ways, key=_Count.most)  # what only an option adds is not every step's
        elif isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            begun = _follow(node.body, _Count(), done, depth + 1)  # each round begins anew
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            inner = _follow(node.body, _copied(begun), done, depth + 1)
            begun = begun if _looks_on(node) else inner
        elif isinstance(node, ast.Try):
            begun = _follow(node.body, begun, done, depth + 1)
        elif isinstance(node, ast.Match):
            ways = [_follow(case.body, _copied(begun), done, depth + 1) for case in node.cases[:MAX_WAYS]]
            begun = min([begun, *ways], key=_Count.most)
        else:
            begun = _plain(node, begun, done)
    return begun


def _plain(node: ast.stmt, begun: _Count, done: list[_Count]) -> _Count:
    """Note a statement's passes; a way back ends the stretch."""
    if not _note([node], begun):
        return begun
    done.append(begun)
    return _Count()


def _note(nodes: Iterable[ast.AST], begun: _Count) -> bool:
    """Note the passes of an expression, and return whether it goes back; what is let go of (``net(x).detach()``), and what stands only in one of two ways, counts as none."""
    pending, goes_back = list(nodes)[::-1], False
    for _ in range(MAX_NODES):
        if not pending:
            break
        node = pending.pop()
        if isinstance(node, (ast.Lambda, ast.FunctionDef)):
            continue
        if isinstance(node, ast.IfExp):
            pending += [node.body, node.test]
            continue
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _SHARED:
                pending += node.args[::-1]
                continue
            goes_back = goes_back or _is_back(node)
            _note_call(node, begun)
        pending += list(ast.iter_child_nodes(node))[::-1]
    return goes_back


def _note_call(call: ast.Call, begun: _Count) -> None:
    name = _called(call)
    if name and (name in begun.lines or len(begun.lines) < MAX_NAMES):
        lines = begun.lines.setdefault(name, [])
        if len(lines) <= MOST:
            lines.append(call.lineno)


def _called(call: ast.Call) -> str:
    """Return the name of an object that is called itself (``net(x)``, ``self.net(x)``); "" for functions of libraries and methods."""
    name = dotted_name(call.func) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
    words = (name or "").split(".")
    is_object = len(words) == 1 or (words[0] == "self" and len(words) == 2)
    return name or "" if is_object and words[-1][:1].islower() and (call.args or call.keywords) else ""


def _is_back(call: ast.Call) -> bool:
    """Whether a call goes back through what was kept: ``loss.backward()``, ``torch.autograd.grad(loss, x)``."""
    return _last(call) == _BACK or (dotted_name(call.func) or "").endswith("autograd.grad")


def _copied(begun: _Count) -> _Count:
    return _Count({name: list(lines) for name, lines in begun.lines.items()})


def _looks_on(node: ast.With | ast.AsyncWith) -> bool:
    return any(_last(item.context_expr) in _LOOKS_ON for item in node.items)


def _last(node: ast.AST) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    return (dotted_name(called) or "").rpartition(".")[2]
