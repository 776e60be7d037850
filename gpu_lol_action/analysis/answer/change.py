"""Base and head compared: run with run, part with part, and the line behind each difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gpu_lol_action.analysis.answer.changed_lines import pinned
from gpu_lol_action.analysis.answer.changed_parts import changed_parts
from gpu_lol_action.analysis.answer.counterfactual import Weighed, need_as_said, select_causes
from gpu_lol_action.analysis.answer.paired_runs import Pair, paired_runs, with_touched
from gpu_lol_action.analysis.answer.touched import Side, Touched, is_same_file
from gpu_lol_action.analysis.runs.touched_runs import is_program
from gpu_lol_action.domain.analysis import Analysis, Profile
from gpu_lol_action.domain.change import NOTHING, Cause, Change, Kind, RunChange, RunNeed
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec_lines import stated_lines
from gpu_lol_action.estimation.known_models import ModelFacts

NO_FACTS: Mapping[str, ModelFacts] = {}
# Of the file's keys, those from which machine and price follow; what else it says is a part of the environment.
_FILE_KEYS = (
    "gpu_type",
    "gpu_count",
    "vram_required_gb",
    "num_nodes",
    "use_spot",
    "alternatives",
    "cpus",
    "memory_gb",
    "disk_gb",
)


def compare(base: Side, head: Side, known: Mapping[str, ModelFacts] = NO_FACTS) -> Change:
    """Return what the head needs otherwise than the base; nothing where every run and every part is as it was.

    Programs that were moved or renamed are the same runs; those that the change touches count though neither answer shows them.
    ``known`` are facts of models that were looked up.
    """
    pairs = with_touched(paired_runs(base.analysis, head.analysis), Touched.between(base, head, known))
    first = next((pair for pair in pairs if pair[1] is not None and pair[1] is head.analysis.first), None)
    is_other = _is_other_run(base.analysis, head.analysis, first)
    reader = _Reader(base, head, known)
    return Change(
        first=reader.first_change(first, is_other_run=is_other),
        others=tuple(sorted(reader.changes(pair for pair in pairs if pair is not first), key=_size)),
        parts=changed_parts(base.analysis, head.analysis),
        file_causes=_file_causes(base, head),
        is_other_run=is_other,
    )


def _is_other_run(base: Analysis, head: Analysis, first: Pair | None) -> bool:
    """Whether another program than before is provisioned for, and both needed a machine."""
    if first is None or base.first is None or head.first is None:
        return False
    return first[0] is not base.first


def need_of(run: Profile | None) -> RunNeed:
    """Return what a run needs; nothing where there is none."""
    if run is None:
        return NOTHING
    expected = run.breakdown.expected_gib if run.breakdown is not None and run.gpu_count else None
    return RunNeed(run.gpu_count, run.needed_gib or run.vram_required_gb, expected)


@record(frozen=True, slots=True)
class _Reader:
    base: Side
    head: Side
    known: Mapping[str, ModelFacts]

    def first_change(self, pair: Pair | None, *, is_other_run: bool) -> RunChange | None:
        """Return how the run that is provisioned for differs from what was provisioned for before."""
        old, new = self.base.analysis, self.head.analysis
        if pair is None or new.first is None:
            return None
        before, after = _need_of_spec(old), _need_of_spec(new)
        if old.first is not None and (old.first.is_relaxed or new.first.is_relaxed):
            before, after = self._as_said(old.first), self._as_said(new.first)
        # With another run in front, the difference is that, and not what the same run needed before.
        partner = old.first if is_other_run else pair[0]
        causes = self._causes(partner, new.first)
        if before == after and not causes and partner is not None:
            return None
        if before == after and partner is not None and need_of(partner) == need_of(new.first):
            return None
        return RunChange(Kind.CHANGED if partner is not None or before.gpu_count else Kind.NEW, new.first.name, new.first.command,
                         new.first.evidence, before, after, causes)  # fmt: skip

    def changes(self, pairs: Iterable[Pair]) -> Iterator[RunChange]:
        """Yield the other runs that differ, came, or went."""
        for old, new in pairs:
            run = new or old
            if run is None or run is self.head.analysis.first:
                continue
            before, after = self._needs(old, new)
            if before == after:
                continue
            if (old is None or new is None) and (self._is_on_both(run) or (new is None and self._may_still_start(run))):
                continue
            kind = Kind.NEW if old is None else Kind.GONE if new is None else Kind.CHANGED
            causes = self._causes(old, new) if old is not None and new is not None else ()
            yield RunChange(kind, run.name, run.command, run.evidence, before, after, causes)

    def _is_on_both(self, run: Profile) -> bool:
        """Whether a run that one side alone shows is in both: its program, and what starts it.

        A side shows some of its runs, so one that another takes the place of has neither come nor gone.
        """
        base, head = self.base.checkout, self.head.checkout
        paths = dict.fromkeys((run.evidence.path, run.program or run.evidence.path))
        return all(is_same_file(base, head, path) for path in paths)

    def _may_still_start(self, run: Profile) -> bool:
        """Whether what was started by itself still can be, changed as it is."""
        return run.evidence.path == run.program and is_program(self.head.checkout, run.program)

    def _needs(self, old: Profile | None, new: Profile | None) -> tuple[RunNeed, RunNeed]:
        """Return what a run needs on both sides; as it is written where one side fits no card otherwise."""
        if old is not None and new is not None and (old.is_relaxed or new.is_relaxed):
            return self._as_said(old), self._as_said(new)
        return need_of(old), need_of(new)

    def _as_said(self, run: Profile) -> RunNeed:
        return need_as_said(run.findings, self.known)

    def _causes(self, old: Profile | None, new: Profile) -> tuple[Cause, ...]:
        needs = self._needs(old, new)
        before = Weighed(_asked(old, self.base.analysis), needs[0])
        after = Weighed(_asked(new, self.head.analysis), needs[1])
        return tuple(self._placed(cause) for cause in select_causes(before, after, self.known))

    def _placed(self, cause: Cause) -> Cause:
        if cause.new_value is None:
            return cause
        return replace(cause, evidence=pinned(cause.finding, self.base.checkout, self.head.checkout))


def _asked(run: Profile | None, analysis: Analysis) -> tuple[Finding, ...]:
    """Return a run's findings; those of the whole analysis where no run is started."""
    return run.findings if run is not None else analysis.findings


