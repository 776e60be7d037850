"""The state of a reader that follows a program as far as its networks: names, budget, what layers keep. Nothing is executed."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.networks.parsed import parse_value
from gpu_lol_action.analysis.networks.programs import Program
from gpu_lol_action.analysis.networks.registries import REGISTERS, registered_names
from gpu_lol_action.analysis.networks.values import UNKNOWN, Class, Function, Instance, Layer, Named, Tensor, Value
from gpu_lol_action.domain.records import record

MAX_DEPTH = 28
"""Of calls in each other; each takes a dozen of Python's own."""
MAX_LIST = 512
MOST_FORWARD = 240_000  # steps of running networks once, all together
MOST_STEPS = 60_000  # statements, calls and loops of all networks of a run together


class OutOfStepsError(Exception):
    """The program is longer than what is followed."""


class OtherRankError(Exception):
    """A network takes its input apart into another number of sides than it was given."""

    def __init__(self, rank: int) -> None:
        super().__init__(rank)
        self.rank = rank


@record(slots=True, eq=False)
class Frame:
    """The names of one body, those around it, and the object and class that it belongs to."""

    program: Program
    names: dict[str, Value] = field(default_factory=dict)
    around: Mapping[str, Value] = field(default_factory=dict)
    owner: Value = None
    home: Class | None = None


@record(slots=True, eq=False)
class Kept:
    """What the layers of a network that is run once keep: numbers saved for the backward pass, and most at work at once."""

    saved: float = 0.0
    at_work: float = 0.0
    unknown: int = 0
    is_sequence: bool = False
    is_size_assumed: bool = False  # pictures, of whose pixels nothing is said, went in
    last: Tensor | None = None
    used: dict[int, Value] = field(default_factory=dict)
    sides: dict[int, tuple[float, ...]] = field(default_factory=dict)  # of the last picture or sound, by their count

    def keep(self, tensor: Tensor, times: float = 1.0) -> Tensor:
        """Note a tensor that a layer puts out, and how many of its size are saved; return it."""
        if tensor.numel is not None and not math.isfinite(tensor.numel):
            self.unknown += 1
        elif tensor.numel is not None:
            self.saved += times * tensor.numel
            before = self.last.numel if self.last is not None and self.last.numel is not None else 0.0
            self.at_work = max(self.at_work, 2 * tensor.numel + before)
            self.last = tensor
            if tensor.shape is not None and len(tensor.shape) > 2:
                self.sides[len(tensor.shape) - 2] = tensor.shape[2:]
        return tensor


@record(slots=True, eq=False)
class Root:
    """A network that is built outside of any other, and the line of its program."""

    network: Value
    program: Program
    line: int
    kept: Kept | None = None  # where its layers were called as it was built (Keras)
    strangers: int = 0  # parts of libraries that nothing is known of


@record(frozen=True, slots=True)
class Following:
    """How statements, expressions and calls are followed: each asks for the others, so that they are handed on."""

    run: Callable[[Machine, Function, Frame], Value]
    evaluate: Callable[[Machine, Frame, ast.expr], Value]
    assign: Callable[[Machine, Frame, ast.expr, Value], None]
    call: Callable[[Machine, Value, Sequence[Value], Mapping[str, Value]], Value]


