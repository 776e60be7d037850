"""What Modal's and Beam's programs ask for in their decorators (``gpu="A100-80GB:2"``, ``gpu="any"``), and what Modal's images install.

Forms: Modal's guides on GPUs and on images, Beam's on GPUs; the objects of ``modal.gpu`` are those of its versions before 1.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpu_lol_action.analysis.commands.flyte_orders import flyte_orders
from gpu_lol_action.analysis.commands.sky_tasks import card_of
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.package_lists.package_files import Declared, clean_requirement
from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

_OBJECT = regex(r"(?:modal\.)?gpu\.(\w{2,12})")
_WRITTEN = regex(r"([A-Za-z][\w.-]*)!?(?::(\d{1,2}))?")
_TAKES_GPU = frozenset(
    {"function", "cls", "create", "run_function", "run_commands", "pip_install", "uv_pip_install", "with_options"}
)
_OF_BEAM = frozenset(
    {"endpoint", "function", "task_queue", "schedule", "asgi", "realtime", "Pod", "Sandbox", "Bot", "vllm"}
)
HOSTS = {"modal": "Modal", "beam": "Beam", "flyte": "Flyte", "flytekit": "Flyte"}
"""Whose programs they are, by the module that these import."""
_INSTALLS = frozenset({"pip_install", "uv_pip_install"})
_ANY = "any"
MAX_COUNT = 8


@record(frozen=True, slots=True)
class ModalOrder:
    """One request: the card by our table's name (None: any will do), how many, and where it stands."""

    card: str | None
    count: int
    evidence: Evidence
    host: str = HOSTS["modal"]


@remembered
def modal_orders(source: Source) -> tuple[ModalOrder, ...]:
    """Return the GPUs that a program's functions ask Modal, Beam or Flyte for, in their order; none for other programs."""
    code = source.code
    if source.form is not Form.PYTHON or code is None or "gpu" not in source.text:
        return ()
    if "modal" in code.imported():
        return tuple(_orders(source, code, _TAKES_GPU))
    if source.mentions("flyte") and (asked := flyte_orders(source)):
        return tuple(ModalOrder(card, count, where, HOSTS["flyte"]) for card, count, where in asked)
    if "beam" in code.imported():
        return tuple(replace(order, host=HOSTS["beam"]) for order in _orders(source, code, _OF_BEAM))
    return ()


def asks_a_host(source: Source) -> bool:
    """Whether a program is one that hands its work to such a host."""
    return source.code is not None and not HOSTS.keys().isdisjoint(source.code.imported())


def modal_packages(source: Source) -> tuple[Declared, ...]:
    """Return what a program's images install by name."""
    code = source.code
    if code is None or "modal" not in source.text or "modal" not in code.imported():
        return ()
    found: list[Declared] = []
    for call in code.calls:
        if call.last in _INSTALLS:
            for value in _flat(call.arguments):
                requirement = clean_requirement(code.resolve(value, call.owner) or "")
                if requirement:
                    found.append(Declared(requirement, Evidence(source.path, call.line)))
    # A list that is read from images leaves out what starts them.
    return (*found, Declared("modal", found[0].evidence)) if found else ()


def _orders(source: Source, code: PythonCode, taking: frozenset[str]) -> Iterator[ModalOrder]:
    objects = [(call, found[1]) for call in code.calls if (found := _OBJECT.fullmatch(call.name)) is not None]
    for call, name in objects:
        yield from _of_object(source, code, call, name)
    for call in code.calls:
        value = call.keyword("gpu") if call.last in taking else None
        if value is None:
            continue
        where = Evidence(source.path, call.line)
        for item in _flat((value,))[:1]:
            written = _WRITTEN.fullmatch((code.resolve(item, call.owner) or "").strip())
            card = card_of(written[1]) or card_of(f"{written[1]}GB") if written is not None else None
            if written is not None and (card is not None or written[1].lower() == _ANY):
                yield ModalOrder(card, min(MAX_COUNT, max(1, int(written[2] or 1))), where)


def _of_object(source: Source, code: PythonCode, call: Call, name: str) -> Iterator[ModalOrder]:
    size = code.resolve(call.keyword("size", "memory"), call.owner) or ""
    digits = regex(r"\d{2}").match(size)
    card = card_of(f"{name}-{digits[0]}GB") if digits is not None else card_of(name)
    count = code.resolve(call.keyword("count"), call.owner) or "1"
    if card is not None or name.lower() == _ANY:
        number = int(count) if regex(r"\d{1,2}").fullmatch(count) else 1
        yield ModalOrder(card, min(MAX_COUNT, max(1, number)), Evidence(source.path, call.line))


def _flat(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return values, those of a list one by one."""
    return tuple(one for value in values for one in (value.items or (value,)))
