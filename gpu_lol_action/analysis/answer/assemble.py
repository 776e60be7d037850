"""Detectors in order, their findings to a spec, and the repository's own file over it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from gpu_lol_action.analysis.answer.alternatives import alternatives
from gpu_lol_action.analysis.answer.differences import complete, differences, file_of
from gpu_lol_action.analysis.answer.exact_lines import on_exact_lines
from gpu_lol_action.analysis.answer.guesses import guesses_of
from gpu_lol_action.analysis.answer.placed import done_in, placed
from gpu_lol_action.analysis.answer.profiles import different_hardware, profile_of
from gpu_lol_action.analysis.answer.side_by_side import side_by_side
from gpu_lol_action.analysis.files import tree_size
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.project_folder import project_folder, project_of
from gpu_lol_action.analysis.formats.roomy import roomy
from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.analysis.gpu_counts import machines_for_rent, whole_copies
from gpu_lol_action.analysis.media import media, quantized_parts
from gpu_lol_action.analysis.memory.least_size import least_gb
from gpu_lol_action.analysis.memory.machine_need import MemoryNeed
from gpu_lol_action.analysis.memory.memory_need import memory_need
from gpu_lol_action.analysis.memory.unused_lengths import without_unused
from gpu_lol_action.analysis.models import encoder_loads, full_width_loads, model_parallel, models, models_beside
from gpu_lol_action.analysis.needs import workload
from gpu_lol_action.analysis.package_lists.package_files import package_name
from gpu_lol_action.analysis.packages import base_image, cpu_packages
from gpu_lol_action.analysis.packages.image_choice import fitted, image_for
from gpu_lol_action.analysis.packages.packages import doubt_without
from gpu_lol_action.analysis.packages.python_choice import python_gaps
from gpu_lol_action.analysis.runs import entry_points, named_hardware, serving_engine
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.runs import all_runs, further_runs, primary_run, run_named
from gpu_lol_action.analysis.stated import declared_hardware, documented, documented_sizes
from gpu_lol_action.analysis.training import picture_lengths, rl_engine, training
from gpu_lol_action.analysis.training.placement import LARGEST_CARD_GIB
from gpu_lol_action.domain.analysis import Analysis, Profile
from gpu_lol_action.domain.card_sizes import asking_for
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.spec import Dependencies, EnvironmentSpec, Hardware, Meta, Software, WorkloadType
from gpu_lol_action.domain.what_if import Alternative
from gpu_lol_action.estimation.compatibility import ImageChoice
from gpu_lol_action.estimation.image_python import python_inside
from gpu_lol_action.estimation.known_models import ModelFacts

Detector = Callable[[Checkout, Run | None], list[Finding]]
TreeDetector = Callable[[Checkout], list[Finding]]

# The order of the story: what is it for, what starts it, what it loads, how it works, what it runs on, what it installs.
RUN_DETECTORS: tuple[Detector, ...] = (
    workload.detect,
    entry_points.detect,
    models.detect,
    models_beside.detect,
    training.detect,
    full_width_loads.detect,
    encoder_loads.detect,
    model_parallel.detect,
    rl_engine.detect,
    picture_lengths.detect,
    media.detect,
    quantized_parts.detect,
    serving_engine.detect,
    whole_copies.detect,
    machines_for_rent.detect,
    documented.detect,
    documented_sizes.detect,
    declared_hardware.detect,
    named_hardware.detect,
)
TREE_DETECTORS: tuple[TreeDetector, ...] = (tree_size.detect, base_image.detect, cpu_packages.detect)

MIN_DISK_GB = 60
MAX_REQUIREMENTS = 500
_REQUIREMENTS = "dependencies.requirements"
UNNEEDED = "dependencies.unneeded"
"""The field of a hint that names a package which is proposed and not needed."""

NO_FACTS: Mapping[str, ModelFacts] = MappingProxyType({})


@roomy
def analyze(
    checkout: Checkout,
    spec_text: str | None = None,
    model_facts: Mapping[str, ModelFacts] = NO_FACTS,
    hints: tuple[Finding, ...] = (),
    run_name: str = "",
) -> Analysis:
    """Return what the tree needs: the file's word where there is one, the code's for the rest.

    ``spec_text`` is the text of `.gpu-lol.yaml`; ``model_facts`` are sizes looked up between detection and assembly.
    ``hints`` are findings from outside the tree. Among equally sure ones of a field, a sure hint comes before what the
    tree says, any other behind it. ``run_name`` is a run to provision for in place of the first.
    Of a checkout that holds one project in a folder and little else that folder is what is looked at.
    The card is not chosen here: it follows from prices (``pricing.proposal``). Raises SpecError where the file is wrong.
    """
    folder, whole, checkout = project_folder(checkout), checkout, project_of(checkout)
    file = file_of(spec_text, checkout.spec_path)
    sure = tuple(hint for hint in hints if hint.confidence is Confidence.HIGH)
    tree = done_in(_corrected(detect_tree(checkout), hints), folder)
    run = run_named(checkout, run_name)
    own = (*_of_run(checkout, run, model_facts if run_name else NO_FACTS), *tree)
    findings = (*sure, *own, *(hint for hint in hints if hint not in sure))
    proposed, need = propose(findings, model_facts)
    first = profile_of(run, proposed, need, findings) if run is not None else None
    others = other_runs(checkout, tree, model_facts, run)
    proposed = replace(proposed, profiles=different_hardware(proposed, others))
    gaps = [*(need.not_understood if need else ()), *_environment_gaps(findings, proposed), *checkout.gaps()]
    gaps += side_by_side(checkout, run) if not folder else ()
    if need is not None:
        findings = (*without_unused(findings, need), need.finding)
    spec = complete(file, proposed) if file is not None else proposed
    analysis = Analysis(
        spec=spec,
        proposed=proposed,
        breakdown=need.breakdown if need else None,
        findings=findings,
        not_understood=tuple(gaps),
        differences=differences(file, proposed, findings) if file is not None else (),
        spec_path=file.path if file is not None else None,
        files_read=len(checkout.sources),
        files_skipped=checkout.files_skipped,
        profiles=tuple(profile for profile, _ in others),
        first=first,
        alternatives=_alternatives(checkout, findings, need),
        guesses=guesses_of(checkout, run, findings),
        least_gb=least_gb(need, proposed.meta.workload_type, tree_size.programs_of(findings))
        if need is not None
        else 0,
        spec_place=checkout.spec_path,
    )
    return placed(analysis, folder, checkout, whole) if folder else analysis


def _alternatives(
    checkout: Checkout, findings: tuple[Finding, ...], need: MemoryNeed | None
) -> tuple[Alternative, ...]:
    if need is None or need.question is None or need.breakdown is None:
        return ()
    return alternatives(checkout, findings, need, need.question, need.breakdown)


def detect_all(checkout: Checkout) -> tuple[Finding, ...]:
    """Return the findings of all detectors for the run that counts, in their order."""
    project = project_of(checkout)
    return (*detect_run(project, primary_run(project)), *detect_tree(project))


def detect_run(checkout: Checkout, run: Run | None) -> tuple[Finding, ...]:
    """Return what is found of one run: its model, its way of working, its GPUs."""
    return on_exact_lines(checkout, (finding for detect in RUN_DETECTORS for finding in detect(checkout, run)))


def _of_run(checkout: Checkout, run: Run | None, model_facts: Mapping[str, ModelFacts]) -> tuple[Finding, ...]:
    """Return what is found of one run, with the models that no table has and a look-up has sized."""
    sized = (hint for hint in models.unknown_ids(checkout, run) if hint.value in model_facts) if model_facts else ()
    return (*detect_run(checkout, run), *sized)


def other_runs(
    checkout: Checkout, tree: tuple[Finding, ...], model_facts: Mapping[str, ModelFacts], first: Run | None
) -> tuple[tuple[Profile, EnvironmentSpec], ...]:
    """Return the runs beside the first, each estimated by the same detectors, with the spec that it alone would ask for."""
    return estimated_runs(checkout, tree, model_facts, (run for run in all_runs(checkout) if run is not first))


def estimated_runs(
    checkout: Checkout, tree: tuple[Finding, ...], model_facts: Mapping[str, ModelFacts], runs: Iterable[Run]
) -> tuple[tuple[Profile, EnvironmentSpec], ...]:
    """Return these runs, each estimated alone, with the spec that it alone would ask for; ``tree`` is found of the whole tree."""
    found = []
    for run in runs:
        own = _of_run(checkout, run, model_facts)
        spec, need = propose((*own, *tree), model_facts)
        # What no card holds was read wrong, or cannot be started here: as a choice it would only mislead.
        if not spec.needs_gpu or (spec.hardware.needed_gib or 0) <= LARGEST_CARD_GIB:
            found.append((profile_of(run, spec, need, own), spec))
    return tuple(found)


def detect_tree(checkout: Checkout) -> tuple[Finding, ...]:
    """Return what is found of the whole tree, whatever is run: image, packages."""
    return on_exact_lines(checkout, (finding for detect in TREE_DETECTORS for finding in detect(checkout)))


def named_models(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Return the models that findings name, surest first: what a look-up may be asked about."""
    named = [finding for finding in findings if finding.field in {"model.unsized_id", "model.id"}]
    return tuple(dict.fromkeys(f.value for f in sorted(named, key=lambda f: -f.confidence)))


