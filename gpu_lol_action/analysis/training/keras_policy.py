"""The numbers in which Keras computes, as its policy for all layers says: ``mixed_precision.set_global_policy("mixed_float16")``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.programs.dead_branches import dead_lines, decided
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import Scope, values_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_SETTERS = ("set_global_policy", "set_dtype_policy", "set_policy", "set_global_dtype_policy")
_POLICIES = frozenset({"Policy", "DTypePolicy"})
_TRAINS = ("fit", "fit_generator", "train_on_batch")
_KINDS = {
    "mixed_float16": "fp16",
    "mixed_bfloat16": "bf16",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
}
MAX_SETTERS = 12
MAX_HEADS = 12
"""Setters that are looked at, and lines in each other that one may stand under."""
_HEAD = regex(r"(if|def|async def|with|class)\b(?:[ ]{1,4}(.{1,300}?))?:[ \t]*(?:#.*)?")
_MAIN = regex(r"__name__\s{0,4}==\s{0,4}[\"']__main__[\"']")
_SWITCH = regex(
    r"(?m)^([A-Za-z_]\w{0,60})[ \t]{0,8}(?::[ ]?bool[ ]?)?=[ \t]{0,8}(True|False)[ \t]{0,8}(?:#[^\n]{0,200})?$"
)
_SET_ANYHOW = regex(r"(?m)^[ \t]{0,40}([A-Za-z_]\w{0,60})[ \t]{0,8}[|&+-]?=(?!=)")


def keras_policy(checkout: Checkout, run: Run, scope: Scope) -> Finding | None:
    """Return the numbers that a run's script sets for all of Keras's layers; None where it sets none, or not surely, or several.

    What is set in a module that it imports, or on a condition that nothing decides, may be another run's.
    """
    script = run.script
    if script is None or script.code is None:
        return None
    setters = script.code.calls_named(*_SETTERS)[:MAX_SETTERS]
    if not setters:
        return None
    closure = import_closure(checkout, script)
    values = {**_switches(script), **values_of(checkout, run)}
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], closure) if scope.tiers else None
    dead = dead_lines(script, values)
    live = [call for call in setters if not any(call.line in block for block in dead)]
    trainers = {call.owner for call in script.code.calls_named(*_TRAINS)}
    live = [call for call in live if call.owner and call.owner in trainers] or live
    kinds = {_kind(script, call, follower) for call in live}
    kind = kinds.pop() if len(kinds) == 1 else None
    under = _under(script, live[0].line, values) if kind is not None else None
    if kind is None or under is None or not _is_entered(script, live[0].owner, trainers, under, values):
        return None
    surely = Confidence.MEDIUM if under else Confidence.HIGH
    why = f"`{live[0].last}` makes Keras compute in it"
    return Finding("training.precision", kind, why, surely, Evidence(script.path, live[0].line))


def _switches(source: Source) -> Mapping[str, str]:
    """Return a program's plain switches that nothing else of it sets (``USE_AMP = False``)."""
    anyhow: dict[str, int] = {}
    for name in _SET_ANYHOW.findall(source.text):
        anyhow[name] = anyhow.get(name, 0) + 1
    return {fold_key(name): text for name, text in _SWITCH.findall(source.text) if anyhow.get(name) == 1}


def _under(source: Source, line: int, values: Mapping[str, str]) -> Sequence[str] | None:
    """Return what a line stands under, from the inside (``def main()``); None where a condition, a loop or a trial may leave it out."""
    place = source.code.line_of_text(line) if source.code is not None else None
    if place is None:
        return None
    lines = source.text.split("\n")[:place]
    found: list[str] = []
    bare = lines[-1].lstrip()
    depth = len(lines[-1]) - len(bare)
    if regex(r"(?:if|else|elif|for|while|try|except)\b").match(bare) is not None:
        return None
    for above in reversed(lines[:-1]):
        bare = above.lstrip()
        if not depth or len(found) > MAX_HEADS:
            break
        if not bare or bare.startswith(("#", ")", "]", "}")) or len(above) - len(bare) >= depth:
            continue
        depth = len(above) - len(bare)
        head = _HEAD.fullmatch(bare.rstrip())
        if head is None:
            return None
        if head[1] == "if" and not _MAIN.search(head[2] or "") and decided(head[2] or "", values) is not True:
            return None
        found.append(bare)
    return found if not depth else None


def _is_entered(
    source: Source, function: str, trainers: Collection[str], under: Sequence[str], values: Mapping[str, str]
) -> bool:
    """Whether a run surely comes by what stands in a function: it trains there, or something calls the function on no condition."""
    if not any(head.startswith(("def", "async", "class")) for head in under) or function in trainers:
        return True
    calls = source.code.calls_named(function) if source.code is not None else ()
    return function == "main" or any(_under(source, each.line, values) is not None for each in calls[:MAX_SETTERS])


def _kind(source: Source, call: Call, follower: Follower | None) -> str | None:
    """Return the numbers of a policy: what a setter is given, or the policy that is made for it, or what a name of one is made with."""
    given = _first(call)
    if (kind := _KINDS.get(_text(source, given, call.owner, follower) or "")) is not None or given is None:
        return kind
    made = _made(source, call, given)
    return _KINDS.get(_text(source, _first(made), made.owner, follower) or "") if made is not None else None


def _made(source: Source, call: Call, given: Value) -> Call | None:
    """Return the call that makes the policy that a setter is given: the only one, in the setter's own line or under the name that it is given."""
    code, lines = source.code, source.text.split("\n")
    if code is None:
        return None
    name = regex(r"\s{0,200}(\w{1,60})\s?=[^=]")
    found = []
    for each in code.calls_named(*sorted(_POLICIES)):
        place = code.line_of_text(each.line)
        assigned = name.match(lines[place - 1]) if place is not None else None
        is_here = each.line == call.line and given.path is None
        if is_here or (assigned is not None and assigned[1] == given.path and each.owner in {call.owner, given.path}):
            found.append(each)
    return found[0] if len(found) == 1 else None


def _first(call: Call) -> Value | None:
    return call.arguments[0] if call.arguments else call.keyword("policy", "dtype_policy", "name")


def _text(source: Source, value: Value | None, owner: str, follower: Follower | None) -> str | None:
    if value is None or source.code is None:
        return None
    told = follower.value(source, value, owner) if follower is not None else None
    return told[0] if told is not None else source.code.resolve(value, owner)
