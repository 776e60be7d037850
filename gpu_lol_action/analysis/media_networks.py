"""The network of one's own that a program builds, summed up from the layers in its classes; nothing is executed.

A small reader follows constructors: numbers bound to names, loops over ranges, blocks that classes and helper functions build,
each with the arguments of its call. It is bounded in steps and depth, and says how many layers it could not size.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.media_layers import Count, Given, add_layer, is_layer
from gpu_lol_action.analysis.media_numbers import MAX_DEPTH, MAX_LOOP, Number, Numbers, arithmetic, last_word
from gpu_lol_action.analysis.media_outlines import Function, Outline, outline_of
from gpu_lol_action.domain.finding import Evidence

MAX_SOURCES = 40
MAX_TOGETHER = 4 * 2**20
"""What parsing all programs of a run together may cost, in bytes of ordinary code."""
MAX_STEPS = 8_000  # of one network
MOST_STEPS = 80_000  # of all together
MOST_TOGETHER = 3
_BUILDERS = ("__init__", "setup", "build", "__call__")


@dataclass(frozen=True, slots=True)
class OwnNetwork:
    """A network of one's own: parameters, outputs of its layers per sample (per position of a sequence), and where it stands."""

    name: str
    parameters: int
    outputs: int
    is_sequence: bool
    layers: int
    unknown: int
    evidence: Evidence


@dataclass(slots=True)
class _World:
    """What can be built, the defaults of options, and how many steps are left."""

    classes: Mapping[str, tuple[ast.ClassDef, Source]]
    functions: Mapping[str, Function]
    sources: Sequence[Source]
    size: int
    steps: int = MAX_STEPS
    left: int = MOST_STEPS
    seen: list[str] = field(default_factory=list)
    pools: dict[Function, int] = field(default_factory=dict)
    options: dict[str, Number | list[Number] | None] = field(default_factory=dict)

    def pools_in(self, function: Function) -> int:
        """Return how many pools a function calls."""
        if function not in self.pools:
            calls = (last_word(call.func) for call in ast.walk(function) if isinstance(call, ast.Call))
            self.pools[function] = sum(name.endswith(("max_pool2d", "avg_pool2d")) for name in calls)
        return self.pools[function]


def own_network(sources: Sequence[Source], image_size: int) -> OwnNetwork | None:
    """Return the largest network that the programs build of their own classes, or of layers in a row; None without one."""
    left = MAX_TOGETHER
    trees = []
    for source in sources[:MAX_SOURCES]:
        if source is sources[0] or _may_hold_layers(source):
            outline = outline_of(source)
            left -= outline.cost if outline is not None else 0
            if outline is not None and left >= 0:
                trees.append((source, outline))
    if not trees:
        return None
    classes = {node.name: (node, source) for source, outline in reversed(trees) for node in outline.classes}
    functions = {node.name: node for _, outline in reversed(trees) for node in outline.functions}
    world = _World(classes, functions, sources, image_size)
    near = _roots(world, *trees[0], names=classes) or _roots(world, *trees[0], names=functions)
    if 1 < len(near) <= MOST_TOGETHER:
        return _together(near)  # a generator and what judges it are there at once
    found = near or [network for source, tree in trees[1:] for network in _roots(world, source, tree, names=classes)]
    return max(found, key=lambda network: (network.parameters, network.evidence), default=None)


def _together(found: Sequence[OwnNetwork]) -> OwnNetwork:
    """Return several networks as one: sums, under the largest one's name."""
    largest = max(found, key=lambda network: (network.parameters, network.evidence))
    return replace(
        largest,
        parameters=sum(network.parameters for network in found),
        outputs=sum(network.outputs for network in found),
        layers=sum(network.layers for network in found),
        unknown=sum(network.unknown for network in found),
    )


@remembered
def _may_hold_layers(source: Source) -> bool:
    text = source.text
    return any(word in text for word in ("nn.", "keras", "Dense(", "Linear("))


def _roots(world: _World, source: Source, outline: Outline, *, names: Container[str]) -> list[OwnNetwork]:
    """Return networks that are built outside of any network's class, by classes or functions of these names, or as a row of layers."""
    found: dict[str, OwnNetwork] = {}
    lost = 0  # layers of networks of which nothing could be sized
    for name, node in outline.calls:
        if name in names or name == "Sequential":
            world.steps, world.left = min(MAX_STEPS, world.left), world.left - MAX_STEPS // 4
            count = Count(size=float(world.size), channels=0)
            reader = _Reader(world, count, Numbers(world.sources, options=world.options))
            reader.call(node, 0)
            if not count.parameters and name in world.classes and count.unknown:
                lost += count.unknown
            if count.layers and count.parameters:
                shown = "a row of layers" if name == "Sequential" else name
                network = OwnNetwork(shown, int(count.parameters), int(count.outputs), count.is_sequence, count.layers,
                                     count.unknown, Evidence(source.path, node.lineno))  # fmt: skip
                before = found.get(shown)
                if before is None or before.parameters < network.parameters:
                    found[shown] = network
    return [replace(network, unknown=network.unknown + lost) for network in found.values()]


