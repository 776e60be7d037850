"""Cards that a run lists by their numbers: ``--gpus 0,1,2,3``, ``gpu_ids: [0, 1]``, ``DataParallel(model, device_ids=[0, 1])``.

Who lists cards counts them, whatever the numbers are: 4,5,6,7 are four cards of somebody's machine.
"""

from __future__ import annotations

import json
import re
from typing import Any

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configured_lists import listed_numbers
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.run_configs import run_configs
from gpu_lol_action.analysis.runs.settings import Found, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

FIELD = "hardware.gpu_count"
MOST_CARDS = 16
# Options and keys that list GPUs by their number: `--device 0,1,2,3`.
LISTS = ("gpu", "gpus", "device", "devices", "gpu_ids", "gpu_id", "device_ids", "cuda_devices", "visible_devices",
         "cuda_visible_devices", "train_gpu", "train_gpus", "gpu_list", "cuda_ids", "device_list", "gpu_devices", "gpus_id", "gpuid", "gpuids")  # fmt: skip
_SWITCHES = (
    "use_multi_gpu",
    "multi_gpu",
    "multi_gpus",
    "multigpu",
    "use_multi_gpus",
    "use_multigpu",
    "data_parallel",
    "dataparallel",
)
_OFF = frozenset({"false", "0", "no", "off", "none"})
_NUMBERS = regex(r"(?:cuda:)?\d{1,2}(?:\s?,\s?(?:cuda:)?\d{1,2}){1,15},?")
# In a configuration that is a program: `gpus = [0, 1, 2, 3]`, also of a class in it.
_ASSIGNED = regex(
    r"^[ \t]{0,12}(gpus|gpu_ids|device_ids|gpu_list|devices)[ \t]*=[ \t]*\[([\d, \t]{3,60})\]", re.MULTILINE
)
_SPAN = regex(r"(\d{1,2})-(\d{1,2})")  # `--gpu 0-3`, from the first to the last
_SPACED = regex(r"\s--?([\w.-]{1,40})[ =]((?:cuda:)?\d{1,2}(?:\s(?:cuda:)?\d{1,2}){1,15})(?=\s-|\s*$)")


def cards_in(text: str) -> int:
    """Return how many cards a text lists by their numbers (``0,1,2,3``, ``[0, 1]``, ``cuda:0,1``, ``0-3``); 0 where it is no list of several."""
    bare = text.strip().strip("[]()\"' ")
    if (span := _SPAN.fullmatch(bare)) is not None:
        count = int(span[2]) - int(span[1]) + 1
        return count if 1 < count <= MOST_CARDS else 0
    if not _NUMBERS.fullmatch(bare):
        return 0
    numbers = [int(number) for number in regex(r"\d{1,2}").findall(bare)]
    return len(numbers) if 1 < len(numbers) <= MOST_CARDS and len(set(numbers)) == len(numbers) else 0


def listed_by_command(run: Run) -> list[Finding]:
    """Return how many cards the command's options list."""
    for key, value in run.options.items():
        if key.rpartition(".")[2] in LISTS and (count := cards_in(value)):
            return [Finding(FIELD, str(count), f"`--{key} {value}` lists them", Confidence.HIGH, run.evidence)]
    # `--gpus 0 1 2 3`: several words of one option, of which only the first is kept as its value.
    for key, value in _SPACED.findall(run.command.text) if run.command is not None else ():
        name = key.replace("-", "_").rpartition(".")[2]
        if name in LISTS and (count := cards_in(value.replace(" ", ","))):
            return [Finding(FIELD, str(count), f"`--{key} {value}` lists them", Confidence.HIGH, run.evidence)]
    return []


def listed_in_configuration(checkout: Checkout, run: Run) -> list[Finding]:
    """Return how many cards a configuration lists (``train_gpu: [0, 1, 2, 3]``)."""
    for source in run_configs(checkout, run):
        if source.form is Form.PYTHON and (assigned := _assigned(source)) is not None:
            return [assigned]
        lists = listed_numbers([source])
        for key in LISTS:
            numbers = json.loads(lists.get(key, "[]"))
            if 1 < len(numbers) <= MOST_CARDS and _are_cards(numbers):
                return [
                    Finding(FIELD, str(len(numbers)), f"`{key}` lists them", Confidence.MEDIUM, Evidence(source.path))
                ]
    return []


def _assigned(source: Source) -> Finding | None:
    """Return how many cards a configuration that is a program lists by an assignment, also in a class."""
    found = _ASSIGNED.search(source.text)
    numbers = [int(number) for number in regex(r"\d{1,2}").findall(found[2])] if found is not None else []
    if found is None or not (count := cards_in(found[2])) or not _are_cards(numbers):
        return None
    where = Evidence(source.path, source.text.count("\n", 0, found.start(1)) + 1)
    return Finding(FIELD, str(count), f"`{found[1]}` lists them", Confidence.MEDIUM, where)


def _are_cards(numbers: list[Any]) -> bool:
    """Whether numbers follow each other as those of cards do (4, 5, 6, 7): what doubles (1, 2, 4, 8) are amounts to try."""
    first = numbers[0]
    return isinstance(first, int) and 0 <= first < MOST_CARDS and numbers == list(range(first, first + len(numbers)))


def is_listed(checkout: Checkout, found: Found) -> bool:
    """Whether a number is one of a list (``devices: [2]``): it is then a card's, not how many."""
    source = checkout.find(found.evidence.path)
    if source is None:
        return False
    key = found.setting.key
    if source.form in {Form.YAML, Form.JSON}:
        return key in listed_numbers([source])
    line = next(iter(source.text.split("\n")[(found.evidence.line or 1) - 1 :]), "")[:1000]
    return re.search(rf"\b{re.escape(key)}['\"]?\s{{0,4}}[:=]\s{{0,4}}[\[(]", line) is not None


def listed_in_text(checkout: Checkout, run: Run) -> list[Finding]:
    """Return how many cards a configuration's text, an option's default or a call of the run's program lists.

    None where an option beside it that takes several cards is left off: the list then waits for that (``--use_multi_gpu``).
    """
    scope = scope_of(checkout, run)
    for found in scope.under(LISTS):
        if found.confidence is not Confidence.LOW and (count := cards_in(found.text)):
            if any(switch.text.strip().lower() in _OFF for switch in scope.under(_SWITCHES)):
                return []
            why = f"`{found.setting.key}` lists them: {found.text[:40]}"
            return [Finding(FIELD, str(count), why, Confidence.MEDIUM, found.evidence)]
    return []