def unlisted_models(checkout: Checkout) -> tuple[Finding, ...]:
    """Return models that the run names or loads and that no table has: hints, once a look-up has sized them."""
    project = project_of(checkout)
    return tuple(models.unknown_ids(project, primary_run(project)))


def models_of_profiles(checkout: Checkout) -> tuple[str, ...]:
    """Return the models that the other runs name, surest first within each: what a look-up may be asked about as well."""
    found: list[str] = []
    project = project_of(checkout)
    for run in further_runs(project):
        own = (*models.detect(project, run), *models.unknown_ids(project, run))
        found.extend(named_models(tuple(item for item in own if item.confidence > Confidence.LOW)))
    return tuple(dict.fromkeys(found))


def propose(
    findings: tuple[Finding, ...], model_facts: Mapping[str, ModelFacts]
) -> tuple[EnvironmentSpec, MemoryNeed | None]:
    """Return the spec that the code alone asks for, and the memory behind it (None without a GPU)."""
    kind = _workload(findings)
    need = memory_need(findings, kind, model_facts) if kind is not WorkloadType.CPU_ONLY else None
    nodes, disk = best(findings, "hardware.num_nodes"), best(findings, "hardware.disk_gb")
    hardware = Hardware(gpu_count=0)
    if need is not None:
        machine = Hardware(
            gpu_count=need.gpu_count,
            num_nodes=int(nodes.value) if nodes else need.machines,
            disk_gb=max(_disk_gb(need.model), int(disk.value) if disk else 0),
        )
        hardware = asking_for(machine, need.required_gib, least_gb(need, kind, tree_size.programs_of(findings)))
    requirements = tuple(f.value for f in findings if f.field == _REQUIREMENTS)[:MAX_REQUIREMENTS]
    image = image_for(findings, requirements, kind, hardware.needed_gib or 0.0)
    python = best(findings, "environment.python_version")
    software = Software(image.image, image.python or (python.value if python else None), image.cuda)
    env = {f.field.removeprefix("env."): f.value for f in findings if f.field.startswith("env.")}
    return EnvironmentSpec(
        hardware, software, _dependencies(findings, requirements, image), Meta(workload_type=kind), env
    ), need


