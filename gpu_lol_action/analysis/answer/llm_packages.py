"""Which packages a language model may add to what is proposed or take from it, and within which bounds.

Whoever writes the code writes its lists of packages anyway, so what they name is no new door; a name that only the model says must be
that of a package which the bundled tables know: an index holds strangers' packages under names that sound right. Nothing is
taken from the run that its own modules import as it starts.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.answer.assemble import UNNEEDED
from gpu_lol_action.analysis.answer.llm_advice import Advice
from gpu_lol_action.analysis.answer.placed import placed_in
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.project_folder import project_folder, project_of
from gpu_lol_action.analysis.formats.import_names import package_of
from gpu_lol_action.analysis.package_lists.glued_names import is_published
from gpu_lol_action.analysis.package_lists.installable_names import meant
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.packages.further_packages import further_packages
from gpu_lol_action.analysis.programs.import_graph import imported_at_once
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.runs import primary_run, run_named
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.records import record

NOWHERE = Evidence("")
NONE = "none of these"
MAX_SHOWN = 8
"""So many names leave a table of a comment its width; all are among the packages."""


def offered_packages(checkout: Checkout, analysis: Analysis) -> tuple[Finding, ...]:
    """Return what the files name besides what is proposed, as findings of requirements."""
    project = project_of(checkout)
    found = further_packages(project, primary_run(project), analysis.proposed.dependencies.requirements)
    return placed_in(found, project_folder(checkout), project)


@record(frozen=True, slots=True)
class PackageAdvice:
    """What of an answer's packages is taken, as findings; the names that nobody knows, and those that the run cannot do without."""

    hints: tuple[Finding, ...] = ()
    unknown: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()

    def changes(self) -> tuple[tuple[str, str, str], ...]:
        """Return the row that tells a reader which packages were taken out and put in; none where the answer changes none."""
        added = _shown([finding.value for finding in self.hints if finding.field != UNNEEDED])
        dropped = _shown([finding.value for finding in self.hints if finding.field == UNNEEDED])
        return (("packages", dropped, added),) if self.hints else ()

    def gaps(self) -> tuple[str, ...]:
        """Return a sentence on each kind of names that is not taken."""
        unknown, imported = (", ".join(f"`{name}`" for name in names) for names in (self.unknown, self.imported))
        added = f"the language model would add {unknown}, which no file of the code names and no bundled table knows"
        dropped = f"the language model would drop {imported}, which the run imports as it starts"
        said = ((unknown, f"{added}; not added"), (imported, f"{dropped}; kept"))
        return tuple(sentence for names, sentence in said if names)


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
    return ", ".join(names[:MAX_SHOWN]) + more if names else NONE


NO_PACKAGES = PackageAdvice()


def read_packages(checkout: Checkout, analysis: Analysis, advice: Advice, claim: str) -> PackageAdvice:
    """Return what may be taken of the packages that an answer names; ``claim`` is the sentence that says whose word it is."""
    proposed = {package_name(each) for each in analysis.proposed.dependencies.requirements}
    hints: dict[str, Finding] = {}
    unknown: list[str] = []
    offered = {package_name(f.value): f for f in offered_packages(checkout, analysis)} if advice.added else {}
    for name in advice.added:
        if name in proposed:
            continue
        named = offered.get(name)
        requirement = meant(name)
        if named is not None:
            why = f"{named.why}, and {claim}"
            hints[name] = Finding(named.field, named.value, why, Confidence.LOW, named.evidence)
        elif requirement is not None and is_published(name) and "://" not in requirement:
            hints[name] = Finding("dependencies.requirements", requirement, claim, Confidence.LOW, NOWHERE)
        else:
            unknown.append(name)
    project = project_of(checkout)
    imported = _imported(project, run_named(project, advice.run or "")) if advice.dropped else frozenset[str]()
    dropped = [name for name in advice.dropped if name in proposed]
    hints |= {name: Finding(UNNEEDED, name, claim, Confidence.LOW, NOWHERE) for name in dropped if name not in imported}
    kept = tuple(name for name in dropped if name in imported)
    return PackageAdvice(tuple(hints.values()), tuple(unknown), kept)


def _imported(checkout: Checkout, run: Run | None) -> frozenset[str]:
    """Return the packages without which the run's own modules do not start."""
    script = run.script if run is not None else None
    sources = (script, *imported_at_once(checkout, script)) if script is not None else ()
    packages = {
        package_of(item.module)
        for source in sources
        for item in (source.code.imports if source.code is not None else ())
        if not (item.is_lazy or item.is_optional or item.module.startswith("."))
    }
    return frozenset(package_name(package) for package in packages if package is not None)
