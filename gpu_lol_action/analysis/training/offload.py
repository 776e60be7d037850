"""Which weights wait in main memory while a program infers: switches, calls that are not switched off, and own management.

Findings: ``media.offload`` (``parts``, ``layers``) and ``memory.managed`` (``yes``: the program itself moves weights between
main memory and the card, so that its need follows what it was given rather than the sum of its weights).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.dead_branches import dead_lines
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.runs.settings import Scope, is_on, look_up
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_SWITCHES = ("offload_model", "cpu_offload", "enable_model_cpu_offload", "use_cpu_offload", "model_cpu_offload")
_KINDS = {"enable_model_cpu_offload": "parts", "enable_sequential_cpu_offload": "layers"}
_GUARD = regex(r"(?:el)?if\s+(not\s+)?(?:\w+\.)*(\w+)\s*:")
_OPENS = regex(r"(?:el)?if\b|else\s*:|for\b|while\b|with\b|try\s*:|except\b")
# Helpers that programs write for it: `unload_complete_models`, `offload_model_from_device`, `move_layer_to_device`.
_MOVES = regex(
    r"(?:off|un)load_\w*(?:model|layer|block|weight|device)\w*|(?:model|layer|block|weight)s?_(?:off|un)load\w*"
    r"|(?:move|load|swap)_(?:layer|block)s?_(?:to|from|in|out)\w*|\w*block_?swap\w*",
    re.IGNORECASE,
)
_ON_CARD = (
    r"\.(?:to\(\s?(?:device\s?=\s?)?(?:torch\.device\(\s?)?(?:[\"']cuda(?::\d)?[\"']|(\w{1,40})\s?(?=[,)]))|cuda\(\))"
)
_PUT = regex(rf"^(?:([\w.]{{1,60}})\s?=\s?)?([\w.]{{1,60}})(?:\(.{{0,300}}\))?{_ON_CARD}")
_PUT_BELOW = regex(rf"^\){_ON_CARD}")  # behind a call of several lines
_CARD_S = regex(r"^[ \t]*(\w{1,40})\s?=\s?(?:torch\.device\(\s?)?[\"']cuda", re.MULTILINE)
_ANEW = regex(r"^([\w.]{1,60})\s?=(?!=)\s?(.*)")
MAX_LINES_BEFORE, MAX_LINE = 40, 500
MAX_GUARD_LINES = 400
ENOUGH_MOVES = 2  # one helper may only clean up between two models


def offload_findings(scope: Scope, sources: Sequence[Source], options: Mapping[str, str]) -> Iterator[Finding]:
    """Yield that parts or layers of a pipeline wait in main memory; not what only branches say that the run's ``options`` switch off."""
    for source in sources:
        calls = source.code.calls_named(*_KINDS) if source.code else ()
        dead = dead_lines(source, options) if calls else ()
        for call in calls:
            if any(call.line in block for block in dead):
                continue
            if not is_switched_off(scope, source, call) and not _is_whole_before(source, call):
                where, why = Evidence(source.path, call.line), f"`{call.last}` is called"
                yield Finding("media.offload", _KINDS[call.last], why, Confidence.MEDIUM, where)
    switch = look_up(scope, _SWITCHES)
    if switch is not None and is_on(switch):
        why = f"`{switch.setting.key}` is on"
        yield Finding("media.offload", "parts", why, switch.confidence, switch.evidence)


def _is_whole_before(source: Source, call: Call) -> bool:
    """Whether the whole pipeline is put on the card in the same block before its parts are to wait: ``pipe.to("cuda"); pipe.enable_model_cpu_offload()``."""
    owner, lines = call.name.rpartition(".")[0], source.text.split("\n")
    if source.form is not Form.PYTHON or not owner or not 0 < call.line <= len(lines):
        return False
    depth, is_put_below = _indent(lines[call.line - 1]), False
    cards = {found[1] for found in _CARD_S.finditer(source.text)} | {None}
    for line in reversed(lines[max(0, call.line - 1 - MAX_LINES_BEFORE) : call.line - 1]):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        if _indent(line) < depth:
            return False
        if _indent(line) > depth or len(bare) > MAX_LINE:
            continue
        if (put := _PUT.search(bare)) is not None and owner in {put[1], put[2]} and put[3] in cards:
            return True
        below, anew = _PUT_BELOW.search(bare), _ANEW.search(bare)
        if anew is not None and anew[1] == owner and owner not in anew[2]:
            return is_put_below  # what had its name before is another one
        is_put_below = below is not None and below[1] in cards
    return False


def managed_finding(scope: Scope, sources: Sequence[Source]) -> Finding | None:
    """Return that the program moves weights by helpers of its own; None where it does so only when told, or once."""
    moves: list[tuple[Source, Call]] = []
    for source in sources:
        if not source.mentions("load") and not source.mentions("swap"):
            continue
        found = [call for call in source.code.calls if _MOVES.fullmatch(call.last)] if source.code else []
        moves += [(source, call) for call in found if not is_switched_off(scope, source, call)]
        if len(moves) >= ENOUGH_MOVES:
            first, call = moves[0]
            why = f"`{call.last}` moves weights between main memory and the card"
            return Finding("memory.managed", "yes", why, Confidence.MEDIUM, Evidence(first.path, call.line))
    return None


def is_switched_off(scope: Scope, source: Source, call: Call) -> bool:
    """Whether a call stands under ``if args.x:`` with an option that is off for this run (or ``if not`` with one that is on)."""
    if source.form is not Form.PYTHON:
        return False
    for is_negated, name in _guards(source, call.line):
        switch = look_up(scope, (fold_key(name),))
        is_said = switch is not None and switch.text.strip().lower() in {"false", "true", "0", "1"}
        if is_said and is_on(switch) is is_negated:
            return True
    return False


def _guards(source: Source, line: int) -> Iterator[tuple[bool, str]]:
    """Yield the plain conditions that a line stands under, innermost first, as (negated, last word of the name)."""
    lines = source.text.split("\n")
    if not 0 < line <= len(lines):
        return
    depth = _indent(lines[line - 1])
    for text in reversed(lines[max(0, line - 1 - MAX_GUARD_LINES) : line - 1]):
        bare = text.strip()
        if not bare or bare.startswith("#") or _indent(text) >= depth:
            continue
        depth = _indent(text)
        if found := _GUARD.match(bare):
            yield bool(found[1]), found[2]
        if depth == 0 or not _OPENS.match(bare):
            return


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
