"""What ``gpu-lol doctor`` says: one line for each thing, its fix below it; as text, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gpu_lol_action.domain.checkup import Diagnosis, Health
from gpu_lol_action.render.markdown import fence, inline, prose
from gpu_lol_action.render.screen import Screen, pad, wrap

_STYLES = {Health.GOOD: "good", Health.NOTE: "warn", Health.UNKNOWN: "warn", Health.BAD: "bad"}
_MARKS = {Health.GOOD: "🟢", Health.NOTE: "🟡", Health.UNKNOWN: "⚪", Health.BAD: "🔴"}
_WORD, _SUBJECT = 8, 12


def checkup_text(diagnoses: Sequence[Diagnosis], screen: Screen) -> str:
    """Return the report for a terminal; a block to paste keeps its lines."""
    lines = []
    for one in diagnoses:
        # Painted after padding: a color takes no column.
        word = screen.paint(pad(one.health.value, _WORD), _STYLES[one.health])
        indent = " " * (_WORD + _SUBJECT)
        first, *rest = wrap(one.sentence.replace("`", ""), screen.width, indent, indent)
        lines += [word + pad(one.subject, _SUBJECT) + first.strip(), *rest]
        inner = f"{indent}  "
        lines += [f"{inner}{line}" for line in one.fix.splitlines()] if one.is_pasted else _fix(one, screen, inner)
    return screen.finish("\n".join([*lines, "", _verdict(diagnoses)]))


def _fix(one: Diagnosis, screen: Screen, indent: str) -> list[str]:
    return wrap(one.fix.replace("`", ""), screen.width, indent, indent) if one.fix else []


def checkup_markdown(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the report for a job's summary."""
    parts = [f"### {_MARKS[_worst(diagnoses)]} Check-up: {_verdict(diagnoses)}", ""]
    for one in diagnoses:
        parts.append(f"- {_MARKS[one.health]} **{inline(one.subject)}**: {prose(one.sentence)}")
        if one.fix and not one.is_pasted:
            parts[-1] += f" *{prose(one.fix)}*"
        elif one.fix:
            parts += ["", *(f"  {line}" for line in fence(one.fix).splitlines()), ""]
    return "\n".join(parts)


def checkup_json(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the report for programs."""
    found = [
        {"subject": one.subject, "health": one.health.value, "sentence": one.sentence, "fix": one.fix or None}
        for one in diagnoses
    ]
    return json.dumps({"health": _worst(diagnoses).value, "diagnoses": found}, indent=2, ensure_ascii=False)


def _worst(diagnoses: Sequence[Diagnosis]) -> Health:
    order = (Health.BAD, Health.UNKNOWN, Health.NOTE)
    return next((health for health in order if any(one.health is health for one in diagnoses)), Health.GOOD)


def _verdict(diagnoses: Sequence[Diagnosis]) -> str:
    wrong = sum(one.health is Health.BAD for one in diagnoses)
    unknown = sum(one.health is Health.UNKNOWN for one in diagnoses)
    if wrong:
        return f"{wrong} thing{'s' * (wrong > 1)} to mend."
    return f"nothing is wrong, {unknown} could not be seen." if unknown else "all is well."
