"""Reading SkyPilot's words: what a streamed line means for a person, and why a launch gave no machine.

Pure. SkyPilot wraps what a cloud said in exceptions of its own, and on RunPod any refusal of an order looks like missing
capacity (facts: each of the catalog's regions is asked, and each answer is in ``failover_history``), so the texts decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from decimal import Decimal, InvalidOperation

from gpu_lol_action.domain.machine import Machine, NotLaunched

_DETAIL_LIMIT = 200
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|<rich_[^>]*>|</?rich[^>]*>")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")

# In the order in which they are believed: a wrong key or an empty account explains the other failures. The last row is what
# a bare status says where no word does: GCP answers 403 to a used-up quota too.
_WORDS: Sequence[tuple[str, re.Pattern[str]]] = tuple(
    (kind, re.compile("|".join(patterns), re.IGNORECASE))
    for kind, patterns in (
        (
            "credentials",
            (
                r"(?<!access is )\bunauthorized\b|UnauthorizedOperation|not authorized|AuthorizationFailed|\bunauthenticated\b",
                r"\bforbidden\b|permission[ _]denied|access ?denied",
                r"invalid[- ]api[- ]key|api key (?:was|is) invalid|no api key|invalid user key|authentication|AuthFailure",
                r"InvalidClientTokenId|SignatureDoesNotMatch|ExpiredToken|RequestExpired|invalid cloud credentials",
            ),
        ),
        (
            "no_balance",
            (
                r"balance|insufficient[ _]funds|insufficient[ _]credit|lacks credit|add (?:more )?(?:funds|credit)|out of credits?",
                r"payment|billing|account[- ](?:is )?inactive|ReadOnlyDisabledSubscription",
            ),
        ),
        (
            "quota",
            (
                r"quota|limit ?exceeded|exceed(?:s|ed)? (?:the |your )?(?:limit|maximum)|spend(?:ing)? limit|vcpulimit",
                r"count ?exceeded|too many instances",
            ),
        ),
        (
            "no_capacity",
            (
                r"no longer any instances|no instances? (?:currently )?available|not enough (?:free )?|capacity|no resources",
                r"out of stock|sold out|does not have (?:the|enough) resources|(?:resource[ _])?pool[ _]exhausted|resource_exhausted",
                r"(?<!service )(?<!service temporarily )unavailable|SkuNotAvailable|not available in|AllocationFailed|Overconstrained",
                r"insufficient[- ](?:instance|capacity|resources)|not find an offer|no_such_ask|NotEnoughResources",
                r"price is lower than|PriceTooLow|not found or access is unauthorized",
            ),
        ),
        ("credentials", (r"\b401\b|\b403\b",)),
    )
)
# Asked too often: says nothing about machine or account, though some of it reads like a limit.
_THROTTLED = re.compile(
    r"rate[ -]?limit|RequestLimitExceeded|Request limit exceeded|rate_exceeded|throttl|too many requests|\b429\b",
    re.IGNORECASE,
)
_INVALID_TYPES = frozenset(
    {
        "InvalidClusterNameError",
        "InvalidSkyPilotConfigError",
        "NotSupportedError",
        "UserRequestRejectedByPolicy",
    }
)
_ANSWER = re.compile(
    r"(?:run_instances error|Failed to (?:launch|create) instances?|Got an unparsed error):\s*(?P<words>.+)"
    r"|(?P<aws>An error occurred \([\w.]+\).*)"
)

_PROGRESS: Sequence[tuple[re.Pattern[str], str]] = (
    (re.compile(r"Launching on (?P<where>.+?)\.?$"), "asking {where} for the machine"),
    (re.compile(r"Instance is up"), "the machine answers on SSH; setting up SkyPilot's runtime"),
    (re.compile(r"Cluster launched"), "the runtime is up"),
    (re.compile(r"Syncing files"), "finishing"),
    (re.compile(r"Trying other potential resources"), "not there; trying the next region"),
)


def clean_line(text: str, secrets: Iterable[str] = ()) -> str:
    """Return one line that is safe to print: no escapes, no control or direction characters, no secret."""
    plain = _CONTROLS.sub(" ", _ESCAPES.sub("", text)).strip()
    for secret in secrets:
        if secret:
            plain = plain.replace(secret, "***")
    return " ".join(plain.split())


def describe_progress(line: str, secrets: Iterable[str] = ()) -> str | None:
    """Return what a streamed line of SkyPilot means for somebody who waits, or None when it means nothing to them."""
    plain = clean_line(line, secrets)
    for pattern, words in _PROGRESS:
        match = pattern.search(plain)
        if match:
            return words.format(**match.groupdict())
    return None


def find_answer(line: str) -> str | None:
    """Return what a cloud answered to an order, where a streamed line holds it.

    SkyPilot's exception names the regions that failed and not why; its log, which it streams, has the cloud's own words.
    """
    match = _ANSWER.search(clean_line(line))
    return (match["words"] or match["aws"]).strip() if match else None


def classify_problem(
    problem: Mapping[str, object], answers: Sequence[str] = (), secrets: Iterable[str] = ()
) -> NotLaunched:
    """Return why there is no machine, from an exception that the worker described and the ``answers`` seen in the stream.

    It is certain that no machine is left where nothing was asked of the cloud, or where every answer of the cloud was a
    refusal that it gives instead of a machine. An exception of Python's own tells that only before SkyPilot was asked to
    launch (``is_asked``): afterwards, a server that broke off and a machine that answers oddly look like it too.
    """
    types = {str(name) for name in _items(problem.get("types"))}
    history = [str(item.get("text") or "") for item in _items(problem.get("history")) if isinstance(item, Mapping)]
    text = str(problem.get("text") or "")
    if "NoCloudAccessError" in types:
        return NotLaunched("credentials", "no allowed cloud accepted its key", is_certain=True)
    is_asked = problem.get("is_asked") is not False
    if types & _INVALID_TYPES and not history and not answers:
        return NotLaunched("invalid", shorten(clean_line(text, secrets)), is_certain=True)
    if types & {"ValueError", "TypeError"} and not is_asked:
        return NotLaunched("invalid", shorten(clean_line(text, secrets)), is_certain=True)
    if "ResourcesUnavailableError" in types and not history and not answers:
        # SkyPilot's catalog has nothing of the kind: it says so before it asks any cloud.
        return NotLaunched("invalid", shorten(clean_line(_first_sentence(text), secrets)), is_certain=True)
    said = list(answers) or history or [text]
    kinds = [_word_kind(words) for words in said]
    kind = next((kind for kind, _ in _WORDS if kind in kinds), "failed")
    telling = next((words for words, its_kind in zip(said, kinds, strict=True) if (its_kind or "failed") == kind), text)
    is_refusal = len(answers) >= len(history) > 0 and None not in kinds
    where = f" (in each of {len(history)} regions)" if len(history) > 1 and len(set(said)) == 1 else ""
    detail = shorten(clean_line(telling, secrets), _DETAIL_LIMIT - len(where)) + where
    return NotLaunched(kind, detail, is_certain=is_refusal or not is_asked)


def _first_sentence(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), text)


def _word_kind(text: str) -> str | None:
    if _THROTTLED.search(text):
        return None
    return next((kind for kind, pattern in _WORDS if pattern.search(text)), None)


def shorten(text: str, limit: int = _DETAIL_LIMIT) -> str:
    """Return the text cut to a limit, with an ellipsis where something is gone."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def parse_machine(cloud: str, listed: Mapping[str, object]) -> Machine:
    """Return a machine from a worker's listing. Fields that a provider leaves out, or that cannot be read, are None.

    The name is SkyPilot's name on the cloud: the provider's, without the role that SkyPilot appends.
    """
    return Machine(
        cloud=cloud,
        name_on_cloud=re.sub(r"-(?:head|worker)$", "", str(listed.get("name") or "")),
        status=shorten(clean_line(str(listed.get("status") or "UNKNOWN")), 40),
        machine_id=shorten(clean_line(str(listed.get("id") or "")), 80),
        created_at=_parse_since(listed),
        price_usd_per_hour=parse_price(listed.get("price")),
    )


def _parse_since(listed: Mapping[str, object]) -> datetime | None:
    since = listed.get("since")
    if isinstance(since, (int, float)):
        return datetime.fromtimestamp(since, timezone.utc)
    match = re.search(
        r"Rented by User: \w{3} (\w{3} \d{1,2} \d{4} \d\d:\d\d:\d\d) GMT([+-]\d{4})",
        str(listed.get("since_text") or ""),
    )
    if match is None:
        return None
    try:
        return datetime.strptime(" ".join(match.groups()), "%b %d %Y %H:%M:%S %z").astimezone(timezone.utc)
    except ValueError:
        return None


def parse_price(value: object) -> Decimal | None:
    """Return dollars an hour; None for what is no amount."""
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        return None
    return price if price.is_finite() and price >= 0 else None


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
