"""The projects of a repository that has several: which one a proposal is about, and what the others need that change with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.folders import is_word
from gpu_lol_action.domain.offer import Ladder
from gpu_lol_action.domain.records import record
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe
from gpu_lol_action.render.views import EMPTY
from gpu_lol_action.render.views_need import need_view, price_of_all

MOST_APART = 3
_NONE = Safe("–")


@record(frozen=True, slots=True)
class OtherProject:
    """Another project that a pull request changes, and what it needs before and after; None where that cannot be told.

    ``problem`` says why its head could not be told, and ``is_invalid`` that its file is invalid since; ``is_new``: the base does not have it.
    """

    folder: str
    analysis: Analysis | None = None
    ladder: Ladder | None = None
    base_analysis: Analysis | None = None
    base_ladder: Ladder | None = None
    is_new: bool = False
    problem: str = ""
    is_invalid: bool = False


@record(frozen=True, slots=True)
class ProjectsCase:
    """``project`` is the folder that a proposal is about, empty where the repository leaves no choice.

    ``named`` are the projects that the policy names, ``others`` those of them that change too, and ``unread`` those that change
    and were not looked into. ``another`` could be asked about instead, ``gone`` was set for the pull request and is no more.
    ``apart`` are folders with packages of their own in which something changes, where the policy names none.
    ``alone`` is the path of a folder in its repository, of which nothing around it was read.
    """

    project: str = ""
    named: tuple[str, ...] = ()
    others: tuple[OtherProject, ...] = ()
    unread: tuple[str, ...] = ()
    another: str = ""
    gone: str = ""
    apart: tuple[str, ...] = ()
    alone: str = ""


NO_PROJECTS = ProjectsCase()


@record(frozen=True, slots=True)
class ProjectRow:
    """One other project: what it needs on both sides. ``is_wrong``: its file is invalid, or nothing fits any more."""

    folder: str
    before: Safe
    after: Safe
    is_new: bool
    needs_gpu: bool
    is_wrong: bool
    is_dearer: bool
    difference: Safe
    problem: str


@record(frozen=True, slots=True)
class ProjectsView:
    """What ``_project.md.j2`` and ``_projects.md.j2`` show. ``news`` is the row that a heading tells.

    ``rentable`` is one of the rows, and ``apart_rentable`` one of those apart, that can be named in a command as it stands.
    """

    project: str
    count: Safe
    another: str
    rows: tuple[ProjectRow, ...]
    news: ProjectRow | None
    rentable: str
    unread: tuple[str, ...]
    gone: str
    apart: tuple[str, ...]
    apart_rentable: str
    alone: str


def projects_view(case: ProjectsCase) -> ProjectsView:
    """Return what is said of a repository's projects."""
    named, rows = len(case.named), tuple(_row(each) for each in case.others)
    return ProjectsView(
        project=case.project,
        count=Safe(str(named)) if case.project in case.named and named > 1 else EMPTY,
        another=case.another,
        rows=rows,
        news=_news(rows),
        rentable=next((each.folder for each in case.others if is_word(each.folder)), ""),
        unread=case.unread,
        gone=case.gone,
        apart=case.apart[:MOST_APART],
        apart_rentable=next(filter(is_word, case.apart[:MOST_APART]), ""),
        alone=case.alone,
    )


def _news(rows: Sequence[ProjectRow]) -> ProjectRow | None:
    """Return the project that is wrong now, else one that costs more, that is new and needs a card, or that costs less."""
    ways: Sequence[Callable[[ProjectRow], object]] = (
        lambda row: row.is_wrong,
        lambda row: row.is_dearer,
        lambda row: row.is_new and row.needs_gpu,
        lambda row: row.difference,
    )
    return next((row for is_news in ways for row in rows if is_news(row)), None)


def _row(other: OtherProject) -> ProjectRow:
    old, new = _cost(other.base_analysis, other.base_ladder), _cost(other.analysis, other.ladder)
    difference = new - old if old is not None and new is not None else Decimal(0)
    return ProjectRow(
        folder=other.folder,
        before=Safe("new") if other.is_new else _need(other.base_analysis, other.base_ladder),
        after=_need(other.analysis, other.ladder),
        is_new=other.is_new,
        needs_gpu=other.analysis is not None and other.analysis.spec.needs_gpu,
        is_wrong=other.is_invalid or (other.analysis is not None and new is None and (old is not None or other.is_new)),
        is_dearer=difference > 0,
        difference=formats.usd_per_hour_difference(difference) if difference else EMPTY,
        problem=other.problem,
    )


def _cost(analysis: Analysis | None, ladder: Ladder | None) -> Decimal | None:
    """Return dollars an hour, 0 where no card is needed; None where it cannot be told, or nothing fits."""
    if analysis is None or ladder is None or (analysis.spec.needs_gpu and ladder.best is None):
        return None
    return price_of_all(ladder, analysis) if analysis.spec.needs_gpu else Decimal(0)


def _need(analysis: Analysis | None, ladder: Ladder | None) -> Safe:
    """Return machine and price in one cell."""
    if analysis is None or ladder is None:
        return _NONE
    need = need_view("", analysis, ladder)
    if need.is_cpu_only:
        return Safe("no GPU")
    return Safe(f"{need.machine}, {need.price}") if need.has_offer else Safe("no offer fits")