def _corrected(tree: tuple[Finding, ...], hints: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return what is found of the tree without the packages that a hint calls unneeded, and without doubt of those that one adds."""
    unneeded = {hint.value for hint in hints if hint.field == UNNEEDED}
    added = {package_name(hint.value) for hint in hints if hint.field == _REQUIREMENTS}
    if not unneeded and not added:
        return tree
    kept = (f for f in tree if f.field != _REQUIREMENTS or package_name(f.value) not in unneeded)
    told = (doubt_without(f, added) if f.field == "not_understood" else f for f in kept)
    return tuple(finding for finding in told if finding is not None)


def _dependencies(findings: tuple[Finding, ...], requirements: tuple[str, ...], image: ImageChoice) -> Dependencies:
    """Return what is installed into the image, in the order in which it is found."""
    kept, _ = fitted(requirements, image)
    system, setup = (
        tuple(dict.fromkeys(f.value for f in findings if f.field == f"dependencies.{key}"))
        for key in ("system_packages", "setup_commands")
    )
    return Dependencies(requirements=kept, system_packages=system, setup_commands=setup)


def _workload(findings: tuple[Finding, ...]) -> WorkloadType:
    found = best(findings, "workload")
    return WorkloadType(found.value) if found else WorkloadType.INTERACTIVE


def _disk_gb(model: ModelFacts | None) -> int:
    """Return disk in GB: image, packages and caches, and the weights at 16 bit twice (download and a checkpoint)."""
    weights_gb = 2 * model.parameters_b if model else 0
    return max(MIN_DISK_GB, math.ceil((40 + 2.5 * weights_gb) / 10) * 10)


def _environment_gaps(findings: tuple[Finding, ...], proposed: EnvironmentSpec) -> list[str]:
    """Return what contradicts each other, and what of the environment was not understood, in sentences."""
    requirements = tuple(f.value for f in findings if f.field == _REQUIREMENTS)
    image = image_for(findings, requirements, _workload(findings), proposed.hardware.needed_gib or 0.0)
    said = [f.why for f in findings if f.field in {"contradiction", "not_understood"}]
    said += python_gaps(findings, proposed.environment.python_version or python_inside(image.image))
    return list(dict.fromkeys([*said, *image.contradictions, *fitted(requirements, image)[1]]))


__all__ = [
    "Confidence",
    "Evidence",
    "analyze",
    "detect_all",
    "models_of_profiles",
    "named_models",
    "propose",
    "unlisted_models",
]
