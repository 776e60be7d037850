"""What TRL's configurations start with: since 0.21 they checkpoint activations, which transformers' own arguments do not.

Only where the release that runs is known: by its pin or lower bound, or by the words of recent ones: `SFTConfig(max_length=...)`,
and `from_pretrained(dtype=...)` of the transformers beside it, which was `torch_dtype` before. A program makes a configuration by a
call, by a class of its own that is one, or by handing the class to a parser of options.
"""

from __future__ import annotations

from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.dead_branches import dead_lines
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import values_of
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
_NAMES = "|".join(name.removesuffix("Config") for name in _CONFIGS)
_TAKEN = (
    regex(
        rf"(?:TrlParser|HfArgumentParser)\(\s{{0,40}}(?:dataclass_types\s?=\s?)?[(\[]?[^()\[\]]{{0,200}}?\b(?:{_NAMES})Config\b"
    ),
    regex(rf"\bclass\s+\w{{1,60}}\(\s{{0,20}}(?:trl\.)?(?:{_NAMES})Config\b"),
)
_RELEASE = regex(r"(?<![\w-])trl(?:\[[\w, -]{0,40}\])?\s{0,5}(==|~=|<=|<|>=)\s{0,5}v?(\d)\.(\d{1,3})")


def switched_on_by_trl(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where the run's program makes a configuration of a TRL that checkpoints by itself; None where that is not sure."""
    script = run.script
    if script is None or script.code is None or "trl" not in script.text:
        return None
    dead = dead_lines(script, values_of(checkout, run))
    calls = [c for c in script.code.calls_named(*_CONFIGS) if not any(c.line in block for block in dead)]
    lines = [call.line for call in calls] or _taken_at(script.text)
    if not lines:
        return None
    is_recent = _is_recent(checkout, script.text)
    if is_recent is None:
        is_recent = any(call.last == "SFTConfig" and call.keyword("max_length") is not None for call in calls) or any(
            call.keyword("dtype") is not None for call in script.code.calls_named("from_pretrained")
        )
    return Evidence(script.path, lines[0]) if is_recent else None


def _taken_at(text: str) -> list[int]:
    """Return the lines on which a program takes one of the classes without calling it."""
    found = (pattern.search(text) for pattern in _TAKEN)
    return sorted(text.count("\n", 0, each.end()) + 1 for each in found if each is not None)


def _is_recent(checkout: Checkout, text: str) -> bool | None:
    """Whether the release that is asked for is one of those; None where anything from an older one on would do, or nothing is said."""
    said = _RELEASE.search(text)
    for item in declared_packages(checkout) if said is None else ():
        said = said or _RELEASE.match(item.requirement)
    if said is None:
        return None
    is_new = (int(said[2]), int(said[3])) >= (0, FIRST)
    return is_new if is_new or said[1] != ">=" else None
