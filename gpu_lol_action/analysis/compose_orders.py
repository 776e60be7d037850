"""What Docker Compose's file at the root reserves for its services: a card of NVIDIA's, where no program of the checkout tells of any."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.packages import declared_packages
from gpu_lol_action.analysis.paths import Form
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

# A variant beside them (`docker-compose.gpu.yml`) is for those who have one.
_FILES = frozenset({"docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"})
_RESERVES = regex(
    r"^[ \t-]{0,80}(?:driver:[ \t]{0,9}[\"']?nvidia|runtime:[ \t]{0,9}[\"']?nvidia|capabilities:[ \t]{0,9}\[[^\]\n]{0,60}\bgpu\b|-[ \t]{1,9}gpu[ \t]{0,9}$)",
    re.MULTILINE,
)


def compose_need(checkout: Checkout) -> Finding | None:
    """Return that a checkout of containers alone, without a program or a list of packages of its own, reserves a GPU for them; else None."""
    source = next((s for s in checkout.of(Form.YAML) if s.depth == 0 and s.name in _FILES), None)
    found = _RESERVES.search(source.text) if source is not None else None
    if source is None or found is None or declared_packages(checkout):
        return None
    if any(program.code is not None and program.code.has_main for program in checkout.of(Form.PYTHON)):
        return None
    where = Evidence(source.path, source.text.count("\n", 0, found.start()) + 1)
    return Finding("gpu.use", "yes", f"`{source.name}` reserves a GPU for its containers", Confidence.MEDIUM, where)
