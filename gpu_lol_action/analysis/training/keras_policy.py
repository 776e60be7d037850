"""The numbers in which Keras computes, as its policy for all layers says: ``mixed_precision.set_global_policy("mixed_float16")``."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.run_calls import called_at
from gpu_lol_action.analysis.runs.settings import Scope
from gpu_lol_action.domain.finding import Confidence, Finding

_SETTERS = ("set_global_policy", "set_dtype_policy", "set_policy")
_POLICIES = ("Policy", "DTypePolicy")
_KINDS = {
    "mixed_float16": "fp16",
    "mixed_bfloat16": "bf16",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
}


def keras_policy(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return the numbers that a run's program sets for all of Keras's layers; None where it sets none, or nothing tells which."""
    where = called_at(checkout, run, *_SETTERS)
    if where is None or run.script is None:
        return None
    closure = import_closure(checkout, run.script)
    source = next((each for each in closure if each.path == where.path), None)
    if source is None or source.code is None:
        return None
    setters = source.code.calls_named(*_SETTERS)
    call = next((each for each in setters if each.line == where.line), None)
    if call is None:
        return None
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], closure) if scope.tiers else None
    kind = _KINDS.get(_said(source, call, follower) or "")
    why = f"`{call.last}` makes Keras compute in it"
    return Finding("training.precision", kind, why, Confidence.HIGH, where) if kind is not None else None


def _said(source: Source, call: Call, follower: Follower | None) -> str | None:
    """Return the name of a policy: what the call is given, or what the only policy is made with that the program makes."""
    code = source.code
    if code is None:
        return None
    given = _first(call)
    if (said := _text(source, given, call.owner, follower)) in _KINDS:
        return said
    made = [(_first(each), each.owner) for each in code.calls_named(*_POLICIES)]
    names = {_text(source, value, owner, follower) for value, owner in made}
    return names.pop() if len(names) == 1 else None


def _first(call: Call) -> Value | None:
    return call.arguments[0] if call.arguments else call.keyword("policy", "dtype_policy", "name")


def _text(source: Source, value: Value | None, owner: str, follower: Follower | None) -> str | None:
    if value is None or source.code is None:
        return None
    told = follower.value(source, value, owner) if follower is not None else None
    return told[0] if told is not None else source.code.resolve(value, owner)
