"""GPUs that Flyte's tasks ask for: ``Resources(gpu="1")`` beside ``accelerator=A10G``, ``Resources(gpu="A100:4")``, a server of models beside a task.

Forms: Flyte's guides on resources and accelerators, and its plugin for inference, whose servers (``Ollama``, ``NIM``, ``VLLM``) take one
GPU unless they are told another number.
"""

from __future__ import annotations

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.python_code import PythonCode
from gpu_lol_action.analysis.python_defaults import Call
from gpu_lol_action.analysis.sky_tasks import card_of
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

MODULES = frozenset({"flytekit", "flyte"})
_SERVERS = frozenset({"Ollama", "NIM", "VLLM"})
_SERVER_PLUGIN = "flytekitplugins"
_WRITTEN = regex(r"(?:([A-Za-z][\w -]{0,30}):)?(\d{1,2})")
_MAKER = regex(r"^nvidia[-_ ](?:tesla[-_ ])?")
MAX_COUNT = 8


def flyte_orders(source: Source) -> tuple[tuple[str | None, int, Evidence], ...]:
    """Return the card (None: any), the number and the place of each request of a program for GPUs, in their order."""
    code = source.code
    if code is None or not source.mentions("gpu") or MODULES.isdisjoint(code.imported()):
        return ()
    named = next((card for call in code.calls if (card := _accelerator(code, call)) is not None), None)
    found = []
    for call in code.calls:
        is_server = call.last in _SERVERS and _SERVER_PLUGIN in code.imported()
        if call.last != "Resources" and not is_server:
            continue
        said = call.keyword("gpu")
        written = _WRITTEN.fullmatch((code.resolve(said, call.owner) or "").strip()) if said is not None else None
        count = int(written[2]) if written is not None else int(is_server and said is None)
        if count:
            card = _card(written[1]) if written is not None and written[1] else named
            found.append((card, min(count, MAX_COUNT), Evidence(source.path, call.line)))
    return tuple(found)


def _accelerator(code: PythonCode, call: Call) -> str | None:
    """Return the card that a task asks for by its name: an object of Flyte's (``A10G``), or a text in ``GPUAccelerator``."""
    if call.last == "GPUAccelerator" and call.arguments:
        return _card(code.resolve(call.arguments[0], call.owner) or "")
    value = call.keyword("accelerator")
    return _card(value.reference) if value is not None and value.reference else None


def _card(name: str) -> str | None:
    return card_of(_MAKER.sub("", name.strip()).replace("_", "-")) if name else None
