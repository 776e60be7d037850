"""The first block of `gpu-lol analyze`: what, how many and why, then the figures in one line each."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.answer.confidence import decision_confidence
from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.stated.ordinary_cards import stands_for_silence
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.card_sizes import SELDOM_GB, sold_gb
from gpu_lol_action.domain.finding import Confidence
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.render import formats
from gpu_lol_action.render.evidence_text import cited, place_of, plain
from gpu_lol_action.render.markdown import visible
from gpu_lol_action.render.screen import Screen, wrap
from gpu_lol_action.render.terminal import partial_lines
from gpu_lol_action.render.views_proposal import ProposalCase, ProposalView

_LABEL_COLUMNS = 13
_MARKS = {"🟢": "good", "🟡": "warn", "🔴": "bad"}
_METHODS = {"full": "all parameters", "lora": "LoRA", "qlora": "QLoRA", "pretrain": "from scratch", "inference": ""}
_DECISIONS = {
    "workload_type": "workload",
    "vram_required_gb": "memory",
    "gpu_count": "GPUs",
    "requirements": "packages",
    "base_image": "image",
}


def decision_lines(case: ProposalCase, view: ProposalView, screen: Screen) -> list[str]:
    """Return what, how many and why, then the figures in one line each."""
    analysis = case.analysis
    heading = " ".join(partial_lines("_verdict", view, screen))
    style = _MARKS.get(heading[:1], "")
    lines = [
        screen.paint(line, "bold" if style == "good" else style) for line in wrap(heading, screen.width, "", "   ")
    ]
    lines += wrap(_because(analysis), screen.width, "   ", "   ")
    facts = [
        ("project", _project(view)),
        ("base", _base(view)),
        ("chosen", _chosen(analysis)),
        ("memory", _memory(analysis)),
        ("compared", _compared(analysis, view, screen)),
        ("GPUs", _count(analysis)),
        ("machine", _machine(view)),
        ("per work", _value(view)),
        ("prices", f"{visible(view.source)} of {view.as_of}" if view.head.has_offer else ""),
        ("confidence", _sureness(analysis)),
    ]
    return [*lines, "", *(line for label, text in facts if text for line in _fact(label, text, screen))]


def _project(view: ProposalView) -> str:
    """Return which project of a repository of several this is, and how another is asked about."""
    projects = view.projects
    if projects.alone:
        return f"this folder alone; what it is built on around it counts with --project {visible(shlex.quote(projects.alone), 80)}"
    if not projects.project:
        return ""
    count = f", of {projects.count} that the policy names" if projects.count else ""
    another = f"; another: --project {visible(shlex.quote(projects.another), 80)}" if projects.another else ""
    return f"{visible(projects.project, 80)}{count}{another}"


def _fact(label: str, text: str, screen: Screen) -> Iterator[str]:
    first = f"  {label}".ljust(_LABEL_COLUMNS + 2)
    for index, line in enumerate(wrap(text, screen.width, first, " " * len(first))):
        yield screen.paint(first, "dim") + line[len(first) :] if index == 0 else line


def _because(analysis: Analysis) -> str:
    """Return in one sentence what is started, with which model, in which way; without a model, why the figure is what it is."""
    workload = best(analysis.findings, "workload")
    kind = analysis.proposed.meta.workload_type
    if kind is WorkloadType.CPU_ONLY:
        return cited(workload) if workload else "nothing here asks for a GPU"
    entry = best(analysis.findings, "entry_point")
    started = f"{kind.value} with {visible(entry.value, 80)} ({place_of(entry.evidence)})" if entry else kind.value
    need = best(analysis.findings, "hardware.vram_required_gb")
    if analysis.breakdown is None:
        return f"{started}: {plain(need.why, 200)}" if need else started
    weights = next((term for term in analysis.breakdown.terms if term.name == "weights"), None)
    method = analysis.breakdown.method
    parts = [_METHODS.get(method, visible(method, 40)), visible(weights.basis, 120) if weights else ""]
    told = ", ".join(part for part in parts if part)
    return f"{started}: {told}" if told else started


def _chosen(analysis: Analysis) -> str:
    """Return why this run is the one to provision for, where there was a choice."""
    entry = best(analysis.findings, "entry_point")
    return plain(entry.why.partition(": ")[2], 300) if entry and analysis.profiles else ""


def _count(analysis: Analysis) -> str:
    """Return how many cards and who says so; what the documentation says differently stays visible."""
    count = analysis.spec.hardware.gpu_count
    if not analysis.spec.needs_gpu:
        return ""
    if count != analysis.proposed.hardware.gpu_count:
        return f"{count}, as {visible(analysis.spec_path or 'the file', 60)} says"
    found = best(analysis.findings, "hardware.gpu_count")
    if found is not None and found.value == str(count):
        return f"{count}: {cited(found)}"
    said = best(analysis.findings, "documented.gpu_count")
    text = "1, on which it fits" if count == 1 else f"{count}, the fewest on which it fits"
    return text if said is None or said.value == str(count) else f"{text}; {cited(said)}"


def _memory(analysis: Analysis) -> str:
    asked = analysis.spec.hardware.vram_required_gb
    if not analysis.spec.needs_gpu or asked is None:
        return ""
    by = f", as {analysis.spec_path} says" if analysis.spec_path and analysis.spec != analysis.proposed else ""
    text = f"{asked} GB per GPU{visible(by)}"
    if analysis.breakdown is None:
        return text
    low, high = analysis.breakdown.low_gib, analysis.breakdown.high_gib
    need = analysis.spec.hardware.needed_gib
    needed = f"{need} GiB needed, " if need else ""
    if need and (own := sold_gb(need)) < asked and not by:
        needed += f"a {own} GB card would be full, " if own in SELDOM_GB else "smaller cards cost no less, "
    word = "computed" if stands_for_silence(analysis.breakdown) else "expected"
    return f"{text} ({needed}{analysis.breakdown.expected_gib:.1f} {word}, {formats.gib_range(low, high)} possible)"


def _compared(analysis: Analysis, view: ProposalView, screen: Screen) -> str:
    if not analysis.proposed.needs_gpu:
        return ""
    said = " ".join(partial_lines("_documented", view, screen))
    return said[:1].lower() + said[1:] if said else "the documentation says nothing about GPU memory or cards"


def _machine(view: ProposalView) -> str:
    head = view.head
    if not head.has_offer:
        return ""
    price = f"{head.price}, a {view.session} session {head.session}"
    return f"{head.machine} on {visible(head.cloud, 40)} ({visible(head.why)}): {price}"


def _value(view: ProposalView) -> str:
    value = view.value
    if value is None:
        return ""
    if value.is_cheapest:
        return f"the cheapest per unit of work too (by {value.measure} as published)"
    return f"{value.machine} on {visible(value.cloud, 40)}, {value.price}: {value.against} (by {value.measure} as published)"


def _base(view: ProposalView) -> str:
    base, cause = view.base, view.change.cause or view.change.file_cause
    if base is None:
        return ""
    text = f"{base.sha}: {base.memory}, {base.machine}, {base.price}".replace("`", "")
    if cause is None:
        return text
    old = f"{visible(cause.old, 40)} → " if cause.old is not None else ""
    new = visible(cause.new, 40) if cause.new is not None else "gone"
    where = cause.where.replace("`", "")
    return f"{text}; since then {visible(cause.name, 60)} {old}{new} ({where})"


def _sureness(analysis: Analysis) -> str:
    """Return how sure each decision is, the surest together."""
    sure = dict(decision_confidence(analysis))
    if not analysis.spec.needs_gpu:
        del sure["vram_required_gb"], sure["gpu_count"]
    groups = []
    for level in sorted(Confidence, reverse=True):
        names = [_DECISIONS[name] for name, own in sure.items() if own is level]
        if names:
            groups.append(f"{level.name.lower()} for {_listed(names)}")
    return "; ".join(groups)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
