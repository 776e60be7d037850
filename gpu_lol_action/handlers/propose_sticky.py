"""Keep one sticky comment: found by marker and author, never written over by an older run, never twice for long."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from gpu_lol_action.domain.request import Posted, PullRequest
from gpu_lol_action.domain.surfaces import Standing
from gpu_lol_action.errors import GpuLolError
from gpu_lol_action.handlers import answers
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.handlers.surfaces import attempt
from gpu_lol_action.render import comments
from gpu_lol_action.render.marker import marker_prefix
from gpu_lol_action.render.sticky import Edit, Yield, place_sticky

PROPOSAL_PREFIX = marker_prefix("proposal")
MAX_LOOK_AGE = timedelta(seconds=3)
"""What was seen longer ago is looked at again before writing: a run for a newer commit needs far longer than that from
its push to its comment, so that within this time none can have come between."""


class Sticky(enum.Enum):
    """What became of a body."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    OVERTAKEN = "overtaken"
    UNPOSTED = "unposted"


@dataclass(frozen=True, slots=True)
class Look:
    """How the pull request stood, and when; ``problem`` where it could not be seen, and then nothing may be written."""

    number: int
    standing: Standing
    at: datetime
    problem: GpuLolError | None = None


def look(context: Context, number: int, *, is_final: bool) -> Look:
    """Look at a pull request and our proposals on it, in one question where the token can ask it so."""
    conversation = context.surfaces.conversation if context.surfaces else None
    at = context.clock.now()
    standing = conversation.standing(number, PROPOSAL_PREFIX, is_final=is_final) if conversation else None
    if standing is None:
        ours = tuple(context.forge.find_comments(number, PROPOSAL_PREFIX))
        pull = context.forge.pull_request(number)
        me = ours[0].author if ours else ""
        standing = Standing(pull.head_sha, pull.is_draft, pull.state == "open", may_modify=False, me=me, comments=ours)
    return Look(number, standing, at)


def try_look(context: Context, pull_request: PullRequest, *, is_final: bool) -> Look:
    """Look, or return why that was not possible: the text is then told in the run's summary alone."""
    try:
        return look(context, pull_request.number, is_final=is_final)
    except GpuLolError as error:
        unseen = Standing(
            pull_request.head_sha, pull_request.is_draft, is_open=False, may_modify=False, me="", comments=()
        )
        return Look(pull_request.number, unseen, context.clock.now(), error)


def put_sticky(context: Context, seen: Look, body: str) -> Sticky:
    """Write the proposal where it belongs, unless a newer commit or a newer run has overtaken this one.

    A fork's pull request may have a token that cannot write: then the job summary has the text, and the outcome stands.
    """
    body = answers.fitted(context, body)
    try:
        if seen.problem is not None:
            raise seen.problem
        if context.clock.now() - seen.at > MAX_LOOK_AGE:
            fresh = look(context, seen.number, is_final=False)
            if fresh.standing.head_sha != seen.standing.head_sha:
                return Sticky.OVERTAKEN
            seen = fresh
        ours = seen.standing.comments
        return _place(context, seen.number, ours, body) if ours else _post(context, seen.number, body)
    except GpuLolError as error:
        answers.warn_unposted(context, error)
        return Sticky.UNPOSTED


def _place(context: Context, number: int, ours: Sequence[Posted], body: str) -> Sticky:
    """Write over the first of ours what is newer and different, and leave a pointer in the others."""
    place = place_sticky(ours, body)
    if isinstance(place, Yield):
        return Sticky.OVERTAKEN
    if isinstance(place, Edit):
        context.forge.edit_comment(place.comment.comment_id, body)
    _supersede(context, number, ours)
    return Sticky.WRITTEN if isinstance(place, Edit) else Sticky.UNCHANGED


def _post(context: Context, number: int, body: str) -> Sticky:
    """Post the first proposal, and look back once: another first run may have done so in the same moment.

    Of two, the newer run puts them together; the older one leaves that to it.
    """
    context.forge.post_comment(number, body)
    try:
        ours = look(context, number, is_final=False).standing.comments
        if len(ours) > 1:
            _place(context, number, ours, body)
    except GpuLolError as error:
        # The next run finds both.
        context.progress.line(f"whether there are two proposals now could not be seen: {error.explanation.what}")
    return Sticky.WRITTEN


def _supersede(context: Context, number: int, ours: Sequence[Posted]) -> None:
    """Leave in each proposal but the first where the first is, and fold it away."""
    conversation = context.surfaces.conversation if context.surfaces else None
    for extra in ours[1:]:
        context.forge.edit_comment(extra.comment_id, comments.superseded(pull_request=number, url=ours[0].html_url))
        if conversation is not None and extra.node_id:
            hide = partial(conversation.hide, extra.node_id)
            attempt(context, "folding a second proposal away", "pull-requests: write", hide)
