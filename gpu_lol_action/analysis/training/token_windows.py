"""The samples that a program cuts out of a long row of tokens: ``data[i : i + 1024]``, for eight places ``i`` drawn at random.

The difference of both ends is what a sample has, however they are called; the places that are drawn are how many come at a time.
What is cut as ``data[i : i + batch * length]`` and laid out as ``.view(batch, length)`` says both as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.networks.programs import program_of
from gpu_lol_action.analysis.python.subtrees import nodes_in
from gpu_lol_action.analysis.python.values import Value, dotted_name, value_of
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_FUNCTIONS, MAX_NODES = 400, 4_000
"""Functions of one program that are looked at, and nodes of each."""
MAX_TERMS, MAX_FACTORS, MAX_DEPTH = 6, 3, 6
MAX_KEY = 80
_ITEM, _ITEMS, _STREAM = "__getitem__", "__iter__", "IterableDataset"
_MAPS, _DATA = "map", "datasets"
"""Where a data set is handed the function that cuts its texts (``data.map(group_texts, batched=True)``)."""
_DRAWS = frozenset({"randint", "integers", "random_integers", "randrange", "choice", "choices", "sample"})
_OF_WHAT = frozenset({"choice", "choices", "sample"})
"""Of what is drawn comes before how many: ``random.sample(range(n), 8)``."""
_MANY_AT_A_TIME = regex(r"(?i)batch|bsz|(?:^|_)bs$|shard|rows")
_SIZES = frozenset({"size", "shape", "k"})
_LAID_OUT = frozenset({"view", "reshape"})
# `tokens[place : place + batch * length + 1]`
_MANY = regex(r"\[[^\[\]\n]{1,80}:[^\[\]\n]{0,80}\*")
# An item of these classes of Keras is a whole batch.
_BATCHES = frozenset({"Sequence", "PyDataset"})
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While)
_LOOPS = (ast.comprehension, ast.For)
Terms = dict[tuple[str, ...], int]
"""A sum of products of names, each with how often it is taken: ``(i + 1) * n`` is ``{("i", "n"): 1, ("n",): 1}``."""


@record(frozen=True, slots=True)
class Window:
    """A sample that is cut out: how long it is, how many are cut at a time (None where nothing says it), and where that stands."""

    length: Value
    samples: Value | None
    line: int
    owner: str


@record(slots=True)
class _Reading:
    """One function as it is read: names that are drawn, with how many of each; names that are set once; layouts; what the words of sums stand for.

    Of a function that is mapped over a data set only pieces that it lists are samples; what is walked through (``passed``) is none.
    """

    is_item: bool
    is_mapped: bool = False
    pieces: set[int] = field(default_factory=set)
    passed: set[int] = field(default_factory=set)
    local: dict[str, ast.expr | None] = field(default_factory=dict)
    drawn: dict[str, ast.expr | None] = field(default_factory=dict)
    laid_out: list[tuple[ast.expr, ast.expr]] = field(default_factory=list)
    atoms: dict[str, ast.expr] = field(default_factory=dict)


@remembered
def token_windows(source: Source) -> tuple[Window, ...]:
    """Return what a program cuts out of rows: items of its data sets, what starts at drawn places, what is laid out as a batch."""
    text, code = source.text, source.code
    says = (_ITEM, _STREAM, f".{_MAPS}(", *(f"{word}(" for word in _DRAWS))
    is_cutting = any(map(source.mentions, says)) or _MANY.search(text) is not None
    program = program_of(source) if code is not None and is_cutting else None
    if code is None or program is None:
        return ()
    maps = code.calls_named(_MAPS) if _DATA in code.imported() else ()
    mapped = {each.reference for call in maps for each in call.arguments[:1]}
    found: list[Window] = []
    for body, owner, is_item in _functions(program.body, mapped):
        for length, samples, line in _windows(body, _Reading(is_item, is_mapped=owner in mapped)):
            told = value_of(samples) if samples is not None else None
            found.append(Window(value_of(length), told, code.line_of_file(line), owner))
    return tuple(found)


def _functions(body: Sequence[ast.stmt], mapped: set[str | None]) -> Iterator[tuple[Sequence[ast.stmt], str, bool]]:
    """Yield the statements of a module, its functions and its classes' methods, with the function's name; and whether it gives an item."""
    yield body, "", False
    pending: list[tuple[ast.stmt, frozenset[str]]] = [(each, frozenset()) for each in reversed(body)]
    left = MAX_FUNCTIONS
    while pending and left > 0:
        node, items = pending.pop()
        left -= 1
        if isinstance(node, ast.ClassDef):
            bases = set(map(_last, node.bases))
            items = (
                frozenset[str]() if bases & _BATCHES else frozenset({_ITEM, *([_ITEMS] if _STREAM in bases else [])})
            )
            pending += [(each, items) for each in reversed(node.body)]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if items or node.name != _ITEM:
                yield node.body, node.name, node.name in items or node.name in mapped
            pending += [(each, frozenset()) for each in reversed(node.body)]
        elif isinstance(node, _BLOCKS):
            pending += [(each, items) for each in reversed(node.body)]


def _windows(body: Iterable[ast.stmt], reading: _Reading) -> Iterator[tuple[ast.expr, ast.expr | None, int]]:
    """Yield the windows of one function: their length, what says how many are cut at a time, and the line."""
    nodes = list(nodes_in(body, MAX_NODES))
    for node in nodes:
        _note(node, reading)
    cuts = [cut for node in nodes if (cut := _cut(node, reading)) is not None]
    if not cuts or not (reading.is_item or reading.drawn or reading.laid_out):
        return
    for lower, upper, line in cuts:
        begin, end = _terms(lower, reading), _terms(upper, reading)
        if begin is None or end is None:
            continue
        rest = _difference(begin, end, reading) if any(begin) else []  # `row[700:720]` is always the same part
        begins = [factor for factors in begin for factor in factors if factor in reading.drawn]
        if len(rest) == 1 and (begins or reading.is_item) and not _is_of_many(rest[0]):
            yield rest[0], reading.drawn[begins[0]] if begins else None, line
        elif len(rest) == 2:
            yield from ((length, samples, line) for samples, length in reading.laid_out if _are(rest, samples, length))


def _last(called: ast.expr) -> str:
    return (dotted_name(called) or "").rpartition(".")[2]


def _is_of_many(length: ast.expr) -> bool:
    """Whether a length is by its name how many samples, or lines, are taken at a time."""
    return isinstance(length, (ast.Name, ast.Attribute)) and _MANY_AT_A_TIME.search(_last(length)) is not None


def _cut(node: ast.AST, reading: _Reading) -> tuple[ast.expr, ast.expr, int] | None:
    """Return where a sample begins and ends that an expression cuts out, and on which line; None for what is put there, walked through, or only handed on."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or id(node) in reading.passed:
        return None
    ends = _ends(node.slice) if not reading.is_mapped or id(node) in reading.pieces else None
    return (*ends, node.lineno) if ends is not None else None


