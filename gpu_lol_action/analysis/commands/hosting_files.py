"""What a repository tells a host of models about its machine: ``.runpod/hub.json``, cog's ``cog.yaml``, Truss' ``config.yaml``, ``cerebrium.toml``.

Formats: RunPod's Hub publishing guide (``config.runsOn``, ``gpuIds``, ``gpuCount``, ``containerDiskInGb``) with its list of GPU
pools; cog's reference of ``cog.yaml`` (``build.gpu``); Truss' reference of its configuration (``resources.accelerator``,
``resources.use_gpu``); Cerebrium's reference of ``cerebrium.toml`` (``cerebrium.hardware``: ``compute``, ``gpu_count``). Only what is asked for counts: that one host may run it without a GPU says nothing of where it trains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpu_lol_action.analysis.documents.card_names import find_card
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.gpus import accelerators
from gpu_lol_action.domain.named_cards import named_card_gb
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

HUB, COG, TRUSS, CEREBRIUM = ".runpod/hub.json", "cog.yaml", "config.yaml", "cerebrium.toml"
MAX_CARDS = 8
MAX_DISK_GB = 2000
"""More than this is a slip of the pen, or somebody who lets others pay."""
# A card for each of RunPod's pools: all of a pool have about the same memory.
_POOLS: Mapping[str, str] = {
    "AMPERE_16": "RTXA4000",
    "AMPERE_24": "RTXA5000",
    "ADA_24": "RTX4090",
    "ADA_32_PRO": "RTX5090",
    "AMPERE_48": "A40",
    "ADA_48_PRO": "L40S",
    "AMPERE_80": "A100-80GB",
    "ADA_80_PRO": "H100",
    "BLACKWELL_96": "RTXPRO6000",
    "HOPPER_141": "H200",
    "BLACKWELL_180": "B200",
}
# `AMPERE_A10`, `AMPERE_A100_40GB`; `CPU` asks for none, `TRN1` for another maker's.
_COMPUTE = regex(r"(?:TURING|VOLTA|AMPERE|ADA|HOPPER|BLACKWELL)_([A-Z]{1,3}\d{1,4}S?)(?:_(\d{2,3})GB)?")
_WHOLE = regex(r"\d{1,5}")
_NO_CARD = frozenset({"", "null", "none"})
_MAKER = regex(r"^(?:NVIDIA )?(?:GeForce )?", re.IGNORECASE)


@record(frozen=True, slots=True)
class Wish:
    """A machine with a GPU that a file asks for; ``serves``: for answering requests, not for whatever runs here.

    ``host`` is who is asked. ``is_order``: this very card is rented. ``is_least``: larger ones are
    named beside it, any of which will do.
    """

    why: str
    evidence: Evidence
    serves: bool = True
    card: tuple[str, Evidence] | None = None
    count: tuple[int, Evidence] | None = None
    disk_gb: tuple[int, Evidence] | None = None
    host: str = "RunPod's Hub"
    is_order: bool = False
    is_least: bool = False


@remembered
def wish_for(checkout: Checkout, folder: str) -> Wish | None:
    """Return the wish for programs of a folder: of the nearest file in it or above it; None where no GPU is asked for."""
    parts = folder.split("/") if folder else []
    for count in range(len(parts), -1, -1):
        base = "/".join(parts[:count])
        for name, read in ((HUB, _of_hub), (COG, _of_cog), (TRUSS, truss_wish), (CEREBRIUM, _of_cerebrium)):
            source = checkout.find(f"{base}/{name}".lstrip("/"))
            wish = read(source) if source is not None else None
            if wish is not None:
                return wish
    return None


def wish_findings(wish: Wish) -> Iterator[Finding]:
    """Yield the card, the number of cards and the disk that are asked for."""
    if wish.card is not None:
        card, where = wish.card
        why = f"{wish.host} is asked for {card}{'' if wish.is_order else ' or the like'}"
        confidence = Confidence.HIGH if wish.is_order else Confidence.MEDIUM
        if wish.is_least:
            least = f"{named_card_gb(card):g}"
            yield Finding("documented.memory_gb", least, why, Confidence.HIGH, where)
        yield Finding("documented.card", card, why, confidence, where)
    if wish.count is not None:
        count, where = wish.count
        yield Finding("documented.gpu_count", str(count), counted(wish, count), Confidence.MEDIUM, where)
    if wish.disk_gb is not None:
        size, where = wish.disk_gb
        yield Finding(
            "hardware.disk_gb", str(size), f"RunPod's Hub is asked for {size} GB of disk", Confidence.MEDIUM, where
        )


def counted(wish: Wish, count: int) -> str:
    """Return, in words, how many GPUs are asked for."""
    return f"{wish.host} is asked for {count} {'GPU' if count == 1 else 'GPUs'}"


def _of_hub(source: Source) -> Wish | None:
    said = _first(read_settings(source))
    runs_on = said.get("config.runson")
    ids, count, disk = (said.get(f"config.{key}") for key in ("gpuids", "gpucount", "containerdiskingb"))
    if runs_on is None or runs_on.text.strip().upper() != "GPU":
        return None
    kind = said.get("type")
    cards = _whole(count, MAX_CARDS)
    size = _whole(disk, MAX_DISK_GB)
    card = _smallest(ids.text) if ids is not None else None
    return Wish(
        f"`{HUB}` asks for a GPU",
        runs_on.evidence,
        kind is None or kind.text.strip().lower() != "pod",
        (card, ids.evidence) if card is not None and ids is not None else None,
        (cards, count.evidence) if cards is not None and count is not None else None,
        (size, disk.evidence) if size is not None and disk is not None else None,
    )


def _of_cog(source: Source) -> Wish | None:
    gpu = _first(read_settings(source)).get("build.gpu")
    if gpu is None or gpu.text.strip().lower() != "true":
        return None
    return Wish(f"`{COG}` asks for a GPU", gpu.evidence)


def truss_wish(source: Source) -> Wish | None:
    """Return what Truss' configuration asks for; None where that is no GPU, or the file is none of its."""
    said = _first(read_settings(source))
    card, is_used = said.get("resources.accelerator"), said.get("resources.use_gpu")
    asked = card if card is not None and card.text.strip().lower() not in _NO_CARD else None
    if asked is None and (is_used is None or is_used.text.strip().lower() != "true"):
        return None
    where = asked or is_used
    if where is None:
        return None
    number = asked.text.rpartition(":")[2].strip() if asked is not None and ":" in asked.text else "1"
    count = int(number) if _WHOLE.fullmatch(number) and 1 <= int(number) <= MAX_CARDS else 1
    return Wish(
        f"`{source.path}` asks for a GPU",
        where.evidence,
        count=(count, where.evidence) if asked is not None else None,
        host="Truss",
    )


