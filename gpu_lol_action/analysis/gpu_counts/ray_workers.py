"""How many GPUs Ray Train's workers take: ``ScalingConfig(num_workers=16, use_gpu=True)``, each worker one.

Source: Ray Train's guide on scale and GPUs. More than a usual machine has are several machines.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.programs.local_values import is_handed_on
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import Scope, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

USUAL_NODE = 8
MAX_WORKERS = 1024
_WHOLE = regex(r"\d{1,4}")


def ray_cards(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the cards that workers of Ray take where the run trains."""
    if run.script is None or run.behavior is not Behavior.TRAINS or not run.script.mentions("ScalingConfig"):
        return []
    return ray_workers(run.script, scope_of(checkout, run), import_closure(checkout, run.script))


def ray_workers(script: Source | None, scope: Scope, closure: Sequence[Source]) -> list[Finding]:
    """Return the GPUs per machine that a program's workers take; none where it has no such workers, or they take no GPU."""
    code = script.code if script is not None else None
    if script is None or code is None or "ray" not in code.imported():
        return []
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], closure) if scope.tiers else None
    for call in code.calls_named("ScalingConfig"):
        count = _gpus(script, call, follower)
        if count:
            where = Evidence(script.path, code.line_of_file(call.line))
            why = f"Ray's workers take {count} {'GPU' if count == 1 else 'GPUs'}"
            return [Finding("hardware.gpu_count", str(min(count, USUAL_NODE)), why, Confidence.MEDIUM, where)]
    return []


def _gpus(script: Source, call: Call, follower: Follower | None) -> int:
    workers = _said(script, call, "num_workers", follower)
    uses_gpu = _said(script, call, "use_gpu", follower).lower() in {"true", "1"}
    return int(workers) if uses_gpu and _WHOLE.fullmatch(workers) and int(workers) <= MAX_WORKERS else 0


def _said(script: Source, call: Call, name: str, follower: Follower | None) -> str:
    """Return what the run says of an argument, else what the program itself does."""
    value, code = call.keyword(name), script.code
    if value is None or code is None:
        return ""
    told = follower.value(script, value, call.owner) if follower is not None else None
    is_open = told is None and not is_handed_on(script, call.owner, value)
    return (told[0] if told is not None else (code.resolve(value, call.owner) or "") if is_open else "").strip()
