"""A README that demands a GPU, or so much of its memory, where no program and no list of the checkout names what would use it.

Services in containers, and front ends of a library that is not here, import nothing that computes; their README says "a GPU with at
least 16 GB" all the same. Of 42 answers "no GPU" two had such a sentence outside of code that is shown, and both were wrong.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from gpu_lol_action.analysis.documents.document_layout import code_blocks
from gpu_lol_action.analysis.documents.silent_readme import root_readmes
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.stated import documented
from gpu_lol_action.domain.finding import Confidence, Finding

MOST_CARDS = 8  # of one machine
_TRAINING = "documented.training."
_ALWAYS = frozenset({"documented.memory_gb", "documented.card", "documented.inference.memory_gb", "documented.inference.card",
                     "documented.training.memory_gb", "documented.training.card"})  # fmt: skip


def told_demand(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return what a README demands a GPU for, as the workload; [] where it demands none, or not in so many words."""
    readmes = {readme.path: _shown(readme) for readme in root_readmes(checkout)}
    stated = documented.detect(checkout, run) if readmes else ()
    demands = (f for f in stated if _is_demand(f) and f.evidence.path in readmes)
    said = next((f for f in demands if f.evidence.line not in readmes[f.evidence.path]), None)
    if said is None:
        return []
    trains = run.behavior is Behavior.TRAINS if run is not None else said.field.startswith(_TRAINING)
    why = f"{said.why}, and no file here names what uses it"
    found = [Finding("workload", "training" if trains else "inference", why, Confidence.LOW, said.evidence)]
    is_count = (f.field == "documented.gpu_count" and f.evidence == said.evidence for f in stated)
    count = next(itertools.compress(stated, is_count), None)
    if run is None and count is not None and count.confidence >= Confidence.MEDIUM and int(count.value) <= MOST_CARDS:
        found.append(replace(count, field="hardware.gpu_count", confidence=Confidence.LOW))
    return found


def _shown(readme: Source) -> frozenset[int]:
    """Return the lines that a README shows as code or as a program's answer: what these demand is an example."""
    return frozenset(number for block in code_blocks(readme.text.split("\n")) for number in block)


def _is_demand(finding: Finding) -> bool:
    return finding.field in _ALWAYS and finding.confidence is Confidence.HIGH
