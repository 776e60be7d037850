"""Projects that lie side by side in a repository which is none itself: an answer is about one of them, and says so."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Role
from gpu_lol_action.analysis.package_lists.project_files import is_development
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.runs import all_runs
from gpu_lol_action.domain.policy import POLICY_PATH

MOST_NAMED = 4


def side_by_side(checkout: Checkout, run: Run | None) -> tuple[str, ...]:
    """Return which project was taken of several, in a sentence; nothing where the root has a list of packages.

    A project is a folder with a list of packages of its own from which something is started.
    """
    lists = {source.folder for source in checkout.sources if source.role is Role.PACKAGES}
    if run is None or lists & {"", "requirements"}:
        return ()
    homes = dict.fromkeys(home for each in all_runs(checkout) if (home := _home(each, lists)))
    taken = _home(run, lists)
    others = [home for home in homes if home != taken]
    if not taken or not others:
        return ()
    named = ", ".join(f"`{home}`" for home in others[:MOST_NAMED])
    more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    beside = f"the other is {named}" if len(others) == 1 else f"the others are {named}{more}"
    counted = f"of {len(others) + 1} projects side by side `{taken}` was taken, {beside}"
    return (f"{counted}: `analysis.folders` in `{POLICY_PATH}` names those that count",)


def _home(run: Run, lists: set[str]) -> str:
    """Return the nearest folder with a list of packages above what a run starts; empty for none, and for one of examples or tests."""
    path = run.script.path if run.script is not None else run.configs[0].path if run.configs else ""
    folder = path.rpartition("/")[0]
    while folder and folder not in lists:
        folder = folder.rpartition("/")[0]
    return "" if is_development(folder) else folder
