"""The packages to install: what dependency lists name, what images and readers are told, and what the run imports besides."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from gpu_lol_action.analysis.dependencies.cloned_projects import unused_frameworks
from gpu_lol_action.analysis.dependencies.dependency_lists import declared_packages, lists_of, near_folders
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.package_lists.glued_names import glued_findings
from gpu_lol_action.analysis.package_lists.installable_names import meant
from gpu_lol_action.analysis.package_lists.package_files import Declared, package_name, unique
from gpu_lol_action.analysis.package_lists.paired_releases import with_paired_releases
from gpu_lol_action.analysis.package_lists.system_packages import system_findings
from gpu_lol_action.analysis.packages.behind_libraries import behind_libraries
from gpu_lol_action.analysis.packages.called_tools import called_packages
from gpu_lol_action.analysis.packages.cython_extensions import build_findings
from gpu_lol_action.analysis.packages.imported_packages import imported_packages, unknown_imports
from gpu_lol_action.analysis.packages.jit_extensions import ninja_finding
from gpu_lol_action.analysis.packages.local_projects import setup_findings
from gpu_lol_action.analysis.packages.older_releases import with_older_releases
from gpu_lol_action.analysis.packages.openmmlab_configs import openmmlab_packages
from gpu_lol_action.analysis.packages.outer_modules import outer_modules
from gpu_lol_action.analysis.packages.package_indexes import index_findings
from gpu_lol_action.analysis.packages.python_choice import python_findings
from gpu_lol_action.analysis.packages.rl_packages import rl_packages
from gpu_lol_action.analysis.packages.silent_packages import silent_packages
from gpu_lol_action.analysis.packages.tensorflow_keras import with_older_keras
from gpu_lol_action.analysis.packages.tensorflow_one import with_tensorflow_one
from gpu_lol_action.analysis.packages.told_releases import as_told
from gpu_lol_action.analysis.packages.tool_packages import starting_packages, tool_packages
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.most_examples import needed_by_most
from gpu_lol_action.analysis.runs.runs import further_runs, primary_run
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

_MAX_UNKNOWN = 6
_UNKNOWN_IMPORTS = "imports"
_FRAMEWORKS = frozenset({"torch", "tensorflow", "tensorflow-gpu", "jax", "paddlepaddle", "paddlepaddle-gpu", "mxnet"})
# What is named for the framework's sake tells nothing of the programs.
_BESIDE_FRAMEWORKS = _FRAMEWORKS | {
    "torchvision",
    "torchaudio",
    "numpy",
    "packaging",
    "ninja",
    "flash-attn",
    "xformers",
    "triton",
}
_LEAST_TOLD = 3
# What is built for one CUDA, by its name; of `cu12` and `cu124` nobody knows which is the newer.
_BUILD = regex(r"([a-z][a-z0-9-]{1,40})-cu(?:da)?(\d{3}|9[0-2])")
# A list at the root, or in a folder at the root that holds lists.
_FOR_ALL = regex(
    r"(?:(?:requirements?|reqs?|deps|dependencies|envs?|environments?|conda|pip|docker|install\w*)/)?[^/]+",
    re.IGNORECASE,
)


def detect(checkout: Checkout) -> list[Finding]:
    """Return one finding per package, in the order in which lists name them, then imports by name; then how to set up."""
    run = primary_run(checkout)
    declared = effective_packages(checkout)
    required = [item for item in declared if not item.is_optional]
    found = [_finding(item) for item in required]
    names = {package_name(item.requirement): item.requirement for item in required}
    optional = {package_name(item.requirement): item.requirement for item in declared if item.is_optional}
    has_list = any(not item.is_optional and _speaks(item, run) for item in declared_packages(checkout))
    has_list = has_list or _is_told_whole(checkout, run)
    own = own_names(checkout)
    found += imported_packages(checkout, run, declared, own, has_list=has_list)
    if has_list:
        found += needed_by_most(checkout, run, {*_names(found), *own}, optional)
    listed = _names(found)
    known = set(listed)
    # A list that does not count for the run may still tell the version.
    found += [replace(f, value=optional.get(package_name(f.value), f.value)) for f in tool_packages(run, known, own)]
    known |= _names(found)
    found += starting_packages(further_runs(checkout), known, own, listed)
    known |= _names(found)
    asked = _asked_for(checkout, run, known, own, has_list=has_list)
    found += [replace(f, value=optional.get(package_name(f.value), f.value)) for f in asked]
    known |= _names(found)
    found += [*ninja_finding(checkout, run, known), *build_findings(checkout, run, known)]
    installed = [f.value for f in found if f.field == "dependencies.requirements"]
    found += silent_packages(checkout, run, installed, own, has_list=has_list)
    found = with_older_keras(checkout, run, with_tensorflow_one(checkout, run, found))
    found = with_paired_releases(with_older_releases(checkout, run, found))
    found += glued_findings([source for source, _ in lists_of(checkout).projects])
    found += setup_findings(checkout, run)
    found += system_findings(found)
    found += index_findings(checkout, [f for f in found if f.field == "dependencies.requirements"])
    found += python_findings(checkout, run, [f.value for f in found if f.field == "dependencies.requirements"])
    found += outer_modules(checkout, run)
    unknown = unknown_imports(checkout, run, {**names, **optional})
    if unknown:
        shown = ", ".join(f"{module} ({where})" for module, where in unknown[:_MAX_UNKNOWN])
        more = f" and {len(unknown) - _MAX_UNKNOWN} more" if len(unknown) > _MAX_UNKNOWN else ""
        why = f"no list names these imports and no package of that name is known, so they are not installed: {shown}{more}"
        found.append(Finding("not_understood", _UNKNOWN_IMPORTS, why, Confidence.MEDIUM, unknown[0][1]))
    return found


def doubt_without(finding: Finding, added: AbstractSet[str]) -> Finding | None:
    """Return a finding of what is not understood without the unknown imports that these packages bring; None where it names no other."""
    if finding.value != _UNKNOWN_IMPORTS:
        return finding
    sentence, _, shown = finding.why.partition(": ")
    left = [each for each in shown.split(", ") if package_name(each.partition(" ")[0]) not in added]
    return replace(finding, why=f"{sentence}: {', '.join(left)}") if left else None


def _names(found: Sequence[Finding]) -> frozenset[str]:
    return frozenset(package_name(f.value) for f in found if f.field == "dependencies.requirements")


def _asked_for(
    checkout: Checkout, run: Run | None, known: AbstractSet[str], own: AbstractSet[str], *, has_list: bool
) -> list[Finding]:
    """Return what nobody imports here: of the run's configuration, of tools called beside it, and what libraries load by themselves."""
    found: dict[str, Finding] = {}
    # Of scripts without a list each is as good as the first: whoever starts another finds its engine installed.
    runs = [run, *(further_runs(checkout) if not has_list else ())]
    for finding in (
        *(item for each in runs for item in rl_packages(checkout, each, known, own)),
        *called_packages(checkout, run, known, own, has_list=has_list),
        *behind_libraries(checkout, run, known, own),
        *(item for item in openmmlab_packages(checkout, run) if item.value not in known and item.value not in own),
    ):
        found.setdefault(package_name(finding.value), finding)
    return list(found.values())


