"""What TRL's configurations start with: since 0.21 they checkpoint activations, which transformers' own arguments do not.

Only where the release that runs is known: by its pin or lower bound, or by `SFTConfig(max_length=...)`, the word of recent ones.
"""

from __future__ import annotations

from gpu_lol_action.analysis.checkout import Checkout
from gpu_lol_action.analysis.dead_branches import dead_lines
from gpu_lol_action.analysis.entry_points import Run
from gpu_lol_action.analysis.packages import declared_packages
from gpu_lol_action.analysis.settings import values_of
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

FIRST = 21  # 0.21, July 2025
_CONFIGS = (
    "SFTConfig",
    "DPOConfig",
    "GRPOConfig",
    "KTOConfig",
    "RewardConfig",
    "RLOOConfig",
    "ORPOConfig",
    "CPOConfig",
)
_RELEASE = regex(r"(?<![\w-])trl(?:\[[\w, -]{0,40}\])?\s{0,5}(==|~=|<=|<|>=)\s{0,5}v?(\d)\.(\d{1,3})")


def switched_on_by_trl(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where the run's program makes a configuration of a TRL that checkpoints by itself; None where that is not sure."""
    script = run.script
    if script is None or script.code is None or "trl" not in script.text:
        return None
    dead = dead_lines(script, values_of(checkout, run))
    calls = [c for c in script.code.calls_named(*_CONFIGS) if not any(c.line in block for block in dead)]
    if not calls:
        return None
    is_recent = _is_recent(checkout, script.text)
    if is_recent is None:
        is_recent = any(call.last == "SFTConfig" and call.keyword("max_length") is not None for call in calls)
    return Evidence(script.path, calls[0].line) if is_recent else None


def _is_recent(checkout: Checkout, text: str) -> bool | None:
    """Whether the release that is asked for is one of those; None where anything from an older one on would do, or nothing is said."""
    said = _RELEASE.search(text)
    for item in declared_packages(checkout) if said is None else ():
        said = said or _RELEASE.match(item.requirement)
    if said is None:
        return None
    is_new = (int(said[2]), int(said[3])) >= (0, FIRST)
    return is_new if is_new or said[1] != ">=" else None
