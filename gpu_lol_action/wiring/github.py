"""GitHub as a run holds it: what it asks first, what it shows beside comments, the policy, and the count of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_lol_action.domain.policy import POLICY_PATH, Policy
from gpu_lol_action.domain.request import (
    CommentCreated,
    Event,
    PullRequestChanged,
    PullRequestClosed,
    PullRequestLabeled,
    Repository,
)
from gpu_lol_action.errors import UserError
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.ports_surfaces import Surfaces

if TYPE_CHECKING:
    from gpu_lol_action.adapters.github_first_look import Focus
    from gpu_lol_action.adapters.github_forge import GitHubForge


def policy_ref(repository: Repository) -> str:
    """Return the default branch in full: of a tag and a branch that share a name git takes the tag.

    And anybody who may push, though not to a protected branch, can make a tag.
    """
    return f"refs/heads/{repository.default_branch}"


def focus_of(event: Event, pinned_sha: str = "") -> Focus:
    """What a run is about: its first question to GitHub asks for all of it at once."""
    from gpu_lol_action.adapters.github_first_look import Focus

    number, nodes = 0, {}
    if isinstance(event, CommentCreated):
        number, nodes = event.pull_request_number, {event.comment_id: event.node_id}
    elif isinstance(event, PullRequestChanged | PullRequestClosed | PullRequestLabeled):
        number = event.pull_request.number
    # A proposal looks after it has read the code, right before it writes.
    is_at_once = not isinstance(event, PullRequestChanged)
    return Focus(number, POLICY_PATH, policy_ref(event.repository), is_at_once, pinned_sha, nodes)


def surfaces_of(forge: GitHubForge) -> Surfaces:
    """Return what GitHub shows beside comments; which of it this token may write, GitHub says when it is tried."""
    from gpu_lol_action.adapters.github_checks import GitHubChecks
    from gpu_lol_action.adapters.github_commits import GitHubCommits
    from gpu_lol_action.adapters.github_deployments import GitHubDeployments
    from gpu_lol_action.adapters.github_look import GitHubLook
    from gpu_lol_action.adapters.github_suggestions import GitHubSuggestions
    from gpu_lol_action.adapters.ledger_refs import GitRefStore
    from gpu_lol_action.adapters.proposal_notes import FOLDER, ProposalNotes

    client = forge.client
    return Surfaces(
        conversation=GitHubLook(client, forge.first_look),
        checks=GitHubChecks(client),
        deployments=GitHubDeployments(client),
        suggestions=GitHubSuggestions(client),
        commits=GitHubCommits(client),
        notes=ProposalNotes(GitRefStore(client, FOLDER, forge.refs)),
    )


def load_policy(context: Context, repository: Repository) -> Policy:
    """Read the default branch's policy; one that cannot be read stops everything but teardown and help."""
    # After the first reaction: reading YAML takes longer than that one needs.
    from gpu_lol_action.domain.policy_yaml import parse_policy

    try:
        return parse_policy(context.forge.read_file(POLICY_PATH, policy_ref(repository)))
    except UserError as error:
        # Too large or no text counts as wrong at a line does: whoever closes a pull request still ends its machine.
        return Policy(problem=" ".join(filter(None, (error.explanation.what, error.explanation.fix))))


def count_requests(context: Context) -> tuple[dict[str, int], str]:
    """Return how often each operation of GitHub's API was asked in this run, and one line that says so by kind."""
    from gpu_lol_action.adapters.github_budget import requests_line

    client = getattr(context.forge, "client", None)
    counts = dict(sorted(client.counts.items())) if client is not None else {}
    return counts, requests_line(counts, client.budget.left if client is not None else None)
