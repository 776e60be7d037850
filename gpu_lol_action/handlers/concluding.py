"""What a tree that was read needs and costs, alone or beside the one it started from; apart from who fetches trees.

A person waits for ``gpu-lol analyze``, and a third of what it takes is loading modules: what only a change or a correction needs
is imported where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gpu_lol_action.analysis.answer.calibrated import calibrated
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.card_sizes import asking_for
from gpu_lol_action.domain.corrections import NO_CORRECTIONS, Corrections
from gpu_lol_action.domain.gpus import UnknownAccelerator
from gpu_lol_action.domain.offer import Candidate, Ladder, PriceList
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.spec import EnvironmentSpec, WorkloadType
from gpu_lol_action.errors import GpuLolError, UserError
from gpu_lol_action.handlers.askable import NO_LOOKUPS, Lookups
from gpu_lol_action.handlers.consulting import consult
from gpu_lol_action.pricing.candidates import RankRequest, rank_candidates, requirement_from
from gpu_lol_action.pricing.proposal import with_cheapest_card
from gpu_lol_action.pricing.snapshot import bundled_prices
from gpu_lol_action.pricing.spot import cheaper_spot
from gpu_lol_action.pricing.throughput import work_of
from gpu_lol_action.pricing.what_ifs import select_what_ifs

if TYPE_CHECKING:
    from gpu_lol_action.domain.change import Change, RunNeed
    from gpu_lol_action.domain.measured import MeasuredRun
    from gpu_lol_action.domain.priced_change import PricedChange
    from gpu_lol_action.domain.request import Command
    from gpu_lol_action.domain.what_if import WhatIf


@record(frozen=True, slots=True)
class Fetched:
    """A commit's tree, read as data."""

    sha: str
    checkout: Checkout


@record(frozen=True, slots=True)
class Reading:
    """A commit's analysis and the ladder of machines that fit it.

    ``asked`` is the spec before a card was chosen for it: where neither file nor command names one, every card that
    fits is a candidate. ``what_ifs`` are configurations of the same run that would do with a cheaper machine;
    ``spot`` is a machine that costs less because it may be taken away. ``spec_text`` is the file's, None without one.
    """

    sha: str
    asked: EnvironmentSpec
    analysis: Analysis
    ladder: Ladder
    what_ifs: tuple[WhatIf, ...] = ()
    spot: Candidate | None = None
    spec_text: str | None = None


def conclude(
    fetched: Fetched,
    policy: Policy,
    lookups: Lookups = NO_LOOKUPS,
    corrections: Corrections = NO_CORRECTIONS,
    measured: Sequence[MeasuredRun] = (),
) -> Reading:
    """Return what a tree needs, with a person's corrections over it, and what that costs.

    ``measured`` is what runs of this repository used.
    """
    analysis = calibrated(consult(fetched.checkout, lookups), measured, fetched.checkout.spec_text)
    return concluded(fetched.sha, analysis, policy, corrections)


@record(frozen=True, slots=True)
class Compared:
    """Head and base as they were read; ``base`` and ``change`` are None where there is nothing to compare with.

    ``problem`` says in a sentence why a base that is there could not be compared with.
    """

    head: Reading
    base: Reading | None = None
    change: PricedChange | None = None
    problem: str = ""


def conclude_change(
    head: Fetched,
    base: Fetched | None,
    policy: Policy,
    lookups: Lookups = NO_LOOKUPS,
    corrections: Corrections = NO_CORRECTIONS,
    measured: Sequence[MeasuredRun] = (),
) -> Compared:
    """Return what the head needs, and what of it is the change's doing. Raises SpecError where the head's spec is invalid.

    The head is looked into first, as if it were alone; the base then finds answered what both have in common. Corrections
    are for the head alone: they were made for what it is. ``measured`` is what runs of this repository used.
    """
    analysis = consult(head.checkout, lookups)
    text = head.checkout.spec_text
    if base is None:
        return Compared(concluded(head.sha, calibrated(analysis, measured, text), policy, corrections, lookups))
    from gpu_lol_action.analysis.answer.change import compare
    from gpu_lol_action.analysis.answer.lagging import carried
    from gpu_lol_action.analysis.answer.touched import Side

    try:
        before = consult(base.checkout, lookups)
        known = calibrated(before, measured, base.checkout.spec_text)
        old = _priced_alone(base.sha, known, policy, lookups)
    except GpuLolError as error:
        new = concluded(head.sha, calibrated(analysis, measured, text), policy, corrections, lookups)
        return Compared(new, problem=error.explanation.what)
    after = calibrated(carried(analysis, before, text), measured, text)
    new = concluded(head.sha, after, policy, corrections, lookups)
    change = compare(Side(base.checkout, old.analysis), Side(head.checkout, new.analysis))
    return Compared(new, old, _priced(change, new, policy, lookups))


