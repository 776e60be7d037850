"""`gpu-lol analyze` on a terminal: the decision first, then what it rests on, then what it costs.

Sentences that a comment has too (heading, differences, next steps, billing) are taken from its templates, so that the
two doors cannot drift apart; the rest is laid out for columns. Every foreign text passes ``visible`` or ``clean_lines``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpu_lol_action.analysis.confidence import decision_confidence
from gpu_lol_action.analysis.memory_need import best
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.render import formats
from gpu_lol_action.render.analysis_offers import offer_lines
from gpu_lol_action.render.markdown import clean_lines, visible
from gpu_lol_action.render.memory_text import memory_lines
from gpu_lol_action.render.screen import Column, Screen, columns_of, cut, table, wrap
from gpu_lol_action.render.telling import is_assumption, package_line, telling_findings
from gpu_lol_action.render.templating import fill
from gpu_lol_action.render.terminal import render_text
from gpu_lol_action.render.views_proposal import ProposalCase, ProposalView, proposal_view

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
_MAX_LIST = 6
_EVIDENCE = (
    Column("dim", turn=4, least=8),
    Column(turn=1, least=24),
    Column("dim", turn=2, least=20, is_cut_left=True),
    Column("dim", turn=3, least=6, is_optional=True),
)


def render_analysis(case: ProposalCase, screen: Screen, *, is_verbose: bool = False) -> str:
    """Return the whole report; ``is_verbose``: every finding, every offer, the whole spec."""
    view = proposal_view(case)
    blocks = [
        _decision(case, view, screen),
        _partial("_override", view, screen),
        _partial("_differences", view, screen),
        memory_lines(case, screen),
        _evidence(case.analysis, screen, is_verbose=is_verbose),
        _gaps(case.analysis, screen, are_assumptions=True),
        _gaps(case.analysis, screen, are_assumptions=False),
        _spec(case, view, screen, is_verbose=is_verbose),
        offer_lines(case, screen, is_verbose=is_verbose),
        _next_steps(view, screen),
    ]
    return screen.finish("\n\n".join("\n".join(lines) for lines in blocks if lines)) + "\n"


def title(text: str, screen: Screen, note: str = "") -> str:
    """Return the first line of a block, with a quiet remark behind it."""
    room = screen.width - len(text) - 3
    return screen.paint(text, "bold") + (f"  {screen.paint(cut(note, room), 'dim')}" if note else "")


def _partial(name: str, view: ProposalView, screen: Screen) -> list[str]:
    text = fill(f"partials/{name}.md.j2", view=view)
    lines = render_text(text, screen.width).strip("\n").split("\n") if text.strip() else []
    return [cut(line, screen.width) for line in lines]


def _next_steps(view: ProposalView, screen: Screen) -> list[str]:
    """Return what can be done now, broken between the offers of it, and what is billing last."""
    lines = [""]
    for step in " ".join(_partial("_next_steps", view, Screen(10 * screen.width))).split(" · "):
        longer = f"{lines[-1]} · {step}" if lines[-1] else step
        if columns_of(longer) <= screen.width:
            lines[-1] = longer
        else:
            lines.append(step)
    billing = _partial("_billing", view, screen)
    return [*(line for step in lines for line in wrap(step, screen.width)), *billing]


def _decision(case: ProposalCase, view: ProposalView, screen: Screen) -> list[str]:
    """Return what, how many and why, then the figures in one line each."""
    analysis = case.analysis
    heading = " ".join(_partial("_verdict", view, screen))
    style = _MARKS.get(heading[:1], "")
    lines = [screen.paint(line, "bold" if style == "good" else style) for line in wrap(heading, screen.width, "", "   ")]
    lines += wrap(_because(analysis), screen.width, "   ", "   ")
    facts = [
        ("memory", _memory(analysis)),
        ("compared", _compared(analysis, view, screen)),
        ("machine", _machine(view)),
        ("base", _base(view)),
        ("confidence", _sureness(analysis)),
    ]
    return [*lines, "", *(line for label, text in facts if text for line in _fact(label, text, screen))]


def _fact(label: str, text: str, screen: Screen) -> Iterator[str]:
    first = f"  {label}".ljust(_LABEL_COLUMNS + 2)
    for index, line in enumerate(wrap(text, screen.width, first, " " * len(first))):
        yield screen.paint(first, "dim") + line[len(first) :] if index == 0 else line


def _because(analysis: Analysis) -> str:
    """Return in one sentence what is started, with which model, in which way; without a model, why the figure is what it is."""
    workload = best(analysis.findings, "workload")
    kind = analysis.proposed.meta.workload_type
    if kind is WorkloadType.CPU_ONLY:
        return _cited(workload) if workload else "nothing here asks for a GPU"
    entry = best(analysis.findings, "entry_point")
    started = f"{kind.value} with {visible(entry.value, 80)} ({_place(entry.evidence)})" if entry else kind.value
    need = best(analysis.findings, "hardware.vram_required_gb")
    if analysis.breakdown is None:
        return f"{started}: {visible(need.why, 200)}" if need else started
    weights = next((term for term in analysis.breakdown.terms if term.name == "weights"), None)
    method = analysis.breakdown.method
    parts = [_METHODS.get(method, visible(method, 40)), visible(weights.basis, 120) if weights else ""]
    return f"{started}: {', '.join(part for part in parts if part)}"


def _cited(finding: Finding) -> str:
    where = _place(finding.evidence)
    return visible(finding.why, 200).replace("`", "") + (f" ({where})" if where else "")


def _place(evidence: Evidence, limit: int = 60) -> str:
    return cut(visible(str(evidence), 400), limit, is_left=True) if evidence.path not in {"", "."} else ""


def _memory(analysis: Analysis) -> str:
    asked = analysis.spec.hardware.vram_required_gb
    if not analysis.spec.needs_gpu or asked is None:
        return ""
    by = f", as {analysis.spec_path} says" if analysis.spec_path and analysis.spec != analysis.proposed else ""
    text = f"{asked} GiB per GPU{visible(by)}"
    if analysis.breakdown is not None:
        low, high = analysis.breakdown.low_gib, analysis.breakdown.high_gib
        text += f" ({analysis.breakdown.expected_gib:.1f} expected, {formats.gib_range(low, high)} possible)"
    return text


def _compared(analysis: Analysis, view: ProposalView, screen: Screen) -> str:
    if not analysis.proposed.needs_gpu:
        return ""
    lines = _partial("_documented", view, screen)
    return " ".join(lines) or "the documentation says nothing about GPU memory or cards"


def _machine(view: ProposalView) -> str:
    head = view.head
    if not head.has_offer:
        return ""
    price = f"{head.price}, a {view.session} session {head.session}"
    return f"{head.machine} on {visible(head.cloud, 40)} ({visible(head.why)}): {price}"


def _base(view: ProposalView) -> str:
    base, cause = view.base, view.cause
    if base is None:
        return ""
    text = f"{base.sha}: {base.memory}, {base.machine}, {base.price}".replace("`", "")
    if cause is None:
        return text
    old = f"{visible(cause.old, 40)} → " if cause.old is not None else ""
    where = cause.where.replace("`", "")
    return f"{text}; since then {visible(cause.name, 60)} {old}{visible(cause.new, 40)} ({where})"


def _sureness(analysis: Analysis) -> str:
    """Return how sure each decision is, the surest together."""
    sure = decision_confidence(analysis)
    groups = []
    for level in sorted(Confidence, reverse=True):
        names = [_DECISIONS[name] for name, own in sure.items() if own is level]
        if names:
            groups.append(f"{level.name.lower()} for {_listed(names)}")
    return "; ".join(groups)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _evidence(analysis: Analysis, screen: Screen, *, is_verbose: bool) -> list[str]:
    """Return the findings that tell most, packages as one line, and how many others there are."""
    if not analysis.findings:
        return []
    count, files = len(analysis.findings), formats.plural(analysis.files_read, "file")
    if is_verbose:
        rows = [_row(finding.field, finding) for finding in analysis.findings]
        return [title(f"Evidence ({count})", screen, f"{files} read, none executed"), *table(rows, _EVIDENCE, screen)]
    telling = telling_findings(analysis.findings)
    rows = [_row(each.label, each.finding, f"{each.others} other named" if each.others else "") for each in telling]
    packages = package_line(analysis.findings)
    if packages is not None:
        names = ", ".join(visible(name, 40) for name in packages.names)
        more = f"and {formats.plural(packages.other_files, 'other file')}" if packages.other_files else ""
        sure = packages.confidence.name.lower()
        rows.append((f"packages, {len(packages.names)}", names, _place(packages.evidence, 80), more or sure))
    left = count - len(telling) - (len(packages.names) if packages else 0)
    note = f"{files} read, none executed" + (f"; {left} more findings: --verbose" if left > 0 else "")
    return [title("Evidence", screen, note), *table(rows, _EVIDENCE, screen)]


def _row(label: str, finding: Finding, others: str = "") -> tuple[str, str, str, str]:
    value = visible(finding.value, 120) + (f" ({others})" if others else "")
    return visible(label, 40), value, _place(finding.evidence, 80), finding.confidence.name.lower()


def _gaps(analysis: Analysis, screen: Screen, *, are_assumptions: bool) -> list[str]:
    gaps = [gap for gap in analysis.not_understood if is_assumption(gap) is are_assumptions]
    if not gaps:
        return []
    lines = [title("Assumed" if are_assumptions else "Not understood", screen)]
    for gap in gaps:
        lines += wrap(visible(gap, 400).replace("`", ""), screen.width, "  - ", "    ")
    return lines


def _spec(case: ProposalCase, view: ProposalView, screen: Screen, *, is_verbose: bool) -> list[str]:
    """Return the spec as a file; without ``is_verbose`` long lists are counted and long lines cut."""
    lines = [line for line in clean_lines(case.spec_yaml) if is_verbose or not line.startswith("#")]
    if not is_verbose:
        lines = [cut(line, screen.width - 2) for line in _shortened(lines)]
    note = "" if is_verbose else "whole, as a file: gpu-lol analyze --format yaml"
    return [title(visible(view.spec_name, 60), screen, note), *(f"  {line}" for line in lines)]


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a YAML file with at most so many items of each list."""
    items = 0
    for line in [*lines, ""]:
        if line.lstrip().startswith("- "):
            items += 1
            if items <= _MAX_LIST:
                yield line
            continue
        if items > _MAX_LIST:
            yield f"  # … {items - _MAX_LIST} more"
        items = 0
        if line:
            yield line
