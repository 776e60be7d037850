"""How many GPUs Ray Train's workers take: ``ScalingConfig(num_workers=16, use_gpu=True)``, each worker one.

Source: Ray Train's guide on scale and GPUs. More than a usual machine has are several machines.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.analysis.python.defaults import Call
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

USUAL_NODE = 8
MAX_WORKERS = 1024
_WHOLE = regex(r"\d{1,4}")


def ray_workers(script: Source | None) -> list[Finding]:
    """Return the GPUs per machine that a program's workers take; none where it has no such workers, or they take no GPU."""
    code = script.code if script is not None else None
    if script is None or code is None or "ray" not in code.imported():
        return []
    for call in code.calls_named("ScalingConfig"):
        count = _gpus(code, call)
        if count:
            where = Evidence(script.path, code.line_of_file(call.line))
            why = f"Ray's workers take {count} {'GPU' if count == 1 else 'GPUs'}"
            return [Finding("hardware.gpu_count", str(min(count, USUAL_NODE)), why, Confidence.MEDIUM, where)]
    return []


def _gpus(code: PythonCode, call: Call) -> int:
    workers = _said(code, call, "num_workers")
    uses_gpu = _said(code, call, "use_gpu").lower() in {"true", "1"}
    return int(workers) if uses_gpu and _WHOLE.fullmatch(workers) and int(workers) <= MAX_WORKERS else 0


def _said(code: PythonCode, call: Call, name: str) -> str:
    """Return what the program itself says; an option's default is what its caller changes first."""
    value = call.keyword(name)
    default = code.default(value.reference) if value is not None and value.reference else None
    return "" if default is not None and default.is_option else (code.resolve(value, call.owner) or "").strip()