def _of_cerebrium(source: Source) -> Wish | None:
    said = _first(read_settings(source))
    compute, number = said.get("cerebrium.hardware.compute"), said.get("cerebrium.hardware.gpu_count")
    named = _COMPUTE.fullmatch(compute.text.strip().strip("\"'")) if compute is not None else None
    card = find_card(named[1], named[2]) if named is not None else None
    if compute is None or card is None:
        return None
    count = _whole(number, MAX_CARDS)
    return Wish(
        f"`{source.path}` asks for a GPU",
        compute.evidence,
        card=(card, compute.evidence),
        count=(count or 1, number.evidence if count and number is not None else compute.evidence),
        host="Cerebrium",
        is_order=True,
    )


def _first(settings: tuple[Setting, ...]) -> dict[str, Setting]:
    """Return settings by path; of those in a list the first, as in a document that says a key twice."""
    found: dict[str, Setting] = {}
    for setting in settings:
        found.setdefault(setting.path, setting)
    return found


def _smallest(ids: str) -> str | None:
    """Return the card with the least memory of those that would do; ``-NVIDIA L4`` takes one out of its pool."""
    names = [name.strip() for name in ids.split(",")]
    known = [
        _POOLS.get(name.upper()) or find_card(_MAKER.sub("", name), None) for name in names if not name.startswith("-")
    ]
    table = accelerators()
    fitting = [name for name in known if name is not None and name in table]
    return min(fitting, key=lambda name: (table[name].memory_gib, name), default=None)


def _whole(setting: Setting | None, most: int) -> int | None:
    text = setting.text.strip() if setting is not None else ""
    return int(text) if _WHOLE.fullmatch(text) and 1 <= int(text) <= most else None
