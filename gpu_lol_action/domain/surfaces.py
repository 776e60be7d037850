"""What is shown beside comments: check runs, annotations, suggestions, deployments, and how a conversation stands."""

from __future__ import annotations

import enum

from gpu_lol_action.domain.annotation import Annotation
from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.request import Posted


class Conclusion(enum.Enum):
    """How a check run ends. A proposal never fails one, because it is no test; a smoke test is."""

    NEUTRAL = "neutral"
    SUCCESS = "success"
    FAILURE = "failure"
    ACTION_REQUIRED = "action_required"


@record(frozen=True, slots=True)
class CheckReport:
    """What the check run of one commit says; ``summary`` is Markdown.

    ``name`` is what it is called among the commit's checks. ``is_first``: nobody has reported on this commit yet, so that none has to be looked for.
    """

    sha: str
    conclusion: Conclusion
    title: str
    summary: str
    details_url: str | None = None
    annotations: tuple[Annotation, ...] = ()
    is_first: bool = False
    name: str = "gpu-lol"


@record(frozen=True, slots=True)
class Standing:
    """A pull request and our comments on it as they are now.

    ``may_modify``: its author lets this repository's maintainers push to the fork. ``me``: the login of this token.
    """

    head_sha: str
    is_draft: bool
    is_open: bool
    may_modify: bool
    me: str
    comments: tuple[Posted, ...]


@record(frozen=True, slots=True)
class Suggestion:
    """Lines of a file of the head, 1-based and inclusive, and what they should be; ``body`` is the whole comment."""

    sha: str
    path: str
    start_line: int
    end_line: int
    body: str


@record(frozen=True, slots=True)
class FileCommit:
    """One file to be written on top of ``parent``; refused by the forge where the branch is elsewhere by then."""

    repository: str
    branch: str
    parent: str
    path: str
    content: str
    message: str


class DeploymentState(enum.Enum):
    """The states of a deployment that an environment passes through."""

    SUCCESS = "success"
    FAILURE = "failure"
    INACTIVE = "inactive"