def _speaks(item: Declared, run: Run | None) -> bool:
    """Whether a list speaks for what is started: where nothing is, one beside some lesson speaks for that lesson alone."""
    return run is not None or item.is_library or _FOR_ALL.fullmatch(item.evidence.path) is not None


def _is_told_whole(checkout: Checkout, run: Run | None) -> bool:
    """Whether commands install a framework and enough beside it to be the list that the repository does not have."""
    told = {package_name(item.requirement) for command in lists_of(checkout).commands for item in command.declared}
    is_whole = len(told - _BESIDE_FRAMEWORKS) >= _LEAST_TOLD and bool(told & _FRAMEWORKS)
    return run is not None and run.script is not None and is_whole


@functools.lru_cache(maxsize=4)
def effective_packages(checkout: Checkout) -> tuple[Declared, ...]:
    """Return the declared packages with those of installation commands that count."""
    lists = lists_of(checkout)
    own = own_names(checkout) - lists.below
    own |= unused_frameworks(checkout)
    told = [
        item
        for command in lists.commands
        for item in command.declared
        if not _is_own(item.requirement, own, is_conda=command.is_conda)
    ]
    declared = as_told(_without_far_pins(lists.declared, told, near_folders(primary_run(checkout))), told)
    # What a command fetches from its repository is that under the name of a list, before any index's name for it.
    named = ((item, meant(item.requirement)) for item in unique((*declared, *told)))
    return unique(
        _of_one_build(
            [replace(item, requirement=requirement) for item, requirement in named if requirement is not None]
        )
    )


def _is_own(requirement: str, own: AbstractSet[str], *, is_conda: bool) -> bool:
    """Whether a command installs the checkout itself: from conda also what its recipe gives beside it (`name-all`), which no index has."""
    name = package_name(requirement)
    return name in own or (is_conda and any(name.startswith(f"{each}-") for each in own))


def _without_far_pins(declared: Sequence[Declared], told: Sequence[Declared], near: Sequence[str]) -> list[Declared]:
    """Return what lists name, without the versions of a list further down where a command beside the run installs any version.

    What is copied in keeps the list of its own day (`software/net/requirements.txt`), which the run's authors did not follow.
    """
    free = {item.requirement for item in told if item.evidence.path.rpartition("/")[0] in near}
    beside = {*near, *(f"{folder}/requirements".lstrip("/") for folder in near)}
    far = [item for item in declared if item.evidence.path.rpartition("/")[0] not in beside and not item.is_library]
    changed = {item: package_name(item.requirement) for item in far}
    return [replace(item, requirement=changed[item]) if changed.get(item) in free else item for item in declared]


def _of_one_build(items: list[Declared]) -> list[Declared]:
    """Return packages without other builds of the same one, of which documents list one for each CUDA (``dgl-cu101``, ``dgl-cu110``): the newest stays."""
    builds: dict[str, int] = {}
    for item in items:
        if (found := _BUILD.fullmatch(package_name(item.requirement))) is not None:
            builds[found[1]] = max(builds.get(found[1], 0), int(found[2]))
    return [
        item
        for item in items
        if (found := _BUILD.fullmatch(package_name(item.requirement))) is None or builds[found[1]] == int(found[2])
    ]


def own_names(checkout: Checkout) -> frozenset[str]:
    """Return the names under which the checkout itself is installed: of its projects, and of its packages at the root."""
    names = {project.name for _, project in lists_of(checkout).projects if project.name}
    roots = [source.path.split("/") for source in checkout.of(Form.PYTHON) if source.name == "__init__.py"]
    names |= {package_name(parts[-2]) for parts in roots if len(parts) == 2 or (len(parts) == 3 and parts[0] == "src")}
    return frozenset(names)


def _finding(item: Declared) -> Finding:
    name = package_name(item.requirement)
    why = f"`{name}` is named as a dependency"
    return Finding("dependencies.requirements", item.requirement, why, Confidence.HIGH, item.evidence)
