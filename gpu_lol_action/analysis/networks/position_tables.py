"""How many positions a transformer has a row of its own for: the table that it asks with ``arange``, or a parameter it cuts and adds.

The places of a text are counted there and its words are not, so that of all tables this one tells how long a text may be.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator

from gpu_lol_action.analysis.networks.arguments import number
from gpu_lol_action.analysis.networks.values import Instance, Layer, Tensor, Value
from gpu_lol_action.analysis.networks.weights import TABLES
from gpu_lol_action.analysis.python.values import dotted_name

LEAST, MOST = 16, 131_072
"""Positions that a table of them is believed to have."""
MAX_NODES = 4_000
MAX_CHAIN = 8
_COUNTS = frozenset(
    {"torch.arange", "jnp.arange", "np.arange", "mx.arange", "tf.range", "ops.arange", "keras.ops.arange"}
)
_WEIGHT = "weight"


def positions_of_tables(parts: Iterable[Value]) -> int:
    """Return the rows of the largest table of positions among the parts of a network; 0 where none is seen."""
    found = 0
    for part in parts:
        if not isinstance(part, Instance) or part.home is None:
            continue
        for chain in _tables_of(part.home.node):
            rows = _rows(part, chain)
            found = max(found, rows) if LEAST <= rows <= MOST else found
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
            for node in _nodes(method):
                if isinstance(node, ast.Assign) and _is_counted(node.value, counted):
                    counted |= {target.id for target in node.targets if isinstance(target, ast.Name)}
                chain = _asked(node, counted) or _cut(node)
                if chain:
                    found[chain] = None
    return tuple(found)


def _nodes(method: ast.FunctionDef) -> Iterator[ast.AST]:
    pending: list[ast.AST] = [*reversed(method.body)]
    for _ in range(MAX_NODES):
        if not pending:
            return
        node = pending.pop()
        yield node
        pending += list(ast.iter_child_nodes(node))[::-1]


def _is_counted(node: ast.AST, counted: set[str]) -> bool:
    """Whether an expression counts positions: ``torch.arange(n)``, whatever is done to its form, or a name for that."""
    for _ in range(MAX_CHAIN):
        if isinstance(node, ast.Name):
            return node.id in counted
        if isinstance(node, ast.Call) and (dotted_name(node.func) or "") in _COUNTS:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value  # `torch.arange(n).unsqueeze(0)`
        elif isinstance(node, ast.Subscript):
            node = node.value  # `torch.arange(n)[None]`
        else:
            return False
    return False


def _asked(node: ast.AST, counted: set[str]) -> tuple[str, ...]:
    """Return what a call asks with counted positions, by the names behind ``self``; nothing for other calls."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or not _is_counted(node.args[0], counted):
        return ()
    return _behind_self(node.func)


def _cut(node: ast.AST) -> tuple[str, ...]:
    """Return what a sum adds that is cut at its begin (``x + self.positions[:, :n]``, ``self.table.weight[:n]``), by its names."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return ()
    for side in (node.left, node.right):
        if isinstance(side, ast.Subscript):
            ends = side.slice.elts if isinstance(side.slice, ast.Tuple) else [side.slice]
            is_cut = any(isinstance(end, ast.Slice) and end.lower is None and end.upper is not None for end in ends)
            chain = _behind_self(side.value) if is_cut else ()
            if chain:
                return chain[:-1] if chain[-1] == _WEIGHT and len(chain) > 1 else chain
    return ()


def _behind_self(node: ast.expr) -> tuple[str, ...]:
    words = (dotted_name(node) or "").split(".") if isinstance(node, ast.Attribute) else []
    return tuple(words[1:]) if words[:1] == ["self"] else ()
