"""What several comments show, as view models: every number is already a string, every foreign text still raw.

Fields typed ``Safe`` are printed as they are. Fields typed ``str`` come from a repository, a person, a
cloud or a record, and a template has to choose the filter by which they enter.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from gpu_lol_action.domain.costs import cost_usd
from gpu_lol_action.domain.environment import Attempt, Check, CheckStatus, EnvironmentRecord, SshEndpoint, State
from gpu_lol_action.domain.folders import is_word
from gpu_lol_action.domain.records import record
from gpu_lol_action.render import formats
from gpu_lol_action.render.markdown import Safe, code
from gpu_lol_action.render.marker import build_marker

EMPTY = Safe("")
_HOST_KEY = re.compile(r"[a-z0-9@.-]{1,60} [A-Za-z0-9+/]{1,2000}={0,2}")


@record(frozen=True, slots=True)
class ReplyTo:
    """The comment that is answered: makes the marker of the answer its own, so that it is posted only once."""

    pull_request: int
    comment_id: int


@record(frozen=True, slots=True)
class BillingView:
    """The last line of each comment: ``kind`` chooses the sentence in ``_billing.md.j2``."""

    kind: str
    name: str = ""
    price: Safe = EMPTY
    so_far: Safe = EMPTY
    by_then: Safe = EMPTY
    ends: Safe = EMPTY
    count: Safe = EMPTY


NOTHING_LAUNCHED = BillingView("nothing_launched")
NOTHING_RUNNING = BillingView("nothing_running")
NONE_RUNNING = BillingView("none_running")
UNSEEN = BillingView("unseen")


def billing_view(record: EnvironmentRecord | None, now: datetime) -> BillingView:
    """Return what is billing now on account of this record; an unknown state counts as running."""
    if record is None:
        return NOTHING_LAUNCHED
    if not record.is_open:
        return NOTHING_RUNNING if record.pull_request is not None else NONE_RUNNING
    if record.price_usd_per_hour is None or record.launch_asked_at is None:
        is_waiting = record.state in {State.CLAIMED, State.LAUNCHING, State.ENDING}
        return BillingView("not_yet" if is_waiting else "unknown_price", name=record.name)
    kinds = {State.ENDING: "ending", State.UNKNOWN: "unknown"}
    return BillingView(
        kinds.get(record.state, "running"),
        name=record.name,
        price=formats.usd_per_hour(record.price_usd_per_hour),
        so_far=formats.usd(record.cost_so_far_usd(now)),
        by_then=formats.usd(cost_until_lease_end_usd(record, now)),
        ends=formats.clock(record.lease.expires_at, now),
    )


def total_billing_view(
    records: Sequence[EnvironmentRecord], now: datetime, unreadable: int = 0, none: BillingView = NONE_RUNNING
) -> BillingView:
    """Return what is billing now over several records; ``none`` is said where nothing is."""
    running = [record for record in records if record.is_open]
    if not running and not unreadable:
        return none
    if len(running) == 1 and not unreadable:
        return billing_view(running[0], now)
    price = sum((record.price_usd_per_hour or Decimal(0) for record in running), Decimal(0))
    return BillingView(
        "total_unreadable" if unreadable else "total",
        count=formats.plural(len(running), "machine"),
        price=formats.usd_per_hour(price),
        so_far=formats.usd(sum((record.cost_so_far_usd(now) for record in running), Decimal(0))),
    )


def cost_until_lease_end_usd(record: EnvironmentRecord, now: datetime) -> Decimal:
    """Cost when the lease is used to its end (or what it has cost already, when that is past)."""
    so_far = record.cost_so_far_usd(now)
    if record.price_usd_per_hour is None or record.launch_asked_at is None:
        return so_far
    span = record.lease.expires_at - record.launch_asked_at
    return max(so_far, record.earlier_cost_usd + cost_usd(record.price_usd_per_hour, span))


@record(frozen=True, slots=True)
class MachineView:
    """One environment's machine: ``label`` is ``1 × A100-80GB``, ready for use."""

    name: str
    label: Safe
    price: Safe
    cloud: str
    region: str
    sha: Safe
    requester: str
    state: Safe
    profile: str
    is_rehearsal: bool
    is_spot: bool = False
    up: str = "/gpu-lol up"
    """What rents such a machine again."""


def machine_view(record: EnvironmentRecord) -> MachineView:
    """Return how a machine is named in sentences."""
    price = record.price_usd_per_hour
    return MachineView(
        name=record.name,
        label=accelerator_label(record.accelerator, record.accelerator_count),
        price=formats.usd_per_hour(price) if price is not None else Safe("no price yet"),
        cloud=formats.cloud_name(record.cloud or "no cloud yet"),
        region=record.region or "",
        sha=short_sha(record.sha),
        requester=record.requester.login,
        state=Safe("waiting" if record.is_waiting else record.state.value),
        profile=record.label,
        is_rehearsal=record.is_rehearsal,
        is_spot=record.use_spot,
        up=up_command(record.project),
    )


def up_command(project: str) -> str:
    """Return the command that rents a machine for a project; of a folder that no command can name it is the bare one."""
    return f"/gpu-lol up --project {project}" if project and is_word(project) else "/gpu-lol up"


def accelerator_label(accelerator: str | None, count: int) -> Safe:
    """Return ``1 × A100-80GB``, or ``a machine without GPU``."""
    if not accelerator or count == 0:
        return Safe("a machine without GPU")
    return Safe(f"{count} × {escape_name(accelerator)}")


