"""What an analysis rests on, as lines of a terminal: findings, what was assumed or not understood, other runs."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import visible
from gpu_lol_action.render.screen import Column, Screen, cut, table, wrap
from gpu_lol_action.render.telling import is_assumption, is_set_aside, package_line, telling_findings
from gpu_lol_action.render.views_evidence import ProfileView

_EVIDENCE = (
    Column("dim", turn=4, least=13),
    Column(turn=2, least=20),
    Column("dim", turn=1, least=20, is_cut_left=True),
    Column("dim", turn=3, least=6, is_optional=True),
)
_PROFILES = (
    Column(turn=4, least=14),
    Column("bold"),
    Column(turn=3, least=20),
    Column("dim", turn=1, least=9, is_optional=True),
    Column("dim", turn=2, least=18, is_cut_left=True, is_optional=True),
)


def cited(finding: Finding) -> str:
    """Return why a finding counts, with its place."""
    where = place_of(finding.evidence)
    return plain(finding.why, 200) + (f" ({where})" if where else "")


def plain(text: str, limit: int) -> str:
    """Return a sentence of a finding without the marks that make code of its words in a comment."""
    return visible(text, limit).replace("`", "")


def place_of(evidence: Evidence, limit: int = 60) -> str:
    """Return ``path:line``, its end where it is long; nothing for what stands in no file."""
    return cut(visible(str(evidence), 400), limit, is_left=True) if evidence.path not in {"", "."} else ""


def evidence_lines(analysis: Analysis, screen: Screen, *, is_verbose: bool) -> list[str]:
    """Return the findings that tell most, packages as one line, and how many others there are; all where verbose."""
    if not analysis.findings:
        return []
    count, files = len(analysis.findings), formats.plural(analysis.files_read, "file")
    if is_verbose:
        rows = [_row(finding.field, finding) for finding in analysis.told]
        return [screen.title(f"Evidence ({count})", f"{files} read, none executed"), *table(rows, _EVIDENCE, screen)]
    telling = telling_findings(analysis.told)
    rows = [_row(each.label, each.finding, f"{each.others} other named" if each.others else "") for each in telling]
    packages = package_line(analysis.findings)
    if packages is not None:
        names = ", ".join(visible(name, 40) for name in packages.names)
        where = place_of(packages.evidence, 80) + (f" +{packages.other_files}" if packages.other_files else "")
        rows.append((f"packages, {len(packages.names)}", names, where, packages.confidence.name.lower()))
    left = count - len(telling) - (len(packages.names) if packages else 0)
    note = (f"{left} more: --verbose; " if left > 0 else "") + f"{files} read, none executed"
    return [screen.title("Evidence", note), *table(rows, _EVIDENCE, screen)]


def _row(label: str, finding: Finding, others: str = "") -> tuple[str, str, str, str]:
    value = visible(finding.value, 120) + (f" ({others})" if others else "")
    return visible(label, 40), value, place_of(finding.evidence, 80), finding.confidence.name.lower()


def gap_lines(analysis: Analysis, screen: Screen, *, are_assumptions: bool) -> list[str]:
    """Return what was assumed, or what was not understood, as a list; what is not believed stands open above it."""
    told = [gap for gap in analysis.not_understood if not is_set_aside(gap)]
    gaps = [gap for gap in told if is_assumption(gap) is are_assumptions]
    if not gaps:
        return []
    lines = [screen.title("Assumed" if are_assumptions else "Not understood")]
    for gap in gaps:
        lines += wrap(plain(gap, 400), screen.width, "  - ", "    ")
    return lines


def profile_lines(profiles: Sequence[ProfileView], screen: Screen) -> list[str]:
    """Return the other runs of the tree as a short table."""
    rows = [
        (visible(each.name, 40), each.needs, visible(each.command, 160), each.workload, each.where.replace("`", ""))
        for each in profiles
    ]
    note = "estimated in the same way"
    return [screen.title("What else can be started", note), *table(rows, _PROFILES, screen)] if rows else []
