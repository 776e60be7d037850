"""What TRL's configurations start with and transformers' own arguments do not: 16-bit numbers, checkpointing, a chunked loss.

TRL's own command makes one, and a program by a call, by a class of its own that is one, by handing the class to a parser of options, or by
handing a trainer none. Which of them a release has: ``trl_release``.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.dead_branches import dead_lines
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import values_of
from gpu_lol_action.analysis.training.trl_release import CHECKPOINTS, CHUNKS, COMPUTES_BF16, Release, is_named, is_since
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_KINDS = ("SFT", "DPO", "GRPO", "KTO", "Reward", "RLOO", "ORPO", "CPO")
_CONFIGS, _TRAINERS = tuple(f"{kind}Config" for kind in _KINDS), tuple(f"{kind}Trainer" for kind in _KINDS)
_NAMES = "|".join(_KINDS)
_TAKEN = (
    regex(
        rf"(?:TrlParser|HfArgumentParser)\(\s{{0,40}}(?:dataclass_types\s?=\s?)?[(\[]?[^()\[\]]{{0,200}}?\b(?:{_NAMES})Config\b"
    ),
    regex(rf"\bclass\s+\w{{1,60}}\(\s{{0,20}}(?:trl\.)?(?:{_NAMES})Config\b"),
)


def switched_on_by_trl(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where the run's program makes a configuration of a TRL that checkpoints by itself; None for an older one."""
    return _made(checkout, run, CHECKPOINTS)


def bf16_by_trl(checkout: Checkout, run: Run) -> Evidence | None:
    """Return where the run's program makes a configuration of a TRL that computes in bf16 unless it is told otherwise."""
    return _made(checkout, run, COMPUTES_BF16)


def chunked_by_trl(checkout: Checkout, run: Run) -> Finding | None:
    """Return that the run makes a configuration for supervised fine-tuning whose loss never holds all logits.

    It came late: where no list asks for such a release that is of low confidence, and all of them may be there.
    """
    where = _made(checkout, run, CHUNKS, "SFT")
    if where is None:
        return None
    sure = Confidence.MEDIUM if is_named(checkout, run.script, CHUNKS) else Confidence.LOW
    return Finding("training.chunked_loss", "on", "TRL's own loss for it never holds all logits", sure, where)


def _made(checkout: Checkout, run: Run, first: Release, kind: str = "") -> Evidence | None:
    script = run.script
    if script is None and run.command is not None and run.command.tool == "trl":
        is_asked = run.command.target.rpartition(" ")[2].lower().startswith(kind.lower())
        return run.evidence if is_asked and is_since(checkout, None, first) else None
    if script is None or script.code is None or "trl" not in script.text:
        return None
    dead = dead_lines(script, values_of(checkout, run))
    calls = [c for c in script.code.calls_named(*_CONFIGS) if not any(c.line in block for block in dead)]
    lines = [call.line for call in calls if call.last.startswith(kind)]
    if not calls:
        lines = _taken_at(script.text, kind) or [
            call.line
            for call in script.code.calls_named(*_TRAINERS)
            if call.last.startswith(kind) and len(call.arguments) < 2 and call.keyword("args") is None
        ]
    return Evidence(script.path, lines[0]) if lines and is_since(checkout, script, first) else None


def _taken_at(text: str, kind: str) -> list[int]:
    """Return the lines on which a program takes one of the classes without calling it."""
    found = (pattern.search(text) for pattern in _TAKEN)
    return sorted(text.count("\n", 0, each.end()) + 1 for each in found if each is not None and f"{kind}" in each[0])
