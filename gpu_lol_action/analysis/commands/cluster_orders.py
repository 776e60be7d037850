"""The GPUs that a cluster is asked for in a checkout of manifests or of a chart's values alone, whose program lies in an image.

Formats: Kubernetes' guide on scheduling GPUs (``resources.limits`` with ``nvidia.com/gpu``), and what charts call the same in their
``values.yaml`` (``gpus: 8``). The labels by which nodes are selected tell their card. More than a usual machine has are several machines.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from gpu_lol_action.analysis.commands.card_labels import card_of_label
from gpu_lol_action.analysis.commands.hosting_files import Wish
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.cloud_instances import instance_in
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

CLUSTER = "the cluster"
USUAL_NODE = 8
MAX_FILES, MAX_HELPERS, MAX_LINES, MAX_LABELS = 60, 3, 2000, 200
_LIMIT = regex(r"^[ \t]+[\"']?nvidia\.com/gpu[\"']?:[ \t]*[\"']?([1-9]\d{0,2})\b", re.MULTILINE)
_VALUE = regex(r"^[ \t]+(?:gpus|gpuCount|numGpus|gpus_?[pP]er_?[nN]ode):[ \t]*[\"']?([1-9]\d{0,3})\b", re.MULTILINE)
# The labels of nodes by which a pod chooses them.
_SELECTS = ("gke-accelerator", "gpu.product", "instance-type")
_SELECTED = regex(
    r"^[ \t-]*[\"']?(?:cloud\.google\.com/gke-accelerator|nvidia\.com/gpu\.product|(?:beta|node)\.kubernetes\.io/instance-type)[\"']?:[ \t]*[\"']?([\w.-]{2,60})",
    re.MULTILINE,
)
_TRAINS = regex(r"\b(?:pre)?train(?:ing|s|ed)?\b|\bfine-?tun(?:e|es|ing|ed)\b", re.IGNORECASE)
_INFERS = regex(r"\b(?:inference|serv(?:e|es|ing|er)|deploy(?:s|ing|ment)?|generat(?:e|es|ing|ion)|predict(?:s|ion)?)\b", re.IGNORECASE)  # fmt: skip
_LISTS = regex(r"requirements[\w.-]{0,40}\.txt|pyproject\.toml|setup\.(?:py|cfg)|pipfile|environment\.ya?ml")
# What a cluster has beside the work: monitors, tests of its network, plugins.
_ASIDE = regex(
    r"dcgm|exporter|daemonset|plugin|prometheus|grafana|monitor|nccl|operator|discovery|setup", re.IGNORECASE
)


def cluster_wish(checkout: Checkout) -> Wish | None:
    """Return what a cluster is asked for by files that start nothing of this checkout; None beside programs or a list of packages."""
    if (
        any(_LISTS.fullmatch(source.name) for source in checkout.sources)
        or len(checkout.of(Form.PYTHON, Form.NOTEBOOK)) > MAX_HELPERS
    ):
        return None
    files = sorted(checkout.of(Form.YAML), key=lambda source: (source.depth, source.path))
    for source in files[:MAX_FILES]:
        found = None if _ASIDE.search(source.path) else _asked(source)
        if found is not None:
            count = int(found[1])
            where = _line_of(source, found)
            why = f"`{source.name}` asks a cluster for {count} {'GPU' if count == 1 else 'GPUs'}"
            card = _card(source, found.start(1))
            return Wish(
                why,
                where,
                serves=False,
                card=card,
                count=(min(count, USUAL_NODE), where),
                host=CLUSTER,
                is_order=card is not None,
            )
    return None


def selected_card(source: Source | None, line: int) -> Finding | None:
    """Return the card of the machines that are selected for what stands on a line of a manifest: a run's command."""
    if source is None or source.form is not Form.YAML or not source.mentions("nodeSelector"):
        return None
    place = sum(map(len, source.text.splitlines(keepends=True)[: line - 1]))
    card = _card(source, min(place, len(source.text) - 1))
    if card is None:
        return None
    return Finding("documented.card", card[0], f"its machines are selected for {card[0]}", Confidence.HIGH, card[1])


def _card(source: Source, place: int) -> tuple[str, Evidence] | None:
    """Return the card of the machines that a file selects by a label, or by the name of their type, for what asks for GPUs."""
    if not any(word in source.text for word in _SELECTS):
        return None
    known: list[tuple[re.Match[str], str]] = []
    for found in itertools.islice(_SELECTED.finditer(source.text), MAX_LABELS):
        instance = instance_in(found[1])
        card = instance[1] if instance is not None else card_of_label(found[1])
        if card is not None:
            known.append((found, card))
    # Of a file's parts each selects its own machines.
    for start, end in _blocks(source.text, place) if known else ():
        for found, card in known:
            if start <= found.start(1) < end:
                return card, _line_of(source, found)
    return None


def _blocks(text: str, place: int) -> Iterator[tuple[int, int]]:
    """Yield where the blocks begin and end that a place stands in, the smallest first; the last is its whole document."""
    first = text.rfind("\n---", 0, place) + 1
    last = text.find("\n---", place)
    last = len(text) if last < 0 else last
    lines = list(re.finditer(r"^( *)(- )?[^\s#].*$", text[first:last], re.MULTILINE))
    here = sum(line.start() <= place - first for line in lines) - 1
    depth = len(lines[here][1])
    for above in range(here - 1, max(-1, here - MAX_LINES), -1):
        if len(lines[above][1]) < depth:
            depth = len(lines[above][1])
            behind = (line.start() for line in lines[here:] if len(line[1]) <= depth)
            yield first + lines[above].start(), first + next(behind, last - first)
    yield first, last


def _line_of(source: Source, found: re.Match[str]) -> Evidence:
    return Evidence(source.path, source.text.count("\n", 0, found.start(1)) + 1)


def _asked(source: Source) -> re.Match[str] | None:
    if (limit := _LIMIT.search(source.text) if source.mentions("nvidia.com/gpu") else None) is not None:
        return limit
    return _VALUE.search(source.text) if source.name.startswith("values") else None


def tells_of_training(text: str) -> bool:
    """Whether a document speaks of training more than of running what was trained."""
    return len(_TRAINS.findall(text)) > len(_INFERS.findall(text))
