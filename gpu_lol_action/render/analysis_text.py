"""`gpu-lol analyze` on a terminal: the decision first, then what it rests on, then what it costs.

Sentences that a comment has too (heading, differences, next steps, billing) are taken from its templates, so that the
two doors cannot drift apart; the rest is laid out for columns. Every foreign text passes ``visible`` or ``clean_lines``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpu_lol_action.render.decision_text import decision_lines
from gpu_lol_action.render.evidence_text import evidence_lines, gap_lines, profile_lines
from gpu_lol_action.render.markdown import clean_lines, visible
from gpu_lol_action.render.memory_text import memory_lines
from gpu_lol_action.render.offers_text import offer_lines
from gpu_lol_action.render.screen import Screen, columns_of, cut, wrap
from gpu_lol_action.render.terminal import partial_lines
from gpu_lol_action.render.views_proposal import ProposalCase, ProposalView, proposal_view
from gpu_lol_action.render.what_ifs_text import what_if_lines

_MAX_LIST = 6


def render_analysis(case: ProposalCase, screen: Screen, *, is_verbose: bool = False) -> str:
    """Return the whole report; ``is_verbose``: every finding, every offer, the whole spec."""
    view, analysis = proposal_view(case), case.analysis
    blocks = [
        decision_lines(case, view, screen),
        partial_lines("_set_aside", view, screen),
        partial_lines("_moved", view, screen),
        partial_lines("_other_runs", view, screen),
        partial_lines("_environment", view, screen),
        partial_lines("_override", view, screen),
        partial_lines("_differences", view, screen),
        memory_lines(case, screen),
        what_if_lines(case, screen, is_verbose=is_verbose),
        evidence_lines(analysis, screen, is_verbose=is_verbose),
        gap_lines(analysis, screen, are_assumptions=True),
        gap_lines(analysis, screen, are_assumptions=False),
        profile_lines(view.profiles, screen),
        _spec(case, view, screen, is_verbose=is_verbose),
        offer_lines(case, screen, is_verbose=is_verbose),
        _next_steps(view, screen),
    ]
    return screen.finish("\n\n".join("\n".join(lines) for lines in blocks if lines)) + "\n"


def _next_steps(view: ProposalView, screen: Screen) -> list[str]:
    """Return what can be done now, broken between the offers of it, and what is billing last."""
    lines = [""]
    for step in " ".join(partial_lines("_next_steps", view, Screen(10 * screen.width))).split(" · "):
        longer = f"{lines[-1]} · {step}" if lines[-1] else step
        if columns_of(longer) <= screen.width:
            lines[-1] = longer
        else:
            lines.append(step)
    billing = partial_lines("_billing", view, screen)
    return [*(line for step in lines for line in wrap(step, screen.width)), *billing]


def _spec(case: ProposalCase, view: ProposalView, screen: Screen, *, is_verbose: bool) -> list[str]:
    """Return the spec as a file; without ``is_verbose`` long lists are counted and long lines cut."""
    lines = [line for line in clean_lines(case.spec_yaml) if is_verbose or not line.startswith("#")]
    if not is_verbose:
        lines = [cut(line, screen.width - 2) for line in _shortened(lines)]
    note = "" if is_verbose else "whole: gpu-lol analyze --format yaml"
    return [screen.title(visible(view.spec_name, 60), note), *(f"  {line}" for line in lines)]


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a YAML file with at most so many items of each list."""
    items = 0
    for line in [*lines, ""]:
        if line == "profiles:":
            yield "# profiles: as above"
            return
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
