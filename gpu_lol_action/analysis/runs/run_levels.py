"""How far from the root a file counts: folders that only say of what kind their files are make nothing less important."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.package_lists.project_files import read_project
from gpu_lol_action.analysis.package_lists.setup_py import read_setup_py
from gpu_lol_action.analysis.programs.import_graph import is_imported
from gpu_lol_action.analysis.runs.entry_points import documented_runs, is_started
from gpu_lol_action.domain.records import record

_NEUTRAL = frozenset({"src", "scripts", "script", "tools", "tool", "bin", "train", "training", "trainer", "trainers", "runs", "run",
                      "recipes", "jobs", "job", "slurm", "launch", "launcher", "launchers", "cmd", "shell", "sh", "bash", "code",
                      "pretrain", "finetune", "configs", "config", "conf", "experiments", "pipelines", "cli", "apps"})  # fmt: skip


@record(frozen=True, slots=True)
class Levels:
    """The folders that are not counted besides those that only name a kind: the project's own package."""

    packages: frozenset[str]

    def of(self, path: str) -> int:
        """Return the number of folders above a file that count."""
        folders = path.split("/")[:-1]
        return sum(folder.lower() not in _NEUTRAL and folder not in self.packages for folder in folders)


def levels_of(checkout: Checkout) -> Levels:
    """Return how files count; a package is the project's own where it is the only one or bears the project's name, and the root no package itself."""
    if checkout.find("__init__.py") is not None:
        return Levels(frozenset())
    paths = [source.path.removeprefix("src/") for source in checkout.of(Form.PYTHON)]
    tops = {path.split("/")[0] for path in paths if "/" in path}
    tops = {top for top in tops if top.isidentifier()}  # `net-2.5/__init__.py` can be imported by nobody
    own = {top for top in tops if checkout.find(f"{top}/__init__.py") or checkout.find(f"src/{top}/__init__.py")}
    if len(own) > 1:
        own = {top for top in own if package_name(top) in _names(checkout)}
    return Levels(frozenset(own) if len(own) == 1 else frozenset())


@remembered
def _names(checkout: Checkout) -> frozenset[str]:
    """Return the names under which the files at the root install the project."""
    project, setup = checkout.find("pyproject.toml"), checkout.find("setup.py")
    names = (read_project(project).name if project else "", read_setup_py(setup).name if setup else "")
    return frozenset(package_name(name) for name in names if name)


def is_library(checkout: Checkout, levels: Levels, script: Source) -> bool:
    """Whether a program is made to be imported and not to be started."""
    return not is_started(checkout, script) and (levels.of(script.path) > 0 or is_imported(checkout, script))


@remembered
def levels_of_pages(checkout: Checkout) -> Mapping[str, int]:
    """Return, by document, how near to the root lies the nearest program of this checkout that it has started.

    What else it has started, tools that are installed, counts as near: ``docs/guide.md`` of a folder whose programs lie at its
    root tells of that very folder.
    """
    levels, least = levels_of(checkout), dict[str, int]()
    for run in documented_runs(checkout):
        if run.command is not None and run.command.is_documented and run.script is not None:
            page = run.command.said.path
            least[page] = min(levels.of(run.script.path), least.get(page, page.count("/")))
    return least
