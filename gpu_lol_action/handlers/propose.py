"""The proposal: read head and base as data, price both, and keep one sticky comment up to date."""

from __future__ import annotations

from gpu_lol_action.domain.ledger import Survey
from gpu_lol_action.domain.policy import Policy
from gpu_lol_action.domain.request import Outcome, PullRequest, Repository
from gpu_lol_action.domain.spec_text import write_spec
from gpu_lol_action.errors import GpuLolError, SpecError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.reading import Reading, read_commit
from gpu_lol_action.handlers.teardown import month_usd
from gpu_lol_action.render import comments
from gpu_lol_action.render.marker import marker_prefix

PROPOSAL_PREFIX = marker_prefix("proposal")


def handle_propose(
    context: Context, repository: Repository, pull_request: PullRequest, policy: Policy, *, is_asked: bool = False
) -> Outcome:
    """Refresh the proposal of a pull request; ``is_asked``: by a person, so drafts and bots' PRs count too."""
    if not is_asked and pull_request.is_draft:
        return Outcome("ignored", "draft")
    if not is_asked and pull_request.author_is_bot:
        return Outcome("ignored", "author_is_bot")
    current = context.forge.pull_request(pull_request.number)
    if current.head_sha != pull_request.head_sha:
        # A newer run is on its way: an older one never writes over it.
        return Outcome("ignored", "head_moved")
    try:
        body = _proposal(context, repository, current, policy)
    except SpecError as error:
        body = comments.spec_error(error=error, pull_request=current, now=context.clock.now())
        put_sticky(context, current.number, body)
        error.is_told = True
        raise
    is_changed = put_sticky(context, current.number, body)
    return Outcome("done", "proposed" if is_changed else "proposal_unchanged", text=body)


def put_sticky(context: Context, number: int, body: str) -> bool:
    """Create or edit the one proposal comment, found by marker and author; return whether anything changed.

    A fork's pull request may have a token that cannot write: then the job summary has the text, and the outcome stands.
    """
    body = context.redact(body)
    try:
        existing = context.forge.find_comments(number, PROPOSAL_PREFIX)
        if not existing:
            context.forge.post_comment(number, body)
        elif existing[0].body.strip() == body.strip():
            return False
        else:
            context.forge.edit_comment(existing[0].comment_id, body)
    except GpuLolError as error:
        answers.warn_unposted(context, error)
    return True


def _proposal(context: Context, repository: Repository, pull_request: PullRequest, policy: Policy) -> str:
    is_fork = pull_request.is_fork(repository.full_name)
    head = read_commit(context, pull_request.head_sha, policy, is_fork=is_fork)
    base = _read_base(context, pull_request, policy, is_fork=is_fork)
    survey, now = context.ledger.survey(), context.clock.now()
    running = [record for record in survey.open_records if record.pull_request == pull_request.number]
    return comments.proposal(
        pull_request=pull_request,
        repository=repository,
        server_url=context.settings.server_url,
        analysis=head.analysis,
        ladder=head.ladder,
        base_sha=base.sha if base else None,
        base_analysis=base.analysis if base else None,
        base_ladder=base.ladder if base else None,
        policy=policy,
        month_usd=month_usd(survey, now),
        environment=running[0] if running else None,
        now=now,
        spec_yaml=write_spec(head.analysis.proposed),
        is_level_one=not context.settings.clouds and not _has_bot(survey),
    )


def _has_bot(survey: Survey) -> bool:
    """Whether commands work here: this job may hold no cloud secret while the bot's has one, and then it has swept."""
    return bool(survey.entries) or survey.swept_at is not None


def _read_base(context: Context, pull_request: PullRequest, policy: Policy, *, is_fork: bool) -> Reading | None:
    """Read what the pull request is compared with; a base that cannot be read leaves the comparison out."""
    try:
        base_sha = context.forge.merge_base(pull_request.base_sha, pull_request.head_sha)
        return read_commit(context, base_sha, policy, is_fork=is_fork)
    except GpuLolError as error:
        context.progress.line(f"no comparison with the base: {error.explanation.what}")
        return None
