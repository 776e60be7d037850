"""Hardware in the names of what configures or starts a run: ``config_train_16g.json``, ``convergence_8xV100-32G.sh``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.documents.card_names import find_card
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.card_sizes import SIZES_GB
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_CARD = regex(
    r"(?:^|[_.-])(?:dgx[_-]?)?(?:\d{1,2}x)?(v100|a100|a10g|a40|a6000|h100|h200|b200|l40s|rtx[_-]?[2-5]0[6-9]0(?:ti)?)"
    r"(?:[_-]?(\d{2,3})gb?)?(?=$|[_.-])",
    re.IGNORECASE,
)
_SIZE = regex(r"(?:^|[_.-])(\d{2,3})gb?(?=$|[_.-])", re.IGNORECASE)


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return ``documented.card`` or ``documented.memory_gb`` of the first name that says it; none where none does."""
    del checkout
    return next((found for path in _paths(run) if (found := list(_of_name(path)))), []) if run is not None else []


def _paths(run: Run) -> Iterator[str]:
    yield from (source.path for source in run.configs[:4])
    if run.command is not None and run.evidence.path.endswith(".sh"):
        yield run.evidence.path


def _of_name(path: str) -> Iterator[Finding]:
    name = path.rsplit("/", 1)[-1].rpartition(".")[0]
    card = _CARD.search(name)
    sold = find_card(card[1], card[2]) if card is not None else None
    size = _SIZE.search(name)
    if sold is not None:
        why = f"the name `{name[:60]}` says {sold}"
        yield Finding("documented.card", sold, why, Confidence.MEDIUM, Evidence(path))
    elif size is not None and int(size[1]) in SIZES_GB:
        why = f"the name `{name[:60]}` says {size[1]} GB"
        yield Finding("documented.memory_gb", size[1], why, Confidence.MEDIUM, Evidence(path))
