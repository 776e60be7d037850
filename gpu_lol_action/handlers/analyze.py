"""``gpu-lol analyze PATH``: read a folder on disk and say what machine its code needs; nothing is posted or spent."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_lol_action.analysis.answer.as_json import analysis_json
from gpu_lol_action.analysis.answer.priced_json import Against, Priced
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.located import built_above, named_folders, read_in_folder
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.errors import UserError
from gpu_lol_action.handlers.askable import NO_LOOKUPS, Lookups
from gpu_lol_action.handlers.concluding import Compared, Fetched, conclude_change
from gpu_lol_action.render.screen import PLAIN, Screen

if TYPE_CHECKING:
    from gpu_lol_action.render.views_projects import ProjectsCase


@record(frozen=True, slots=True)
class Printing:
    """How an answer is printed: ``form`` is text, json, yaml or markdown, ``lease`` the session whose cost is told.

    The rest matters to text alone.
    """

    form: str = "text"
    screen: Screen = PLAIN
    is_verbose: bool = False
    lease: timedelta | None = None


def describe_folder(
    folder: Path,
    printing: Printing,
    now: datetime,
    base: tuple[str, Path] | None = None,
    lookups: Lookups = NO_LOOKUPS,
    project: str = "",
) -> str:
    """Return the proposal for a folder in the form that is asked for.

    ``base`` is a commit and its tree, to compare with; ``lookups`` are what may be asked from outside; ``project``
    is the one of the folder's projects that it is about, where it names several.

    Raises SpecError where its `.gpu-lol.yaml` is invalid, UserError where it is no folder.
    """
    if not folder.is_dir():
        raise UserError("not_a_folder", f"{folder} is no folder.", fix="gpu-lol analyze PATH_OF_A_REPOSITORY")
    folders, problem = named_folders(folder)
    policy = Policy(project_folders=(project,) if project else folders)
    policy = replace(policy, lease=printing.lease) if printing.lease is not None else policy
    checkout = read_in_folder(folder, policy.project_folder)
    read = Fetched("", replace(checkout, notes=(problem, *checkout.notes)) if problem else checkout)
    before = (
        Fetched(base[0], read_in_folder(base[1], policy.project_folder, read.checkout)) if base is not None else None
    )
    compared = conclude_change(read, before, policy, lookups)
    head, old = compared.head, compared.base
    if printing.form == "json":
        return json.dumps(analysis_json(head.analysis, _priced(compared, before)), indent=2, ensure_ascii=False)
    spec_yaml = write_spec(head.analysis.spec)
    if printing.form == "yaml":
        return spec_yaml.rstrip("\n")
    # Late, and not with all other comments: JSON and YAML need no templates, and the terminal needs those of proposals alone.
    from gpu_lol_action.handlers.propose_smoke import smoke_cost
    from gpu_lol_action.render.analysis_report import analysis_case, analysis_report
    from gpu_lol_action.render.analysis_text import render_analysis

    case = analysis_case(
        analysis=head.analysis,
        ladder=head.ladder,
        policy=policy,
        spec_yaml=spec_yaml,
        sha="",
        now=now,
        base_analysis=old.analysis if old else None,
        base_ladder=old.ladder if old else None,
        base_sha=old.sha if old else None,
        change=compared.change,
        base_problem=compared.problem,
        what_ifs=head.what_ifs,
        spot=head.spot,
        smoke=smoke_cost(compared, policy, lookups, now),
        projects=_projects(folder, checkout, folders),
    )
    if printing.form == "markdown":
        return analysis_report(case)
    return render_analysis(case, printing.screen, is_verbose=printing.is_verbose)


def _projects(folder: Path, checkout: Checkout, named: tuple[str, ...]) -> ProjectsCase:
    """Return what is said of projects; of a folder that was looked at without what it imports of its repository, where it lies there."""
    from gpu_lol_action.render.views_projects import ProjectsCase

    if checkout.project or named:
        another = next((each for each in named if each != checkout.project), "")
        return ProjectsCase(checkout.project if named != (checkout.project,) else "", named, another=another)
    return ProjectsCase(alone=built_above(folder, checkout))


def _priced(compared: Compared, before: Fetched | None) -> Priced:
    """Return what programs read beside the analysis."""
    head, base = compared.head, compared.base
    if before is None:
        return Priced(head.ladder, head.what_ifs)
    against = Against(before.sha, base.ladder if base else None, compared.change, compared.problem)
    return Priced(head.ladder, head.what_ifs, against)
