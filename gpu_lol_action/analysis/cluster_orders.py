"""The GPUs that a cluster is asked for in a checkout of manifests or of a chart's values alone, whose program lies in an image.

Formats: Kubernetes' guide on scheduling GPUs (``resources.limits`` with ``nvidia.com/gpu``), and what charts call the same in their
``values.yaml`` (``gpus: 8``). More than a usual machine has are several machines.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.hosting_files import Wish
from gpu_lol_action.analysis.paths import Form
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

CLUSTER = "the cluster"
USUAL_NODE = 8
MAX_FILES, MAX_HELPERS = 60, 3
_LIMIT = regex(r"^[ \t]+[\"']?nvidia\.com/gpu[\"']?:[ \t]*[\"']?([1-9]\d{0,2})\b", re.MULTILINE)
_VALUE = regex(r"^[ \t]+(?:gpus|gpuCount|numGpus|gpus_?[pP]er_?[nN]ode):[ \t]*[\"']?([1-9]\d{0,3})\b", re.MULTILINE)
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
            where = Evidence(source.path, source.text.count("\n", 0, found.start(1)) + 1)
            why = f"`{source.name}` asks a cluster for {count} {'GPU' if count == 1 else 'GPUs'}"
            return Wish(why, where, serves=False, count=(min(count, USUAL_NODE), where), host=CLUSTER)
    return None


def _asked(source: Source) -> re.Match[str] | None:
    if source.mentions("nvidia.com/gpu"):
        return _LIMIT.search(source.text)
    return _VALUE.search(source.text) if source.name.startswith("values") else None


def tells_of_training(text: str) -> bool:
    """Whether a document speaks of training more than of running what was trained."""
    return len(_TRAINS.findall(text)) > len(_INFERS.findall(text))