def _need_of_spec(analysis: Analysis) -> RunNeed:
    """Return what the code of the run that is provisioned for needs."""
    hardware = analysis.proposed.hardware
    if not analysis.proposed.needs_gpu:
        return NOTHING
    expected = analysis.breakdown.expected_gib if analysis.breakdown is not None else None
    return RunNeed(hardware.gpu_count, hardware.needed_gib or hardware.vram_required_gb, expected)


def _size(change: RunChange) -> tuple[float, str]:
    return -abs(change.after.total_gib - change.before.total_gib), change.name


def _file_causes(base: Side, head: Side) -> tuple[Cause, ...]:
    """Return the values of the repository's own file that a hand changed, with their lines; a file that is new, with its own."""
    text = head.checkout.spec_text
    if not head.analysis.is_from_file or text is None or text == base.checkout.spec_text:
        return ()
    lines = stated_lines(text)
    earlier = stated_lines(base.checkout.spec_text or "")
    old, new = base.analysis.spec.hardware, head.analysis.spec.hardware
    found = []
    for key in _FILE_KEYS:
        line = lines.get(f"hardware.{key}")
        before, after = _shown(getattr(old, key)), _shown(getattr(new, key))
        if line is None or before == after:
            continue
        is_stated = f"hardware.{key}" in earlier
        evidence = Evidence(head.checkout.spec_path, line)
        why = f"`{key}` is {after}" if is_stated else f"the file states `{key}`, which followed from the code before"
        finding = Finding(f"hardware.{key}", after or "none", why, Confidence.HIGH, evidence)
        found.append(Cause(finding, before, after or "none", evidence))
    return tuple(found)


def _shown(value: object) -> str | None:
    if value is None or value == ():
        return None
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
