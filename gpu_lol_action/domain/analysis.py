"""The outcome of reading a checkout: a spec, the memory behind it, and the evidence for both."""

from __future__ import annotations

from gpu_lol_action.domain.finding import Evidence, Finding
from gpu_lol_action.domain.memory import MemoryBreakdown
from gpu_lol_action.domain.policy import SPEC_PATH
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec import EnvironmentSpec, SpecDifference, WorkloadType
from gpu_lol_action.domain.told_confidence import as_told
from gpu_lol_action.domain.what_if import Alternative


@record(frozen=True, slots=True)
class Profile:
    """Another run of the tree beside the one that is provisioned for, estimated in the same way.

    ``command`` is what a person would type, ``vram_required_gb`` GB per GPU as cards are sold (None without a GPU), ``why`` where the
    run was found. ``findings`` are what was found of this run alone (packages and image are the whole tree's); ``program``
    is the file that is started, empty where it is none of the tree's. ``is_relaxed``: as it is written no card holds it, so that something was assumed.
    ``needed_gib`` is what programs must be able to allocate of each card.
    """

    name: str
    command: str
    evidence: Evidence
    workload: WorkloadType
    gpu_count: int
    vram_required_gb: int | None
    breakdown: MemoryBreakdown | None
    not_understood: tuple[str, ...]
    why: str
    findings: tuple[Finding, ...] = ()
    program: str = ""
    is_relaxed: bool = False
    needed_gib: int | None = None


@record(frozen=True, slots=True)
class Override:
    """What a language model's word changed: ``changes`` hold key, what the code alone says, and what is proposed now.

    ``reason`` is the model's own claim, bounded and on one line; nobody has checked it.
    """

    model: str
    reason: str
    changes: tuple[tuple[str, str, str], ...]


@record(frozen=True, slots=True)
class Analysis:
    """What one tree needs.

    ``spec`` is what would be launched: the file's where there is one, else the proposal.
    ``proposed`` is what the code alone says, or a language model where ``override`` says so.
    ``breakdown`` is None where no GPU is needed or no model was recognized (then ``not_understood`` says so).
    ``profiles`` are the other runs, the likeliest first; ``first`` is the one that is provisioned for, in the same form
    (None where nothing is started). ``alternatives`` are configurations of that run that would need less memory. ``guesses`` are places
    of settings that are told as less sure than what decided. ``least_gb`` is the smallest size of card that the code alone asks for,
    however little it needs.
    """

    spec: EnvironmentSpec
    proposed: EnvironmentSpec
    breakdown: MemoryBreakdown | None
    findings: tuple[Finding, ...]
    not_understood: tuple[str, ...]
    differences: tuple[SpecDifference, ...]
    spec_path: str | None
    files_read: int
    files_skipped: int
    profiles: tuple[Profile, ...] = ()
    override: Override | None = None
    first: Profile | None = None
    alternatives: tuple[Alternative, ...] = ()
    guesses: frozenset[Evidence] = frozenset()
    least_gb: int = 0
    spec_place: str = SPEC_PATH
    """Where the file with the spec lies, or belongs where there is none (then ``spec_path`` is None)."""

    @property
    def told(self) -> tuple[Finding, ...]:
        """The findings as they are shown, each as sure as such ones have been."""
        return as_told(self.findings, self.guesses)

    @property
    def is_from_file(self) -> bool:
        """Whether the repository carries its own `.gpu-lol.yaml`."""
        return self.spec_path is not None