def _ends(cut: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Return where what is cut begins and ends; None where it is no row's part."""
    is_part = isinstance(cut, ast.Slice) and cut.step is None
    if not isinstance(cut, ast.Slice) or not is_part or cut.lower is None or cut.upper is None:
        return None
    return cut.lower, cut.upper


def _note(node: ast.AST, reading: _Reading) -> None:
    """Note what a statement or call says of names and layouts."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        is_made = not isinstance(node.value, ast.Constant)  # what a plain number is, a configuration may say otherwise
        reading.local[name] = node.value if name not in reading.local and is_made else None
        _note_drawn(name, node.value, reading)
    elif isinstance(node, _LOOPS):
        reading.passed.add(id(node.iter))
        if isinstance(node.target, ast.Name):
            _note_drawn(node.target.id, node.iter, reading)
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        reading.pieces.add(id(node.elt))
    elif isinstance(node, ast.Call) and len(node.args) == 2 and _last(node.func) in _LAID_OUT:
        reading.laid_out.append((node.args[0], node.args[1]))


def _note_drawn(name: str, value: ast.expr, reading: _Reading) -> None:
    """Note a name for places that are drawn at random, or for one of those that another name has."""
    if isinstance(value, ast.Name):
        if value.id in reading.drawn:
            reading.drawn[name] = reading.drawn[value.id]
        return
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.args:
        value = value.func.value  # `torch.randint(n, (8,)).tolist()`
    called = _last(value.func) if isinstance(value, ast.Call) else ""
    if isinstance(value, ast.Call) and called in _DRAWS:
        reading.drawn[name] = _how_many(value, called)


def _how_many(call: ast.Call, called: str) -> ast.expr | None:
    """Return how many are drawn at a time: the shape's first side, or a number behind what they are drawn of; None for one."""
    sizes = [word.value for word in call.keywords if word.arg in _SIZES]
    for each in (*sizes, *call.args):
        if isinstance(each, (ast.Tuple, ast.List)) and each.elts:
            return each.elts[0]
    place = 1 if called in _OF_WHAT else 2
    return next(iter(sizes), call.args[place] if len(call.args) > place and called != "randrange" else None)


def _difference(begin: Terms, end: Terms, reading: _Reading) -> list[ast.expr]:
    """Return the factors of what an end is behind its begin, but for the one token that is predicted; nothing where that is no plain product."""
    rest = {key: times for key in (*begin, *end) if (times := end.get(key, 0) - begin.get(key, 0))}
    number = rest.pop((), 0)
    if not rest and number > 1:
        return [ast.Constant(number)]
    ((factors, times),) = rest.items() if len(rest) == 1 else (((), 0),)
    return [reading.atoms[each] for each in factors] if times == 1 and abs(number) <= 1 else []


def _terms(node: ast.expr, reading: _Reading, depth: int = 0) -> Terms | None:
    """Return an expression as a sum of products; None for one that is too long."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return {(): node.value}
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)) and depth < MAX_DEPTH:
        left, right = _terms(node.left, reading, depth + 1), _terms(node.right, reading, depth + 1)
        if left is None or right is None:
            return None
        found = _product(left, right) if isinstance(node.op, ast.Mult) else _sum(left, right, node.op)
        return found if len(found) <= MAX_TERMS and all(len(key) <= MAX_FACTORS for key in found) else None
    inner = reading.local.get(node.id) if isinstance(node, ast.Name) and node.id not in reading.drawn else None
    if inner is not None and depth < MAX_DEPTH:
        return _terms(inner, reading, depth + 1)
    word = _word(node)
    reading.atoms.setdefault(word, node)
    return {(word,): 1}


def _sum(left: Terms, right: Terms, operator: ast.operator) -> Terms:
    sign = -1 if isinstance(operator, ast.Sub) else 1
    return {key: left.get(key, 0) + sign * right.get(key, 0) for key in (*left, *right)}


def _product(left: Terms, right: Terms) -> Terms:
    found: Terms = {}
    for (first, times), (second, by) in ((one, other) for one in left.items() for other in right.items()):
        key = tuple(sorted((*first, *second)))
        found[key] = found.get(key, 0) + times * by
    return found


def _are(factors: list[ast.expr], samples: ast.expr, length: ast.expr) -> bool:
    """Whether what is cut is as much as it is laid out as."""
    return sorted(map(_word, factors)) == sorted((_word(samples), _word(length)))


def _word(node: ast.expr) -> str:
    """Return an expression as a word of a sum: names and entries as they are written, anything else as nothing but itself."""
    key = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    name = dotted_name(node) if isinstance(node, (ast.Name, ast.Attribute)) or key is not None else None
    return f"{name}[{str(key)[:MAX_KEY]}]" if name is not None and key is not None else name or f"#{id(node)}"
