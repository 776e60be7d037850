"""What is thought of an installation: each thing that was looked at, whether it is well, and the exact fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpu_lol_action.domain.checkup import Account, CallerFacts, CheckupFacts, Diagnosis, Health, RefPlace
from gpu_lol_action.domain.durations import format_duration
from gpu_lol_action.domain.installation import MODEL_KEY, SECRETS
from gpu_lol_action.domain.permissions import (
    BOT,
    LEVELS,
    PROPOSE,
    PROPOSE_BY_COPILOT,
    PROPOSE_BY_MODEL,
    TokenPermission,
    block,
)
from gpu_lol_action.domain.policy import MAX_SWEEP_AGE, POLICY_PATH
from gpu_lol_action.intake.callers import find_callers

_SETS = {"propose": PROPOSE, "bot": BOT}
_FEW_REQUESTS = 200
_LOW_BALANCE_USD = 5
_TRIGGERS = {"propose": {"pull_request", "pull_request_target"}, "bot": {"issue_comment"}}


def diagnose(facts: CheckupFacts) -> tuple[Diagnosis, ...]:
    """Return what is thought of each thing, in the order in which somebody would mend them."""
    return tuple(
        one
        for part in (_token, _permissions, _workflows, _secrets, _policy, _refs, _sweeper, _skypilot, _accounts)
        for one in part(facts)
    )


def _token(facts: CheckupFacts) -> Iterator[Diagnosis]:
    subject, answer = "token", facts.repository
    if not facts.has_token:
        fix = "GH_TOKEN=$(gh auth token) gpu-lol doctor"
        yield Diagnosis(subject, Health.UNKNOWN, "There is none here, so GitHub was not asked.", fix)
    elif answer is None or not answer.is_answered:
        yield Diagnosis(subject, Health.UNKNOWN, "GitHub did not answer.", "Try again in a few minutes.")
    elif answer.status == 401:
        yield Diagnosis(subject, Health.BAD, "GitHub refuses it.", "Pass a token that is valid.")
    elif answer.status != 200:
        yield Diagnosis(subject, Health.BAD, "It cannot see this repository.", "Take one that may read it.")
    elif answer.requests_left is not None and answer.requests_left < _FEW_REQUESTS:
        sentence = f"It is accepted, but has only {answer.requests_left} requests left this hour."
        yield Diagnosis(subject, Health.NOTE, sentence, "The last ones are kept for ending machines; wait an hour.")
    else:
        left = f", with {answer.requests_left} requests left this hour" if answer.requests_left is not None else ""
        yield Diagnosis(subject, Health.GOOD, f"GitHub accepts it{left}.")


def _permissions(facts: CheckupFacts) -> Iterator[Diagnosis]:
    """Judge a workflow's token by GitHub's answers to requests that change nothing."""
    if facts.permissions is None:
        return
    lacking = [each for each in BOT if (answer := facts.permissions.get(each.name)) and answer.status == 403]
    required = [each for each in lacking if not each.is_optional]
    if required:
        said = {needs for each in required if (needs := facts.permissions[each.name].needs)}
        words = f" GitHub asks for {'; '.join(sorted(said))}." if said else ""
        sentence = f"The job's token lacks {_listed(required)}.{words}"
        yield Diagnosis("permissions", Health.BAD, sentence, block(each for each in BOT if not each.is_optional))
    unanswered = [name for name, answer in facts.permissions.items() if not answer.is_answered]
    if unanswered:
        sentence = f"GitHub did not answer about {', '.join(unanswered)}."
        yield Diagnosis("permissions", Health.UNKNOWN, sentence, "Try again in a few minutes.")
    elif not required:
        yield Diagnosis("permissions", Health.GOOD, "The job's token may do all that is needed.")
    for each in lacking:
        if each.is_optional:
            yield Diagnosis("permissions", Health.NOTE, f"Without `{each.line}` nobody sees {each.purpose}.", each.line)


def _workflows(facts: CheckupFacts) -> Iterator[Diagnosis]:
    if facts.checkout is None:
        return
    callers = find_callers(facts.checkout.workflows)
    if not callers:
        sentence = "No workflow in this checkout calls gpu-lol."
        yield Diagnosis("workflows", Health.BAD, sentence, "gpu-lol init")
    for caller in callers:
        yield from _judge_caller(caller)
    bots = [caller for caller in callers if caller.callee == "bot"]
    if facts.smoke_label and bots and not any(caller.hears_labels for caller in bots):
        sentence = f"The policy names the label {facts.smoke_label}, and {bots[0].path} is not started by labels."
        yield Diagnosis("workflows", Health.BAD, sentence, "pull_request_target: {types: [closed, labeled]}")
    if callers and all(caller.callee != "bot" for caller in callers):
        yield Diagnosis(
            "workflows", Health.NOTE, "Proposals only: no workflow calls bot.yml.", "gpu-lol init --level 2"
        )


def _judge_caller(caller: CallerFacts) -> Iterator[Diagnosis]:
    lacking = [each for each in _SETS[caller.callee] if not each.is_optional and not _grants(caller.permissions, each)]
    if lacking:
        # GitHub refuses to start a run whose called job asks for more than its caller has.
        end = "it fails" if caller.is_direct else "no run would start"
        sentence = f"{caller.path} does not grant {_listed(lacking)} to {caller.called}: {end}."
        needed = block(each for each in _SETS[caller.callee] if not each.is_optional)
        yield Diagnosis("workflows", Health.BAD, sentence, needed)
        return
    if not caller.triggers & _TRIGGERS[caller.callee]:
        wanted = " or ".join(sorted(_TRIGGERS[caller.callee]))
        yield Diagnosis("workflows", Health.BAD, f"{caller.path} is never started by {wanted}.", f"on: {wanted}")
    if caller.has_model and not _grants(caller.permissions, PROPOSE_BY_MODEL[0]):
        sentence = f"{caller.path} does not keep what the language model answers, so `up` asks it again."
        yield Diagnosis("workflows", Health.NOTE, sentence, PROPOSE_BY_MODEL[0].line)
    if caller.has_copilot and not _grants(caller.permissions, PROPOSE_BY_COPILOT[-1]):
        sentence = f"{caller.path} does not let its token ask GitHub Copilot, so proposals are the code's own."
        yield Diagnosis("workflows", Health.BAD, sentence, PROPOSE_BY_COPILOT[-1].line)
    if caller.callee == "bot":
        if not caller.has_schedule:
            sentence = f"{caller.path} has no schedule, so nothing sweeps."
            yield Diagnosis("workflows", Health.BAD, sentence, 'schedule: [{cron: "23 * * * *"}]')
        if "inherit" in caller.secrets:
            sentence = f"{caller.path} passes every secret of the repository."
            yield Diagnosis("workflows", Health.NOTE, sentence, "Pass the one by its name.")
        elif not caller.secrets & set(SECRETS.values()):
            fix = "secrets: {RUNPOD_API_KEY: ${{ secrets.RUNPOD_API_KEY }}}"
            yield Diagnosis("workflows", Health.BAD, f"{caller.path} passes no cloud's key.", fix)
    if len(caller.ref) != 40:
        sentence = f"{caller.path} calls {caller.called} at {caller.ref}, a name that can be moved."
        again = "gpu-lol init --level 2 --force" if caller.callee == "bot" else "gpu-lol init --force"
        fix = "Name the commit behind the @." if caller.is_direct else again
        yield Diagnosis("workflows", Health.NOTE, sentence, fix)
    yield Diagnosis("workflows", Health.GOOD, f"{caller.path} calls {caller.called} with what it needs.")


def _grants(granted: Mapping[str, str] | None, wanted: TokenPermission) -> bool:
    """Whether a job grants enough; one that names nothing takes the repository's setting, which is not known here."""
    if granted is None:
        return True
    level = granted.get(wanted.name, granted.get("*", "none"))
    return LEVELS.index(level if level in LEVELS else "none") >= LEVELS.index(wanted.level)


