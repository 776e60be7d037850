"""Programs that freeze what is not an adapter by hand: with loralib's helpers, or by the names of the parameters."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.dead_branches import dead_lines
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import values_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_MODULES = 20
_NAMED = r"[\"']\.?lora_?\w{0,2}[\"']\s+(?:not\s+)?in\s+\w+"
# `if "lora" in name: param.requires_grad = True`, `param.requires_grad = "lora" in name`, `requires_grad_("lora_" in name)`.
_BY_NAME = regex(
    rf"if\s+\(?{_NAMED}\)?\s*:\s*(?:#[^\n]{{0,200}})?\s*\w+\.requires_grad|\.requires_grad(?:\s*=\s*|_\(\s*)\(?{_NAMED}"
)


def frozen_but_adapters(checkout: Checkout, run: Run) -> Finding | None:
    """Return that the program freezes everything but adapters; None where nothing says so.

    Of modules that it imports those about adapters are left out: they are there for whichever program wants them.
    """
    script = run.script
    if script is None:
        return None
    values = values_of(checkout, run)
    for call in script.code.calls_named("*_as_trainable") if script.code is not None else ():
        is_helper = regex(r"mark_only_\w+_as_trainable").fullmatch(call.last)
        if is_helper and not any(call.line in block for block in dead_lines(script, values)):
            why, where = f"`{call.last}` freezes everything else", Evidence(script.path, call.line)
            return Finding("training.method", "lora", why, Confidence.HIGH, where)
    for source in import_closure(checkout, script)[:MAX_MODULES]:
        is_meant = source is script or "lora" not in source.path.lower()
        found = _BY_NAME.search(source.text) if is_meant and "requires_grad" in source.text else None
        line = source.text.count("\n", 0, found.start()) + 1 if found is not None else 0
        if line and not any(line in block for block in dead_lines(source, values)):
            where = Evidence(source.path, line)
            return Finding(
                "training.method",
                "lora",
                "all parameters without `lora` in their names are frozen",
                Confidence.MEDIUM,
                where,
            )
    return None