@dataclass(slots=True)
class _Reader:
    """Reads one body: numbers by name, and numbers and lists of the object (``self``)."""

    world: _World
    count: Count
    numbers: Numbers
    methods: Mapping[str, Function] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)  # classes that were given as arguments (``block``)

    def body(self, statements: Sequence[ast.stmt], depth: int) -> None:
        """Read statements in order."""
        for statement in statements:
            self.world.steps -= 1
            if self.world.steps < 0 or depth > MAX_DEPTH:
                return
            self._statement(statement, depth)

    def _statement(self, node: ast.stmt, depth: int) -> None:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            self.calls(node.value, depth)
            value = self.numbers.value(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._bind(target, value)
        elif isinstance(node, ast.AugAssign):
            self.calls(node.value, depth)
            old, new = self.numbers.value(node.target), self.numbers.value(node.value)
            if isinstance(old, (int, float)) and isinstance(new, (int, float)):
                self._bind(node.target, arithmetic(node.op, old, new))
        elif isinstance(node, ast.For):
            for value in self.numbers.items(node.iter):
                self._bind(node.target, value)
                self.body(node.body, depth + 1)
        elif isinstance(node, ast.If):
            test = self.numbers.truth(node.test)
            self.body(node.orelse if test is False else node.body, depth + 1)
        elif isinstance(node, (ast.Expr, ast.Return)) and node.value is not None:
            self.calls(node.value, depth)
        elif isinstance(node, ast.With):
            self.body(node.body, depth + 1)

    def calls(self, node: ast.expr, depth: int) -> None:
        """Count the layers that an expression builds, as often as its comprehensions repeat it."""
        if depth > MAX_DEPTH or self.world.steps < 0:
            return
        self.world.steps -= 1
        if isinstance(node, (ast.Name, ast.Constant)):
            return
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            first = node.generators[0]
            for value in self.numbers.items(first.iter):
                self._bind(first.target, value)
                self.calls(node.elt, depth + 1)
            return
        if isinstance(node, ast.Call):
            self.call(node, depth)
            return
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            times = self.numbers.value(node.right)
            for _ in range(min(int(times), MAX_LOOP) if isinstance(times, (int, float)) else 1):
                self.calls(node.left, depth + 1)
            return
        if isinstance(node, ast.IfExp):
            self.calls(node.orelse if self.numbers.truth(node.test) is False else node.body, depth + 1)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.calls(child, depth + 1)

    def call(self, node: ast.Call, depth: int) -> None:
        """Count what one call builds: a layer, a class of one's own, or what a helper returns."""
        name = self.aliases.get(last_word(node.func), last_word(node.func))
        if name in _BUILDERS:
            return  # the parent's constructor: what it builds is its library's
        self._input_shape(node)
        if is_layer(name) and name not in self.world.classes:
            add_layer(self.count, name, self._given(node), is_keras=_is_keras(node.func, name))
            return
        if name in {"TransformerEncoder", "TransformerDecoder"}:
            self._stack(node, depth)
            return
        target = self.world.classes.get(name)
        method = self.methods.get(name) if isinstance(node.func, ast.Attribute) else None
        function = method or self.world.functions.get(name)
        if target is not None:
            self._construct(target[0], node, depth)
        elif function is not None and name not in self.world.seen[-MAX_DEPTH:]:
            self.world.seen.append(name)
            aliases = self._aliases(function, node)
            reader = _Reader(
                self.world, self.count, self.numbers.inner(self._bound(function, node)), self.methods, aliases
            )
            reader.body(function.body, depth + 1)
            self.world.seen.pop()
        else:
            for child in (*node.args, *(word.value for word in node.keywords)):
                self.calls(child.value if isinstance(child, ast.Starred) else child, depth + 1)

    def _input_shape(self, node: ast.Call) -> None:
        """Take the size and channels that a first layer is told (Keras)."""
        for word in node.keywords:
            shape = self.numbers.value(word.value) if word.arg in {"input_shape", "shape"} else None
            if isinstance(shape, list) and len(shape) == 3 and 1 <= shape[0] <= 4096:
                self.count.size, self.count.channels = float(shape[0]), int(shape[2])

    def _stack(self, node: ast.Call, depth: int) -> None:
        """Count a stack of equal layers: one is built at its own call, the stack repeats it."""
        times = self._given(node).number(1, "num_layers", default=6.0) or 6.0
        before = (self.count.parameters, self.count.outputs)
        for child in node.args[:1]:
            self.calls(child, depth + 1)
        each = (self.count.parameters - before[0], self.count.outputs - before[1])
        if not each[0]:  # the layer was built before and is named here
            each = self.count.last_block
        self.count.parameters += each[0] * (min(times, MAX_LOOP) - 1)
        self.count.outputs += each[1] * (min(times, MAX_LOOP) - 1)

    def _construct(self, target: ast.ClassDef, node: ast.Call, depth: int) -> None:
        if depth > MAX_DEPTH or self.world.seen.count(target.name) > 6:
            return
        self.world.seen.append(target.name)
        methods = {item.name: item for item in target.body if isinstance(item, Function)}
        for name in _BUILDERS:
            built = methods.get(name)
            if built is None or (name == "__call__" and "setup" in methods):
                continue
            bound, aliases = self._bound(built, node), self._aliases(built, node)
            numbers = Numbers(self.world.sources, dict(bound), options=self.world.options)
            reader = _Reader(self.world, self.count, numbers, methods, aliases)
            reader.body(built.body, depth + 1)
            break
        forward = methods.get("forward")
        if forward is not None and self.count.size > 1:
            # Pools between the layers that the constructor does not show.
            self.count.outputs /= 1.0 + self.world.pools_in(forward)
        self.world.seen.pop()

    def _bound(self, function: Function, node: ast.Call) -> dict[str, Number | list[Number]]:
        """Return the numbers of a call by the names of its parameters, and the defaults of the others."""
        parameters = _parameters(function)
        defaults = function.args.defaults
        pairs = list(zip(parameters[len(parameters) - len(defaults) :], defaults, strict=False))
        pairs += [
            (a, d) for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=False) if d is not None
        ]
        values = [(parameter.arg, self.numbers.value(default)) for parameter, default in pairs]
        values += [(p.arg, self.numbers.value(a)) for p, a in zip(parameters, node.args, strict=False)]
        values += [(word.arg, self.numbers.value(word.value)) for word in node.keywords if word.arg]
        return {name: value for name, value in values if value is not None}

    def _aliases(self, function: Function, node: ast.Call) -> dict[str, str]:
        """Return which parameters of a call are classes of the program's own."""
        parameters, defaults = _parameters(function), function.args.defaults
        pairs = [
            (p.arg, last_word(d)) for p, d in zip(parameters[len(parameters) - len(defaults) :], defaults, strict=False)
        ]
        pairs += [(p.arg, last_word(a)) for p, a in zip(parameters, node.args, strict=False)]
        pairs += [(word.arg, last_word(word.value)) for word in node.keywords if word.arg]
        found = {name: self.aliases.get(given, given) for name, given in pairs}
        return {name: given for name, given in found.items() if given in self.world.classes}

    def _given(self, node: ast.Call) -> Given:
        places = tuple(self.numbers.value(argument) for argument in node.args[:8])
        named = {word.arg: self.numbers.value(word.value) for word in node.keywords if word.arg}
        return Given(places, {name: value for name, value in named.items() if value is not None})

    def _bind(self, target: ast.expr, value: Number | list[Number] | None) -> None:
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, list):
            for inner, item in zip(target.elts, value, strict=False):
                self._bind(inner, item)
            return
        space = self.numbers.names if isinstance(target, ast.Name) else self.numbers.own
        name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
        if value is not None:
            space[name] = value
        elif isinstance(target, ast.Name):
            space.pop(name, None)


def _parameters(function: Function) -> list[ast.arg]:
    parameters = [*function.args.posonlyargs, *function.args.args]
    return parameters[1:] if parameters and parameters[0].arg in {"self", "cls"} else parameters


def _is_keras(node: ast.expr, name: str) -> bool:
    """Whether the layer takes only its outputs: Keras and Flax."""
    owner = last_word(node.value) if isinstance(node, ast.Attribute) else ""
    return (
        owner in {"layers", "keras", "tf", "L"} or name in {"Dense", "Conv1D", "Conv2D", "Conv3D"} or name.endswith("D")
    )