def _secrets(facts: CheckupFacts) -> Iterator[Diagnosis]:
    if facts.checkout is None or facts.secret_names is None:
        return
    passed = {name for caller in find_callers(facts.checkout.workflows) for name in caller.secrets} - {"inherit"}
    link = f"https://{facts.checkout.host}/{facts.checkout.full_name}/settings/secrets/actions/new"
    for name in sorted(passed):
        if name in facts.secret_names:
            yield Diagnosis("secrets", Health.GOOD, f"{name} is set.")
        elif name == MODEL_KEY:
            sentence = f"{name} is not among the repository's secrets: right for a language model that wants no key."
            yield Diagnosis("secrets", Health.NOTE, sentence, link)
        else:
            sentence = f"{name} is not among the repository's secrets (an organization's are not seen here)."
            yield Diagnosis("secrets", Health.BAD, sentence, link)


def _policy(facts: CheckupFacts) -> Iterator[Diagnosis]:
    if facts.policy_problem is not None:
        yield Diagnosis("policy", Health.BAD, facts.policy_problem, f"Correct {POLICY_PATH} on the default branch.")
    elif facts.is_policy_read:
        yield Diagnosis("policy", Health.GOOD, f"{POLICY_PATH} is valid, or absent, so that the defaults hold.")


def _refs(facts: CheckupFacts) -> Iterator[Diagnosis]:
    if facts.refs is RefPlace.CUSTOM:
        yield Diagnosis("ledger", Health.GOOD, f"Records can be written below {facts.refs.value}.")
    elif facts.refs is RefPlace.BRANCHES:
        sentence = f"This repository refuses {RefPlace.CUSTOM.value}; records are branches, {facts.refs.value}."
        yield Diagnosis("ledger", Health.NOTE, sentence, "Exclude gpu-lol/** from rules that restrict branches.")
    elif facts.refs is RefPlace.NOWHERE:
        sentence = f"No record can be written, so no machine can be rented: {facts.refs_why or 'GitHub refuses'}."
        fix = "Let the workflow write refs/gpu-lol/** (or refs/heads/gpu-lol/**) in the rulesets."
        yield Diagnosis("ledger", Health.BAD, sentence, fix)
    elif facts.refs_why:
        yield Diagnosis("ledger", Health.UNKNOWN, facts.refs_why)


