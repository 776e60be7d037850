"""Why no offer gave a machine, from what the clouds answered: whose turn it is, and what they can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu_lol_action.domain.environment import Attempt

_NAMES = {"runpod": "RunPod", "lambda": "Lambda", "vast": "Vast", "aws": "AWS", "gcp": "GCP", "azure": "Azure"}

# Where a maintainer mends it: the page of the cloud's own console, or its front door where the pages move about.
_CONSOLES: Mapping[str, Mapping[str, str]] = {
    "runpod": {
        "credentials": "console.runpod.io/user/settings",
        "no_balance": "console.runpod.io/user/billing",
        "quota": "console.runpod.io/user/billing",
    },
    "lambda": dict.fromkeys(("credentials", "no_balance", "quota"), "cloud.lambda.ai"),
    "vast": {
        "credentials": "cloud.vast.ai/manage-keys/",
        "no_balance": "cloud.vast.ai/billing/",
        "quota": "cloud.vast.ai/billing/",
    },
    "aws": {
        "credentials": "console.aws.amazon.com/iam/",
        "no_balance": "console.aws.amazon.com/billing/",
        "quota": "console.aws.amazon.com/servicequotas/",
    },
    "gcp": {
        "credentials": "console.cloud.google.com/iam-admin",
        "no_balance": "console.cloud.google.com/billing",
        "quota": "console.cloud.google.com/iam-admin/quotas",
    },
}


@dataclass(frozen=True, slots=True)
class _Matter:
    """What is wrong with an account: the reason code, the sentence about it, and how it is mended."""

    reason_code: str
    sentence: str
    remedy: str


# In the order in which they explain each other: a key that is refused tells more than an account that is empty.
_MATTERS: Mapping[str, _Matter] = {
    "credentials": _Matter(
        "cloud_credentials_refused", "{cloud} refuses our key", "Make a new key{where}, and put it into the secret"
    ),
    "no_balance": _Matter("cloud_balance_empty", "{cloud}'s account has no balance", "Add credit{where}"),
    "quota": _Matter(
        "cloud_quota_used_up", "{cloud}'s quota is used up", "End what nobody needs, or ask {cloud} for more{where}"
    ),
}


@dataclass(frozen=True, slots=True)
class AccountRefusal:
    """What a maintainer has to look after, because no cloud rents us anything until then."""

    reason_code: str
    what: str
    why: str
    fix: str


def find_account_refusal(attempts: Sequence[Attempt]) -> AccountRefusal | None:
    """Return what to tell where each answer was about the account; None where another offer or day may have a machine."""
    if not attempts or not all(attempt.answer in _MATTERS for attempt in attempts):
        return None
    kinds = {attempt.answer for attempt in attempts}
    remedies = dict.fromkeys(_remedy(attempt) for attempt in attempts)
    said = dict.fromkeys(f"{_name(attempt.cloud)}: {attempt.detail}" for attempt in attempts if attempt.detail)
    return AccountRefusal(
        _MATTERS[kinds.pop()].reason_code if len(kinds) == 1 else "cloud_account_refused",
        f"A maintainer must look after the cloud account: {'; '.join(account_troubles(attempts))}.",
        " ".join(f"{words.rstrip('.')}." for words in said),
        f"{' '.join(remedies)} Then give the command again.",
    )


def account_troubles(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """Return a sentence for each cloud that refuses our account, as ``RunPod's account has no balance``."""
    matters = (_MATTERS[each.answer].sentence.format(cloud=_name(each.cloud)) for each in attempts if is_account(each))
    return tuple(dict.fromkeys(matters))


def is_account(attempt: Attempt) -> bool:
    """Whether this answer is about our account, so that no other offer of its cloud can have another."""
    return attempt.answer in _MATTERS


def name_outcome(attempts: Sequence[Attempt]) -> str:
    """Return the reason code of a ladder without a machine: one offer without capacity may have one soon."""
    answers = {attempt.answer for attempt in attempts if not is_account(attempt)}
    if answers == {"timed_out"}:
        return "launch_timed_out"
    if answers and "no_capacity" not in answers:
        return "launch_failed"
    return "no_capacity"


def _remedy(attempt: Attempt) -> str:
    page = _CONSOLES.get(attempt.cloud, {}).get(attempt.answer)
    where = f" at `{page}`" if page else ""
    return _MATTERS[attempt.answer].remedy.format(cloud=_name(attempt.cloud), where=where) + "."


def _name(cloud: str) -> str:
    return _NAMES.get(cloud, cloud)