def machines_label(accelerator: str, count: int, machines: int) -> Safe:
    """Return ``2 machines of 8 × A100-80GB``; of one the machine alone."""
    label = accelerator_label(accelerator, count)
    return Safe(f"{machines} machines of {label}") if machines > 1 else label


def escape_name(name: str) -> Safe:
    """Return a short foreign name as it is where it is plain, else as a code span."""
    is_plain = name.replace("-", "").replace(".", "").isalnum() and name.isascii() and len(name) <= 60
    return Safe(name) if is_plain else code(name, 60)


def short_sha(sha: str) -> Safe:
    """Return the first seven digits of a commit as a code span."""
    return code(sha[:7])


@record(frozen=True, slots=True)
class AttemptView:
    """One offer that was tried; ``is_taken`` marks the one that answered with a machine."""

    number: Safe
    offer: Safe
    cloud: str
    answer: str
    took: Safe
    is_taken: bool


def attempt_views(attempts: Sequence[Attempt]) -> tuple[AttemptView, ...]:
    """Return the offers tried, in order."""
    return tuple(
        AttemptView(
            number=Safe(str(number)),
            offer=Safe(
                f"{accelerator_label(each.accelerator, each.accelerator_count)} {formats.usd_per_hour(each.price_usd_per_hour)}"
            ),
            cloud=formats.cloud_name(each.cloud),
            answer=_attempt_answer(each),
            took=formats.seconds(each.seconds),
            is_taken=each.answer == "launched",
        )
        for number, each in enumerate(attempts, 1)
    )


def _attempt_answer(attempt: Attempt) -> str:
    if attempt.answer == "launched":
        return ", ".join(filter(None, (attempt.region, attempt.detail))) or "launched"
    words = attempt.answer.replace("_", " ")
    return f"{words}: {attempt.detail}" if attempt.detail and attempt.detail != words else words


@record(frozen=True, slots=True)
class CheckView:
    """One check of the validator with its mark."""

    name: str
    mark: Safe
    sentence: str
    fix: str
    is_failed: bool
    is_stand_in: bool


_CHECK_MARKS = {CheckStatus.PASSED: Safe("✅"), CheckStatus.FAILED: Safe("❌"), CheckStatus.NOTED: Safe("\u2139\ufe0f")}


def check_views(checks: Sequence[Check]) -> tuple[CheckView, ...]:
    """Return the checks in the validator's order."""
    return tuple(
        CheckView(
            name=check.name,
            mark=_CHECK_MARKS[check.status],
            sentence=check.sentence,
            fix=check.fix,
            is_failed=check.status is CheckStatus.FAILED,
            is_stand_in=check.is_stand_in,
        )
        for check in checks
    )


def passed_of(checks: Sequence[Check]) -> Safe:
    """Return ``6 of 6``: checks passed (or merely noted) of all."""
    good = sum(check.status is not CheckStatus.FAILED for check in checks)
    return Safe(f"{good} of {len(checks)}")


@record(frozen=True, slots=True)
class SshView:
    """How to log in: whole commands as raw text for a fence, the fingerprint as a code span."""

    command: str
    config: str
    known_hosts: str
    fingerprint: Safe | None
    folder: str


def ssh_view(endpoint: SshEndpoint, alias: str, folder: str) -> SshView:
    """Return the login command and blocks for files; values from a cloud are quoted for the shell that reads them."""
    host, user = one_word(endpoint.host), one_word(endpoint.user)
    config = [
        f"Host {one_word(alias)}",
        f"    HostName {host}",
        f"    Port {endpoint.port}",
        f"    User {user}",
        "    IdentityFile ~/.ssh/id_ed25519",
        "    IdentitiesOnly yes",
    ]
    key = endpoint.host_key if endpoint.host_key and _HOST_KEY.fullmatch(endpoint.host_key) else ""
    return SshView(
        command=f"ssh -p {endpoint.port} -o IdentitiesOnly=yes -i ~/.ssh/id_ed25519 {user}@{host}",
        config="\n".join(config),
        known_hosts=f"[{host}]:{endpoint.port} {key}" if key else "",
        fingerprint=_fingerprint(key),
        folder=folder,
    )


def one_word(text: str) -> str:
    """Return text that cannot end its line or its word, in a shell or in ``ssh_config``."""
    return (
        "".join(character for character in text if (character.isascii() and character.isalnum()) or character in "-._:")
        or "unknown"
    )


def _fingerprint(key: str) -> Safe | None:
    """Return ``SHA256:...`` as OpenSSH prints it: unpadded base64 of the digest of the key blob."""
    blob = key.partition(" ")[2]
    if not blob:
        return None
    try:
        digest = hashlib.sha256(base64.b64decode(blob, validate=True)).digest()
    except (binascii.Error, ValueError):
        return None
    return code(f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}")


def environment_marker(record: EnvironmentRecord, of: str | None = None) -> Safe:
    """Return the marker of a comment about one environment; state and run make each of its moments its own.

    ``of`` tells apart what is said of the same moment: a certificate has none.
    """
    return build_marker(
        "environment", pr=record.pull_request, name=record.name, state=record.state.value, run=record.run_id, of=of
    )


def reply_marker(reply_to: ReplyTo | None, what: str) -> Safe:
    """Return the marker of an answer to a command."""
    if reply_to is None:
        return build_marker("reply", what=what)
    return build_marker("reply", pr=reply_to.pull_request, to=reply_to.comment_id, what=what)