def _sweeper(facts: CheckupFacts) -> Iterator[Diagnosis]:
    if not facts.is_ledger_read:
        return
    by_hand = "Run the workflow by hand once (Actions, gpu-lol bot, Run workflow), and look why its schedule stopped."
    if facts.last_sweep is None:
        yield Diagnosis("sweeper", Health.NOTE, "No sweep has succeeded here yet.", by_hand)
        return
    age = facts.now - facts.last_sweep
    sentence = f"The last sweep succeeded {format_duration(age)} ago."
    if age > MAX_SWEEP_AGE:
        late = f"{sentence} `up` refuses when it is over {format_duration(MAX_SWEEP_AGE)}."
        yield Diagnosis("sweeper", Health.BAD, late, by_hand)
    else:
        yield Diagnosis("sweeper", Health.GOOD, sentence)


def _skypilot(facts: CheckupFacts) -> Iterator[Diagnosis]:
    wanted = facts.skypilot_wanted
    if facts.skypilot and facts.skypilot == (wanted or facts.skypilot):
        yield Diagnosis("SkyPilot", Health.GOOD, f"Version {facts.skypilot} is installed.")
    elif facts.skypilot is None:
        health = Health.BAD if facts.is_job else Health.NOTE
        fix = f"pip install 'gpu-lol-action[cloud]'   (SkyPilot {wanted})"
        yield Diagnosis("SkyPilot", health, "It is not installed here: proposals work, machines do not.", fix)
    else:
        sentence = f"Version {facts.skypilot} is installed; only {wanted} is tried."
        yield Diagnosis("SkyPilot", Health.BAD, sentence, f"pip install skypilot=={wanted}")


def _accounts(facts: CheckupFacts) -> Iterator[Diagnosis]:
    if not facts.accounts:
        where = "passed to this job" if facts.is_job else "in this terminal's environment"
        names = " or ".join(f"`{name}`" for name in SECRETS.values())
        health = Health.BAD if facts.is_job else Health.NOTE
        yield Diagnosis("cloud", health, f"No cloud's key is {where}.", f"Set {names}.")
    for cloud, account in facts.accounts.items():
        yield _judge_account(cloud, account)


def _judge_account(cloud: str, account: Account | str) -> Diagnosis:
    name = SECRETS.get(cloud, cloud)
    if isinstance(account, str):
        return Diagnosis(cloud, Health.UNKNOWN, f"It could not be asked: {account}.", "Try again in a few minutes.")
    if not account.is_accepted:
        return Diagnosis(cloud, Health.BAD, "It refuses the key.", f"Put a valid key into `{name}`.")
    if account.balance_usd is None:
        return Diagnosis(cloud, Health.GOOD, "It accepts the key; it does not tell its balance.")
    spends = f", ${account.spend_usd_per_hour:.2f}/h running" if account.spend_usd_per_hour else ", nothing running"
    sentence = f"It accepts the key. Balance ${account.balance_usd:.2f}{spends}."
    if account.balance_usd < _LOW_BALANCE_USD:
        return Diagnosis(
            cloud, Health.BAD, sentence, "Add money: a machine ends where the balance does, and with it what is on it."
        )
    return Diagnosis(cloud, Health.GOOD, sentence)


def _listed(permissions: list[TokenPermission]) -> str:
    return " and ".join(f"`{each.line}`" for each in permissions)


def is_well(diagnoses: tuple[Diagnosis, ...]) -> bool:
    """Whether nothing is wrong."""
    return all(one.health is not Health.BAD for one in diagnoses)
