"""How many positions a transformer has a row of its own for: the table that it asks with ``arange`` over its input's length, or a parameter it cuts to that.

Other tables that are asked with ``arange`` are of labels, or of all that may be recommended: their length is no input's.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterable

from gpu_lol_action.analysis.networks.arguments import number
from gpu_lol_action.analysis.networks.values import Instance, Layer, Tensor, Value
from gpu_lol_action.analysis.networks.weights import TABLES
from gpu_lol_action.analysis.python.subtrees import nodes_in
from gpu_lol_action.analysis.python.values import dotted_name

LEAST, MOST = 16, 4_096
"""Positions that a table of them is believed to be filled: a larger one is there for whatever may come."""
MAX_NODES = 4_000
MAX_CHAIN, MAX_INNER = 8, 40
_SIDES = frozenset({"size", "shape"})
_COUNTS = frozenset(
    {"torch.arange", "jnp.arange", "np.arange", "mx.arange", "tf.range", "ops.arange", "keras.ops.arange"}
)
_WEIGHT = "weight"


def positions_of_tables(parts: Iterable[Value]) -> int:
    """Return the rows of the smallest table of positions among the parts of a network; 0 where none is seen."""
    found = 0
    for part in parts:
        if not isinstance(part, Instance) or part.home is None:
            continue
        for chain in _tables_of(part.home.node):
            rows = _rows(part, chain)
            found = min(found or rows, rows) if LEAST <= rows <= MOST else found
    return found


def _rows(part: Instance, chain: tuple[str, ...]) -> int:
    """Return the rows of a table that a network has, by the names on the way to it."""
    value: Value = part
    for word in chain:
        value = value.attributes.get(word) if isinstance(value, Instance) else None
    if isinstance(value, Layer) and value.kind in TABLES:
        return int(number(value, 0, "num_embeddings", "input_dim") or 0)
    if isinstance(value, Tensor) and value.is_parameter and value.shape and len(value.shape) > 1:
        return int(value.shape[-2])
    return 0


@functools.lru_cache(maxsize=256)
def _tables_of(home: ast.ClassDef) -> tuple[tuple[str, ...], ...]:
    """Return the names on the way to what a class asks with counted positions, or cuts to the length of its input and adds."""
    found: dict[tuple[str, ...], None] = {}
    for method in home.body:
        if isinstance(method, ast.FunctionDef):
            counted: set[str] = set()
            lengths: set[str] = set()
            for node in nodes_in(method.body, MAX_NODES):
                if isinstance(node, ast.Assign):
                    _note(node, counted, lengths)
                chain = _asked(node, counted, lengths) or _cut(node, lengths)
                if chain:
                    found[chain] = None
    return tuple(found)


def _note(node: ast.Assign, counted: set[str], lengths: set[str]) -> None:
    """Note the names that a statement gives to counted positions, and to what an input's sides are."""
    names = {each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    if _is_counted(node.value, counted, lengths):
        counted |= names
    elif _is_length(node.value, lengths):
        lengths |= names


def _is_length(node: ast.AST, lengths: set[str]) -> bool:
    """Whether an expression is made of an input's sides: ``x.size(1)``, ``x.shape[1] + 1``, ``len(x)``."""
    for each in itertools.islice(ast.walk(node), MAX_INNER):
        if isinstance(each, ast.Attribute) and each.attr in _SIDES:
            return True
        if isinstance(each, ast.Name) and (each.id in lengths or each.id == "len"):
            return True
    return False


def _is_counted(node: ast.AST, counted: set[str], lengths: set[str]) -> bool:
    """Whether an expression counts positions: ``torch.arange(n)``, whatever is done to its form, or a name for that."""
    for _ in range(MAX_CHAIN):
        if isinstance(node, ast.Name):
            return node.id in counted
        if isinstance(node, ast.Call) and (dotted_name(node.func) or "") in _COUNTS:
            return any(_is_length(each, lengths) for each in (*node.args, *(word.value for word in node.keywords)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value  # `torch.arange(n).unsqueeze(0)`
        elif isinstance(node, ast.Subscript):
            node = node.value  # `torch.arange(n)[None]`
        else:
            return False
    return False


def _asked(node: ast.AST, counted: set[str], lengths: set[str]) -> tuple[str, ...]:
    """Return what a call asks with counted positions, by the names behind ``self``; nothing for other calls."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or not _is_counted(node.args[0], counted, lengths):
        return ()
    return _behind_self(node.func)


def _cut(node: ast.AST, lengths: set[str]) -> tuple[str, ...]:
    """Return what a sum adds that is cut at its begin (``x + self.positions[:, :n]``, ``self.table.weight[:n]``), by its names."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return ()
    for side in (node.left, node.right):
        if isinstance(side, ast.Subscript):
            ends = side.slice.elts if isinstance(side.slice, ast.Tuple) else [side.slice]
            is_cut = any(
                isinstance(end, ast.Slice)
                and end.lower is None
                and end.upper is not None
                and _is_length(end.upper, lengths)
                for end in ends
            )
            chain = _behind_self(side.value) if is_cut else ()
            if chain:
                return chain[:-1] if chain[-1] == _WEIGHT and len(chain) > 1 else chain
    return ()


def _behind_self(node: ast.expr) -> tuple[str, ...]:
    words = (dotted_name(node) or "").split(".") if isinstance(node, ast.Attribute) else []
    return tuple(words[1:]) if words[:1] == ["self"] else ()
