"""Arguments that a saved model's folder gives its class: ``MyConfig.from_pretrained("./model")`` reads ``model/config.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configured_lists import document_of
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.networks.machine import Machine
from gpu_lol_action.analysis.networks.values import UNKNOWN, Instance, Named, Value

MAX_SAVED, MAX_KEYS, MAX_ITEMS, MAX_PATH = 12, 200, 64, 200
_FILE = "config.json"
_LOADS = ("from_pretrained", "from_json_file")


@remembered
def saved_configs(checkout: Checkout) -> tuple[Source, ...]:
    """Return the configurations that lie in folders of saved models, in the order of their paths; at most twelve."""
    return tuple(source for source in checkout.of(Form.JSON) if source.name == _FILE)[:MAX_SAVED]


def saved_arguments(machine: Machine, places: Sequence[Value]) -> Mapping[str, Value]:
    """Return what the folder or file says that a call names first, seen from the root or from the program; {} where it names none of here."""
    told = places[0] if places else UNKNOWN
    if not machine.saved or not isinstance(told, str) or not 0 < len(told) <= MAX_PATH:
        return {}
    parts = [part for part in told.split("/") if part not in {"", "."}]
    if ".." in parts or told.startswith("/"):
        return {}
    path = "/".join(parts).removesuffix(_FILE).rstrip("/")
    folder = machine.program.source.folder if machine.program is not None else ""
    places_of = {source.folder: source for source in machine.saved}
    for candidate in (path, f"{folder}/{path}".strip("/")):
        if candidate in places_of:
            return _plain(places_of[candidate])
    return {}


def saved_object(
    machine: Machine, target: Named, places: Sequence[Value], named: Mapping[str, Value]
) -> Instance | None:
    """Return what a library's class of configurations makes of such a folder (``AutoConfig.from_pretrained("./model")``); None for all else."""
    owner, _, last = target.name.rpartition(".")
    if last not in _LOADS or not owner.endswith("Config"):
        return None
    said = saved_arguments(machine, places)
    return Instance(None, "record", attributes={**said, **named}) if said else None


@remembered
def _plain(source: Source) -> Mapping[str, Value]:
    """Return the numbers, texts, switches and short lists of these that a file says."""
    document = document_of(source)
    rows = list(document.items())[:MAX_KEYS] if isinstance(document, dict) else []
    return {key: value for key, value in rows if isinstance(key, str) and _is_plain(value)}


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= MAX_ITEMS and all(isinstance(each, (bool, int, float, str)) for each in value)
    return isinstance(value, (bool, int, float, str))