@record(slots=True, eq=False)
class Machine:
    """Programs, options and what was built."""

    programs: Sequence[Program]
    options: Mapping[str, str]
    size: int
    length: int
    followed: Following
    steps: int = MOST_STEPS
    tries: int = 0
    forward_left: int = MOST_FORWARD
    is_size_open: bool = False
    frames: int = 0  # of a clip; 0: not said, as below
    samples: int = 0  # of a sound, and from one of its windows to the next
    hop: int = 0
    points: int = 0  # of a cloud
    is_cut: bool = False  # samples are cut out of rows
    overlaid: set[str] = field(default_factory=set)  # modules whose variables a file was run among
    infers: bool = False
    input_shape: tuple[float, ...] | None = None  # of a network that is run, as long as it may be of another rank
    has_latents: bool = False
    counts_letters: bool = False  # a text's characters are its vocabulary
    depth: int = 0
    building: int = 0  # constructors of networks that are open
    running: int = 0  # networks that are run
    built: int = 0  # layers and networks so far that were built, and layers that were run
    trained: dict[int, bool] = field(default_factory=dict)  # whether a loop trains, by the identity of its node
    entered: dict[int, int] = field(default_factory=dict)  # functions that are open, by the identity of their nodes
    kept: Kept = field(default_factory=Kept)
    roots: list[Root] = field(default_factory=list)
    shapes: list[Mapping[str, Value]] = field(default_factory=list)  # configurations' arguments: layers and width
    called: set[int] = field(default_factory=set)  # functions that were entered, by the identity of their nodes
    line: int = 0
    program: Program | None = None
    known: dict[tuple[str, str], Value] = field(default_factory=dict)
    modules: dict[str, dict[str, Value]] = field(default_factory=dict)  # names of the modules whose statements were run
    asked: dict[str, Value] = field(default_factory=dict)
    defaults: dict[str, Value] = field(default_factory=dict)  # of options that the program makes as it goes
    origins: dict[tuple[str, str], list[Program]] = field(default_factory=dict)  # programs that may be meant, by folder
    named: dict[str, Program | None] = field(default_factory=dict)  # the program that a dotted name means
    members: dict[tuple[str, str], Value] = field(default_factory=dict)  # what a module has, by its dotted name
    parts: dict[tuple[str, str], Value] = field(default_factory=dict)  # names of libraries' modules and what is in them
    orders: dict[tuple[int, str], list[str]] = field(default_factory=dict)  # what functions use, by node and input
    found: dict[tuple[str, str], Value] = field(default_factory=dict)
    settled: dict[tuple[str, str], Value] = field(default_factory=dict)  # names of modules that stay what they are
    strangers: int = 0  # parts of libraries that nothing is known of, so far
    nodes: Mapping[str, dict[str, Value]] = field(default_factory=dict)  # parts of a configuration that name a class
    mappings: Mapping[str, dict[str, Value]] = field(default_factory=dict)  # parts of a configuration by their keys
    bound: Mapping[str, str] = field(default_factory=dict)  # what gin-config gives to parameters, by their dotted names
    stray: Mapping[str, str] = field(default_factory=dict)  # what a configuration says that nothing names
    files: Sequence[Source] = ()  # that configure the run
    saved: Sequence[Source] = ()  # configurations in folders of saved models
    is_of_file: bool = False  # a network was built from one of these, row by row
    homes: dict[str, Program | None] = field(default_factory=dict)  # the first program that defines (module.)name
    known_as: list[str] = field(default_factory=list)  # names under which the checkout registers what was built
    registering: list[Program] | None = None
    registry: dict[str, tuple[Program, str]] | None = None

    def call(self, target: Value, places: Sequence[Value] = (), named: Mapping[str, Value] | None = None) -> Value:
        """Return what a call returns."""
        return self.followed.call(self, target, places, named or {})

    def evaluate(self, frame: Frame, node: ast.expr) -> Value:
        """Return what an expression stands for."""
        return self.followed.evaluate(self, frame, node)

    def step(self, count: int = 1) -> None:
        """Count down; raise where nothing is left."""
        self.steps -= count
        if self.steps < 0:
            raise OutOfStepsError

    def find(self, name: str, program: Program | None) -> Value:
        """Return the class, function or value of that name: the program's own, what it imports, then any other program's."""
        key = (program.source.path if program is not None else "", name)
        return self.found[key] if key in self.found else self.found.setdefault(key, self._find(name, program))

    def meant_by(self, origin: str, asking: Program | None = None) -> list[Program]:
        """Return the programs whose module a dotted origin may name: those whose folders it names too, then neighbors, first."""
        folder = asking.source.folder if asking is not None else ""
        if (origin, folder) not in self.origins:
            words = set(origin.split("."))
            meant = [program for program in self.programs if program.stem in words]
            meant.sort(key=lambda each: (-len(words.intersection(each.dotted)), each.source.folder != folder))
            self.origins[origin, folder] = meant
        return self.origins[origin, folder]

    def _find(self, name: str, program: Program | None) -> Value:
        if program is not None and (found := self._own(name, program)) is not None:
            return found
        return self.of_origin(program.imports.get(name) if program is not None else None, name, program)

    def of_origin(self, origin: str | None, name: str, asking: Program | None = None, hops: int = 3) -> Value:
        """Return the class or function that an import of a dotted origin means, by that name; a library's as such."""
        last = origin.rpartition(".")[2] if origin else name
        for other in self.meant_by(origin, asking) if origin else ():
            if (found := self._own(last, other)) is not None:
                return found
            if other is not asking and hops and last in other.imports:  # a package hands on what its modules hold
                found = self.of_origin(other.imports[last], last, other, hops - 1)
                if not isinstance(found, Named):
                    return found
        if last not in self.homes:
            self.homes[last] = next((other for other in self.programs if other.defines(last)), None)
        home = self.homes[last]
        return self._own(last, home) if home is not None else Named(origin or name)

    def of_module(self, module: str, name: str) -> Value | None:
        """Return the class or function of a module by its dotted name, of several that of the one whose folders it names too."""
        if (module, name) not in self.members:
            last = module.rpartition(".")[2]
            home = next((each for each in self.meant_by(module) if each.stem == last and each.defines(name)), None)
            self.members[module, name] = self._own(name, home) if home is not None else None
        return self.members[module, name]

    def module(self, dotted: str) -> Program | None:
        """Return the program that a dotted name means, where all of its words are those of the path."""
        if dotted not in self.named:
            words, last = set(dotted.split(".")), dotted.rpartition(".")[2]
            meant = (p for p in self.meant_by(dotted) if p.stem == last and words.issubset(p.dotted))
            self.named[dotted] = next(meant, None)
        return self.named[dotted]

    def _own(self, name: str, program: Program) -> Value | None:
        key = (program.source.path, name)
        if key not in self.known:
            if not program.defines(name):
                return None
            if name in program.classes:
                self.known[key] = Class(program.classes[name], program)
            else:
                self.known[key] = Function(program.functions[name], program)
        return self.known[key]

    def registered(self, name: str) -> Value | None:
        """Return the class or function that a decorator puts into a registry under that name, or its own; None without one."""
        if self.registry is None:
            if self.registering is None:
                self.registering = [program for program in self.programs if program.decorates_with(REGISTERS)]
            if not any(program.source.mentions(name) for program in self.registering):
                return None
            self.registry = {}
            for program in self.registering:
                for node in (*program.classes.values(), *program.functions.values()):
                    for key in registered_names(node):
                        self.registry.setdefault(key, (program, node.name))
        found = self.registry.get(name)
        return self._own(found[1], found[0]) if found is not None else None

    def option(self, name: str) -> Value:
        """Return what an option of that name is given or starts with; ``UNKNOWN`` where nothing says it."""
        if name not in self.asked:
            self.asked[name] = self._option(name)
        return self.asked[name]

    def is_said(self, name: str) -> bool:
        """Whether the run says an option of that name itself."""
        return name in self.options or name.lower() in self.options

    def add_option(self, places: Sequence[Value], named: Mapping[str, Value]) -> None:
        """Note what an option starts with that the program makes as it goes, from a table of its own."""
        names = [place.lstrip("-").replace("-", "_") for place in places if isinstance(place, str)]
        said = next((self.options[name] for name in names[:2] if name in self.options), None)
        default = named.get("default", UNKNOWN) if said is None else parse_value(said)  # by its other name
        if isinstance(default, (str, int, float, list)):
            for name in names[:2]:
                self.defaults.setdefault(name, default)
                if self.asked.get(name) is UNKNOWN:
                    del self.asked[name]

    def _option(self, name: str) -> Value:
        said = self.options.get(name, self.options.get(name.lower()))
        if said is not None:
            return parse_value(said)
        if name in self.defaults:
            return self.defaults[name]
        for program in self.programs:
            code = program.source.code
            default = code.default(name) if code is not None else None
            if default is not None:
                return parse_value(default.text)
        stray = self.stray.get(name)
        return parse_value(stray) if stray is not None else UNKNOWN


def is_module(instance: Value) -> bool:
    """Whether a value is a network or a layer."""
    return isinstance(instance, Layer) or (isinstance(instance, Instance) and instance.is_network)