def _priced(change: Change, head: Reading, policy: Policy, lookups: Lookups) -> PricedChange:
    """Return a change with the cheapest machine for each of the other runs, before and after."""
    from gpu_lol_action.domain.priced_change import PricedChange, PricedRun

    def cheapest(need: RunNeed) -> Candidate | None:
        return _cheapest(need, head.asked, policy, lookups)

    return PricedChange(
        change, tuple(PricedRun(run, cheapest(run.before), cheapest(run.after)) for run in change.others)
    )


def _cheapest(need: RunNeed, spec: EnvironmentSpec, policy: Policy, lookups: Lookups) -> Candidate | None:
    if not need.gpu_count:
        return None
    anew = replace(spec.hardware, gpu_type=None, alternatives=(), gpu_count=need.gpu_count)
    hardware = asking_for(anew, need.required_gib)
    kind = spec.meta if spec.needs_gpu else replace(spec.meta, workload_type=WorkloadType.INTERACTIVE)
    return price(replace(spec, hardware=hardware, meta=kind), policy, lookups=lookups).best


def _priced_alone(sha: str, analysis: Analysis, policy: Policy, lookups: Lookups) -> Reading:
    """Return a base with its machine: what would be cheaper there is of no interest."""
    ladder = price(analysis.spec, policy, lookups=lookups, precision=precision_of(analysis))
    return Reading(sha, analysis.spec, with_cheapest_card(analysis), ladder)


def concluded(
    sha: str, analysis: Analysis, policy: Policy, corrections: Corrections, lookups: Lookups = NO_LOOKUPS
) -> Reading:
    """Return an analysis with a person's corrections over it, what that costs, and what would cost less."""
    if not corrections.is_empty:
        from gpu_lol_action.domain.corrected_spec import correct_spec

        spec, proposed = (correct_spec(each, corrections) for each in (analysis.spec, analysis.proposed))
        analysis = replace(analysis, spec=spec, proposed=proposed)
    precision = precision_of(analysis)
    ladder = price(analysis.spec, policy, lookups=lookups, precision=precision)
    # A person's or a file's figure for the memory is none of the model's, so that the model cannot say what would lessen it.
    is_computed = corrections.vram_gib is None and corrections.gpu is None
    offers = prices_of(lookups, policy.clouds).offers
    what_ifs = select_what_ifs(analysis.alternatives, analysis.spec, policy, ladder, offers) if is_computed else ()
    spot = None
    if not analysis.spec.hardware.use_spot:
        asked = replace(analysis.spec, hardware=replace(analysis.spec.hardware, use_spot=True))
        spot = cheaper_spot(ladder, price(asked, policy, lookups=lookups, precision=precision))
    return Reading(sha, analysis.spec, with_cheapest_card(analysis), ladder, what_ifs, spot)


def precision_of(analysis: Analysis) -> str:
    """Return in which numbers the code computes, as far as anything says; the surest word first."""
    said = [finding for finding in analysis.findings if finding.field == "training.precision"]
    return max(said, key=lambda finding: finding.confidence).value if said else ""


def price(
    spec: EnvironmentSpec,
    policy: Policy,
    command: Command | None = None,
    lookups: Lookups = NO_LOOKUPS,
    precision: str = "",
) -> Ladder:
    """Return the ladder for a spec with a command's options applied. Raises UserError for a card nobody rents."""
    requirement = requirement_from(spec, policy, command)
    if isinstance(requirement, UnknownAccelerator):
        names = " or ".join(f"`{name}`" for name in requirement.did_you_mean)
        raise UserError(
            "unknown_accelerator", requirement.what, fix=f"Did you mean {names}?" if names else "/gpu-lol help up"
        )
    lease = (command.lease if command else None) or policy.lease
    prices = prices_of(lookups, requirement.clouds)
    requirement = replace(requirement, precision=precision)
    work = work_of(spec.meta.workload_type, precision)
    return rank_candidates(RankRequest(requirement, prices.offers, prices.source, lease, work=work))


def prices_of(lookups: Lookups, clouds: Sequence[str]) -> PriceList:
    """Return the prices of these clouds: what this run may ask for, else the bundled ones."""
    return lookups.prices().of(clouds) if lookups.prices is not None else bundled_prices()
