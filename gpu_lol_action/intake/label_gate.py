"""What a label stands for, and whether it may: only where who set it can have seen the commit that it was set on."""

from __future__ import annotations

from datetime import timedelta

from gpu_lol_action.domain.label import LabelWord
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Allow, Command, Deny, Gate, Ignore, PullRequestLabeled

SEEN_AFTER = timedelta(minutes=5)
"""How long a fork has to have been left alone before a label on its head counts: who sets it looks at a page that was loaded
some time before, and does not see there what was pushed meanwhile."""


_BOT = Ignore("author_is_bot", "bots do not command machines")
_NEEDLESS = Ignore("label_needless", "on a branch of this repository `/gpu-lol smoke` needs no commit, and no label")
_ANOTHERS = Ignore("label_not_ours", "the policy names no such label under `smoke.label`")


def needless(event: PullRequestLabeled) -> Ignore | None:
    """Return why a label means nothing whatever the policy says; None where the policy has to be asked."""
    if event.actor_is_bot:
        return _BOT
    return None if event.pull_request.is_fork(event.repository.full_name) else _NEEDLESS


def read_label(event: PullRequestLabeled, policy: Policy) -> Command | Ignore:
    """Return the command that a label stands for, with the commit that was the head when it was set."""
    ignored = needless(event)
    if ignored is not None:
        return ignored
    if not policy.smoke_label or event.label.lower() != policy.smoke_label.lower():
        return _ANOTHERS
    return Command("smoke", f"label {event.label} by {event.actor.login}", sha=event.pull_request.head_sha)


def check_label(word: LabelWord, sha: str) -> Gate:
    """Refuse a label on a commit that may have been pushed while it was about to be set, or of which that is not known.

    A repository's last push says more than its commit's own date, which whoever makes a commit chooses. It is no earlier than
    the push of this head, and every later one counts against the label too: it may have moved the head there and back.
    """
    fix = f"Look at `{sha[:7]}` first; if it may run, paste:\n/gpu-lol smoke {sha}"
    if word.set_at is None:
        return Deny(
            "label_unproven",
            "GitHub does not say that and when you set this label",
            "without it nobody can tell what you had before you.",
            fix,
        )
    if word.pushed_at is None:
        return Deny(
            "label_unproven",
            "GitHub does not say when this fork was last pushed to",
            "a label names no commit: what was pushed a moment before it, you may not have seen.",
            fix,
        )
    if word.pushed_at > word.set_at - SEEN_AFTER:
        when = "shortly before" if word.pushed_at <= word.set_at else "after"
        return Deny(
            "push_unseen",
            f"this fork was pushed to {when} you set the label",
            f"pushed at {word.pushed_at:%H:%M:%S} UTC, labeled at {word.set_at:%H:%M:%S} UTC. A label names no commit, and what "
            f"was pushed less than {SEEN_AFTER // timedelta(minutes=1)} minutes before it, you may not have seen.",
            fix,
        )
    return Allow()
