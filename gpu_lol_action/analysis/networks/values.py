"""What a reader of networks knows of a program's objects: numbers and texts as they are, tensors by size, layers by arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from gpu_lol_action.analysis.networks.programs import Program
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record
from gpu_lol_action.estimation.media_facts import Network

Value = Any
"""A number, text, list, dictionary or None as Python has them; one of the classes below; or ``UNKNOWN``."""


@record(frozen=True, slots=True)
class Unknown:
    """What only running the program would tell."""


A_ROW = "a row of layers"
"""What a network is called that no class of the program names: layers put one behind the other."""
UNKNOWN = Unknown()
RESULT, DIFFERENCE = "result", "difference"


@record(slots=True, eq=False)
class Tensor:
    """Numbers of one sample. ``numel`` None: an input that nothing has looked at yet; ``shape`` None: only their count is known.

    ``name`` is what a function calls an input: a label or a time is one number, not a picture or a text. ``made_by``: what
    tells who keeps it: ``RESULT`` is kept by the step that gave it (ReLU, softmax), a ``DIFFERENCE`` only by what squares or scales it.
    """

    numel: float | None
    shape: tuple[float, ...] | None = None
    is_parameter: bool = False
    name: str = ""
    made_by: str = ""


_LABELS = regex(r"^(?:t|ts|time|times|timesteps?|y|labels?|class_labels?|classes|cond|c|sigma|noise_level|temb|step)$")


def whole(number: Value) -> Value:
    """Return a side of a tensor, which is counted as a broken number, as what a slice may end at; anything else as it is."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def names_label(tensor: Tensor) -> bool:
    """Whether an input is one number of each sample by its name: a time, a label."""
    return bool(_LABELS.match(tensor.name))


@record(frozen=True, slots=True)
class Named:
    """Something of a library, by its dotted name as the program writes it."""

    name: str

    @property
    def last(self) -> str:
        """The last word: ``Conv2d``."""
        return self.name.rpartition(".")[2]


@record(slots=True, eq=False)
class Method:
    """A method of a list, dictionary, text, tensor or library's object."""

    owner: Value
    name: str


@record(slots=True, eq=False)
class Class:
    """A class of the checkout, and the program that defines it."""

    node: ast.ClassDef
    program: Program


@record(slots=True, eq=False)
class Function:
    """A function or lambda with the names around it; ``owner`` is the object that it is a method of, ``home`` the class."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    program: Program
    around: Mapping[str, Value] = field(default_factory=dict)
    owner: Value = None
    home: Class | None = None


@record(slots=True, eq=False)
class Partial:
    """A callable with some of its arguments."""

    target: Value
    places: tuple[Value, ...]
    named: Mapping[str, Value]


@record(slots=True, eq=False)
class Instance:
    """An object of a class of the checkout, or a container of layers (``items``) that a library has."""

    home: Class | None
    kind: str
    is_network: bool = False
    attributes: dict[str, Value] = field(default_factory=dict)
    items: list[Value] = field(default_factory=list)

    @property
    def row(self) -> list[Value]:
        """The parts of a container in order; layers that are attributes of one are its parts too."""
        return self.items or [part for part in self.attributes.values() if isinstance(part, (Instance, Layer, Counted))]


@record(slots=True, eq=False)
class Layer:
    """One layer of a library: its kind, arguments by place and name, and its weights once they are known.

    ``is_last``: channels are the last side (Keras, Flax), and what goes in is only known when it is called.
    """

    kind: str
    places: tuple[Value, ...]
    named: Mapping[str, Value]
    is_last: bool = False
    parameters: float | None = None


@record(slots=True, eq=False)
class Counted:
    """A network of a library whose layers were counted, or a part of it."""

    network: Network


@record(slots=True, eq=False)
class Super:
    """``super()``: what stands behind ``home`` among the classes of an object."""

    owner: Instance
    home: Class
