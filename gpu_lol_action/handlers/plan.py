"""Everything that is decided before a cent is spent: commit, spec, ladder, gates, worst case, keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpu_lol_action.domain.confirmation import is_same_person
from gpu_lol_action.domain.environment import EnvironmentRecord, Lease
from gpu_lol_action.domain.folders import folder_meant, is_word
from gpu_lol_action.domain.ledger import Entry, Survey
from gpu_lol_action.domain.market import Template
from gpu_lol_action.domain.offer import Candidate, Ladder
from gpu_lol_action.domain.proposal_note import ProposalNote
from gpu_lol_action.domain.request import Deny, Gate
from gpu_lol_action.domain.rescue import Rescue
from gpu_lol_action.domain.spec import EnvironmentSpec
from gpu_lol_action.domain.suggest import nearest
from gpu_lol_action.errors import OperatorError
from gpu_lol_action.handlers.chosen_project import machine_name, settled
from gpu_lol_action.handlers.concluding import Reading, precision_of, price
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.planned import AlreadyRunning, AwaitsConfirmation, UpPlan, Wanted
from gpu_lol_action.handlers.reading import read_change, read_run
from gpu_lol_action.handlers.refuse import nothing_fits
from gpu_lol_action.handlers.templates import template_for, with_template
from gpu_lol_action.intake.spending_gates import SpendingFacts, spending_gate
from gpu_lol_action.launch.access import Access, decide_access
from gpu_lol_action.launch.code import folder_name
from gpu_lol_action.launch.setup import SetupRequest, check_setup
from gpu_lol_action.pricing.budget import month_start, spending, sweep_gap, worst_case

WAITING = "confirmation_required"
CLOUD_SECRETS: Mapping[str, str] = {"runpod": "RUNPOD_API_KEY", "lambda": "LAMBDA_API_KEY"}


def plan_up(context: Context, order: Order) -> UpPlan | AlreadyRunning | AwaitsConfirmation | Deny:
    """Gather the facts of an ``up`` and decide; nothing is written or spent here.

    Raises SpecError for an invalid spec and OperatorError where no cloud has a credential.
    """
    command = order.command
    plan = plan_machine(context, order, Wanted(command.profile, command.profile, command.lease, image=command.image))
    project = folder_meant(command.profile, order.policy.project_folders)
    is_projects = project in order.policy.project_folders and is_word(project)
    if isinstance(plan, Deny) and plan.reason_code == "unknown_profile" and is_projects:
        return replace(plan, fix=f"/gpu-lol up --project {project}")
    return plan


def plan_machine(context: Context, order: Order, wanted: Wanted) -> UpPlan | AlreadyRunning | AwaitsConfirmation | Deny:
    """Decide a launch for whatever command wants one. Raises as ``plan_up`` does."""
    order = settled(context, order)
    name = machine_name(order, wanted.called)
    survey = context.ledger.survey()
    existing = survey.find(name)
    if existing is not None and not isinstance(existing, Entry):
        return _unreadable(name, existing.why)
    if existing is not None and existing.record.is_open:
        return AlreadyRunning(existing.record)
    elsewhere = _of_another_project(order, wanted, survey)
    if elsewhere is not None:
        return AlreadyRunning(elsewhere, order.policy.project_folder)
    restore = _saved_work(order, name, existing)
    if isinstance(restore, Deny):
        return restore
    _require_credentials(context, order)
    is_fork = order.pull_request.is_fork(order.repository.full_name)
    note = order.note or ProposalNote()
    reading = read_change(
        context, order.pull_request, order.policy, is_fork=is_fork, note=note, spec_text=order.spec_text
    )
    spec = _with_profile(reading, wanted.profile)
    if isinstance(spec, Deny) and not reading.analysis.is_from_file:
        # A proposal tells of more runs than it has profiles for.
        other = read_run(context, order.pull_request, order.policy, is_fork=is_fork, name=wanted.profile)
        reading, spec = (other, other.asked) if other is not None else (reading, spec)
    if isinstance(spec, Deny):
        return spec
    if wanted.image is not None:
        spec = replace(spec, environment=replace(spec.environment, base_image=wanted.image))
    command = order.command
    if wanted.gpu is not None:
        command = replace(command, gpu=wanted.gpu, gpu_count=wanted.gpu_count)
    ladder = _rentable(context, price(spec, order.policy, command, context.lookups, precision_of(reading.analysis)))
    is_image_free = wanted.image is None and not wanted.profile and note.corrections.image is None
    template = template_for(context, order, reading, ladder) if is_image_free else None
    ladder = with_template(ladder, template)
    best = ladder.best
    if best is None:
        return nothing_fits(ladder)
    facts = {**_identity(order), "environment": name, "image": spec.environment.base_image or ""}
    setup = SetupRequest(spec.dependencies, folder_name(order.repository.full_name), spec.env, facts)
    refused = check_setup(setup)
    if refused is not None:
        return refused
    return _gate_spending(context, order, _Draft(name, wanted, spec, ladder, setup, survey, restore, template), best)


def _of_another_project(order: Order, wanted: Wanted, survey: Survey) -> EnvironmentRecord | None:
    """Return a machine of the pull request, in a terminal of its user, that runs for another project, where nobody has named this one.

    Which of several is meant moves with what is pushed and with the policy; no second machine is rented by that.
    """
    is_chosen = order.command.project or (order.note is not None and order.note.corrections.project)
    if is_chosen or not order.policy.project_folder or wanted.called != wanted.profile:
        return None
    number, login = order.pull_request_number, order.requester.login
    open_here = [each for each in survey.open_records if each.pull_request == number and each.profile == wanted.profile]
    mine = [each for each in open_here if number is not None or each.requester.login == login]
    return next((each for each in mine if each.project != order.project), None)


def logins_of(order: Order) -> tuple[str, ...]:
    """Return who is to be let in, the requester first."""
    return tuple(dict.fromkeys((order.requester.login, *order.command.share)))


def read_access(context: Context, order: Order) -> Access | Deny:
    """Return whom the machine will let in; asked where it is rented, or where the answer says that it would be."""
    return decide_access({login: context.forge.ssh_keys(login) for login in logins_of(order)})


@dataclass(frozen=True, slots=True)
class _Draft:
    name: str
    wanted: Wanted
    spec: EnvironmentSpec
    ladder: Ladder
    setup: SetupRequest
    survey: Survey
    restore: Rescue | None
    template: Template | None


def _gate_spending(
    context: Context, order: Order, draft: _Draft, best: Candidate
) -> UpPlan | AwaitsConfirmation | Deny:
    now = context.clock.now()
    lease = draft.wanted.lease or order.policy.lease
    survey, earlier = draft.survey, draft.survey.find(draft.name)
    gap = sweep_gap(survey.swept_at, order.policy, now)
    worst = worst_case(best.price_usd_per_hour, Lease(now, now + lease), order.policy, gap)
    records, open_records = survey.records, survey.open_records
    month = spending(survey.bills_usd(month_start(now)), open_records, order.policy, now)
    facts = SpendingFacts(
        requester=order.requester,
        price_usd_per_hour=best.price_usd_per_hour,
        lease=lease,
        worst_case_usd=worst.usd,
        month_usd=month.month_usd + month.committed_usd,
        open_records=open_records,
        unreadable=len(survey.entries) - len(records),
        last_sweep=survey.swept_at,
        oldest_claim=min((record.claimed_at for record in records), default=None),
        now=now,
        policy=order.policy,
        image=draft.spec.environment.base_image,
        machines=draft.spec.hardware.num_nodes,
        confirmed_usd_per_hour=order.confirmation.price_usd_per_hour if order.confirmation else None,
    )
    gate = spending_gate(facts)
    is_waiting = isinstance(gate, Deny) and gate.reason_code == WAITING and order.comment_id is not None
    if isinstance(gate, Deny) and not is_waiting:
        return gate
    if is_waiting:  # whoever confirms names the price of the best
        facts = replace(facts, confirmed_usd_per_hour=best.price_usd_per_hour)
    # What the cheapest may cost says nothing of those that are tried after it.
    affordable = tuple(c for c in draft.ladder.candidates if not isinstance(_gate_candidate(facts, c), Deny))
    plan = UpPlan(
        name=draft.name,
        project=order.project,
        sha=order.pull_request.head_sha,
        spec=draft.spec,
        ladder=replace(draft.ladder, candidates=affordable),
        lease=lease,
        worst_case=worst,
        month_usd=month.month_usd,
        setup=draft.setup,
        identity=_identity(order),
        survey=survey,
        restore=draft.restore,
        template=draft.template,
        # A new life of the name must not forget that it was said.
        budget_noticed_at=earlier.record.budget_noticed_at if isinstance(earlier, Entry) else None,
    )
    return AwaitsConfirmation(gate, best, plan) if isinstance(gate, Deny) else plan


def _gate_candidate(facts: SpendingFacts, candidate: Candidate) -> Gate:
    price_usd_per_hour = candidate.price_usd_per_hour
    gap = sweep_gap(facts.last_sweep, facts.policy, facts.now)
    worst = worst_case(price_usd_per_hour, Lease(facts.now, facts.now + facts.lease), facts.policy, gap)
    return spending_gate(replace(facts, price_usd_per_hour=price_usd_per_hour, worst_case_usd=worst.usd))


def _identity(order: Order) -> dict[str, str]:
    """Return what programs on the machine are told about where they run."""
    number = order.pull_request_number
    return {
        "repository": order.repository.full_name,
        "sha": order.pull_request.head_sha,
        **({"pull_request": str(number)} if number else {}),
    }


def _require_credentials(context: Context, order: Order) -> None:
    if any(cloud in context.settings.clouds for cloud in order.policy.clouds):
        return
    secrets = " or ".join(f"`{CLOUD_SECRETS[cloud]}`" for cloud in order.policy.clouds if cloud in CLOUD_SECRETS)
    raise OperatorError(
        "cloud_secret_missing",
        "No cloud account is connected to this repository.",
        why="A machine is rented with the repository's own cloud account.",
        fix=f"A maintainer adds the repository secret {secrets} and passes it to the gpu-lol workflow.",
    )


def _rentable(context: Context, ladder: Ladder) -> Ladder:
    """Leave the candidates on clouds for which a credential is at hand."""
    return replace(ladder, candidates=tuple(c for c in ladder.candidates if c.offer.cloud in context.settings.clouds))


def _with_profile(reading: Reading, profile: str) -> EnvironmentSpec | Deny:
    spec = reading.asked
    if not profile:
        return spec
    if profile in spec.profiles:
        return spec.profiles[profile]
    runs = () if reading.analysis.is_from_file else (run.name for run in reading.analysis.profiles if run.gpu_count)
    names = tuple(dict.fromkeys((*spec.profiles, *runs)))
    known = nearest(profile, names) or names
    whose = f"`{reading.analysis.spec_place}`" if reading.analysis.is_from_file else "The proposal"
    return Deny(
        "unknown_profile",
        f"there is no profile `{profile}`",
        f"{whose} has {', '.join(f'`{name}`' for name in known) if known else 'no profiles'}.",
        f"/gpu-lol up {known[0]}" if known else "/gpu-lol up",
    )


def _saved_work(order: Order, name: str, last: Entry | None) -> Rescue | Deny | None:
    """Return what ``--restore`` puts back; it was encrypted to one person, and goes to nobody else by this door either."""
    if not order.command.is_restoring:
        return None
    if last is None or last.record.rescue is None or not last.record.rescue.is_kept:
        return Deny(
            "nothing_saved",
            f"nothing was saved from the last machine of `{name}`",
            "work is saved before a planned end, where there is any that would be lost.",
            "/gpu-lol up",
        )
    owner = last.record.requester
    if not is_same_person(owner, order.requester):
        return Deny(
            "saved_for_another",
            f"what was saved from the last machine of `{name}` is {owner.login}'s",
            f"{owner.login} can bring it back, and let you in with `--share {order.requester.login}`.",
            "/gpu-lol up",
        )
    return last.record.rescue


def _unreadable(name: str, why: str) -> Deny:
    return Deny(
        "record_held",
        f"the record of `{name}` cannot be read",
        f"its machine counts as running until it can ({why}).",
        "A maintainer looks at the ref `refs/gpu-lol/environments/" + name + "`.",
    )
