"""GPUs that Flyte's tasks ask for: ``Resources(gpu="1")`` beside ``accelerator=A10G``, ``Resources(gpu="A100:4")``, a server of models beside a task.

Forms: Flyte's guides on resources and accelerators, and its plugin for inference, whose servers (``Ollama``, ``NIM``, ``VLLM``) take one
GPU unless they are told another number.
"""

from __future__ import annotations

from gpu_lol_action.analysis.commands.sky_tasks import card_of
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

MODULES = frozenset({"flytekit", "flyte"})
_SERVERS = frozenset({"Ollama", "NIM", "VLLM"})
_SERVER_PLUGIN = "flytekitplugins.inference"
_WRITTEN = regex(r"(?:([A-Za-z][\w -]{0,30}):)?(\d{1,2})")
_NUMBER = regex(r"\d{1,2}")
_MAKER = regex(r"^nvidia[-_ ](?:tesla[-_ ])?")
MAX_COUNT = 8


def flyte_orders(source: Source) -> tuple[tuple[str | None, int, Evidence], ...]:
    """Return the card (None: any), the number and the place of each request of a program for GPUs, in their order."""
    code = source.code
    if code is None or not source.mentions("gpu") or MODULES.isdisjoint(code.imported()):
        return ()
    named = [(call.line, card) for call in code.calls if (card := _accelerator(code, call)) is not None]
    # Others' clients have these names, too.
    has_servers = any(item.module.startswith(_SERVER_PLUGIN) for item in code.imports)
    found: list[tuple[str | None, int, Evidence]] = []
    for call in code.calls:
        is_server = call.last in _SERVERS and has_servers
        if call.last == "GPU" and "flyte" in code.imported() and call.name in {"GPU", "flyte.GPU"}:
            found += _of_object(source, code, call)
        if call.last != "Resources" and not is_server:
            continue
        said = call.keyword("gpu")
        written = _WRITTEN.fullmatch((code.resolve(said, call.owner) or "").strip()) if said is not None else None
        count = int(written[2]) if written is not None else int(is_server and said is None)
        if count:
            card = _card(written[1]) if written is not None and written[1] else _nearest(named, call.line)
            found.append((card, min(count, MAX_COUNT), Evidence(source.path, call.line)))
    return tuple(found)


def _of_object(source: Source, code: PythonCode, call: Call) -> list[tuple[str | None, int, Evidence]]:
    """Return what ``flyte.GPU("H100", 8)`` asks for, which stands in the resources of an environment."""
    device, quantity = (*call.arguments, None, None)[:2]
    name = code.resolve(device or call.keyword("device"), call.owner)
    number = code.resolve(quantity or call.keyword("quantity"), call.owner)
    count = int(number) if number is not None and _NUMBER.fullmatch(number) else 0
    return [(_card(name or ""), min(count, MAX_COUNT), Evidence(source.path, call.line))] if name and count else []


def _accelerator(code: PythonCode, call: Call) -> str | None:
    """Return the card that a task asks for by its name: an object of Flyte's (``A10G``), or a text in ``GPUAccelerator``."""
    if call.last == "GPUAccelerator" and call.arguments:
        return _card(code.resolve(call.arguments[0], call.owner) or "")
    value = call.keyword("accelerator")
    return _card(value.reference) if value is not None and value.reference else None


def _nearest(named: list[tuple[int, str]], line: int) -> str | None:
    """Return the card of the task that a request stands in: its call begins on the same line or just above."""
    above = [card for at, card in named if at <= line]
    return above[-1] if above else next((card for _, card in named), None)


def _card(name: str) -> str | None:
    return card_of(_MAKER.sub("", name.strip()).replace("_", "-")) if name else None
