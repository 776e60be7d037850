"""Events and commands as tagged unions, and the answers that a run can end with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from gpu_lol_action.domain.records import record

if TYPE_CHECKING:
    from gpu_lol_action.domain.annotation import Annotation
    from gpu_lol_action.domain.corrections import Correction
    from gpu_lol_action.domain.environment import Requester


@record(frozen=True, slots=True)
class PullRequest:
    """A pull request as far as we need it. ``head_repository`` is None when a fork was deleted."""

    number: int
    title: str
    state: str
    is_draft: bool
    is_merged: bool
    author: str
    author_is_bot: bool
    head_sha: str
    head_ref: str
    head_repository: str | None
    base_sha: str
    base_ref: str
    html_url: str = ""

    def is_fork(self, repository: str) -> bool:
        """Whether the head lies in another repository (an unknown one counts as another)."""
        return self.head_repository is None or self.head_repository.lower() != repository.lower()


@record(frozen=True, slots=True)
class Repository:
    """``full_name`` is ``owner/name``; ``repository_id`` is GitHub's number."""

    full_name: str
    repository_id: int
    default_branch: str
    is_private: bool = False


@record(frozen=True, slots=True)
class PullRequestChanged:
    """A pull request was opened, reopened, made ready or got commits."""

    repository: Repository
    pull_request: PullRequest
    action: str


@record(frozen=True, slots=True)
class PullRequestClosed:
    """A pull request was closed or merged."""

    repository: Repository
    pull_request: PullRequest
    actor: Requester


@record(frozen=True, slots=True)
class PullRequestLabeled:
    """Somebody set a label on a pull request, which stands here as it was at that moment."""

    repository: Repository
    pull_request: PullRequest
    label: str
    actor: Requester
    actor_is_bot: bool


@record(frozen=True, slots=True)
class CommentCreated:
    """A person (or a bot) wrote a comment on a pull request. ``node_id`` is its name in GraphQL."""

    repository: Repository
    pull_request_number: int
    comment_id: int
    body: str
    author: Requester
    author_is_bot: bool
    author_association: str = "NONE"
    node_id: str = ""


@record(frozen=True, slots=True)
class Scheduled:
    """The clock (or a person through workflow_dispatch) asked for a sweep, or for a smoke test.

    ``cron`` is the schedule that struck; ``is_smoke``: a person asked for the test.
    """

    repository: Repository
    actor: Requester
    is_manual: bool
    is_dry_run: bool = False
    cron: str = ""
    is_smoke: bool = False


Event = PullRequestChanged | PullRequestClosed | PullRequestLabeled | CommentCreated | Scheduled


@record(frozen=True, slots=True)
class Ignore:
    """Nothing to do, and why; never silence."""

    reason_code: str
    why: str


@record(frozen=True, slots=True)
class Command:
    """One command of the table with its typed options; ``line`` is the text as it was written.

    ``cells`` describe the run that ``estimate`` is asked about: column and text, later ones over earlier ones.
    ``script`` is what ``run`` is to run on the machine, as it was written. ``corrections`` are what ``set`` changes, in the order of the words.
    ``project`` is the folder of the project that it is about; empty where that is for us to tell.
    ``memory_gib`` is what ``offers`` is asked for, of each card: usable, or as cards are sold.
    """

    name: str
    line: str
    profile: str = ""
    gpu: str | None = None
    gpu_count: int | None = None
    lease: timedelta | None = None
    use_spot: bool = False
    cloud: str | None = None
    region: str | None = None
    image: str | None = None
    sha: str | None = None
    share: tuple[str, ...] = ()
    script: str = ""
    is_dry_run: bool = False
    is_all: bool = False
    is_restoring: bool = False
    is_waiting: bool = False
    topic: str | None = None
    path: str | None = None
    output_format: str = "text"
    is_verbose: bool = False
    is_explained: bool = False
    base: str | None = None
    use_hub: bool = False
    use_llm: bool = False
    output: str | None = None
    table: str | None = None
    is_csv: bool = False
    cells: tuple[tuple[str, str], ...] = ()
    level: int = 1
    is_public: bool = False
    is_private: bool = False
    has_forks: bool = False
    pin: str | None = None
    llm_url: str | None = None
    llm_model: str | None = None
    is_forced: bool = False
    corrections: tuple[Correction, ...] = ()
    price_usd_per_hour: Decimal | None = None
    memory_gib: float | None = None
    is_memory_as_sold: bool = False
    asks_availability: bool = False
    pattern: str | None = None
    project: str = ""


@record(frozen=True, slots=True)
class ParseProblem:
    """A command that cannot be understood: the offending word, the nearest valid ones, and where to read on."""

    line: str
    what: str
    did_you_mean: tuple[str, ...] = ()
    command: str | None = None
    reason_code: str = "command_not_understood"


@record(frozen=True, slots=True)
class Allow:
    """A gate lets the request through."""


@record(frozen=True, slots=True)
class Deny:
    """A gate refuses: an expected answer, worded for the requester. ``is_quiet``: one reaction, no comment."""

    reason_code: str
    what: str
    why: str = ""
    fix: str = ""
    is_quiet: bool = False


Gate = Allow | Deny


@record(frozen=True, slots=True)
class Outcome:
    """How a run ended: ``decision`` (done, denied, ignored, failed), its reason code, and details for outputs.

    ``text`` is what was said, whole: the job summary has it where a comment was too small. ``annotations`` stand at
    lines of the pull request's code. ``has_reacted``: the closing reaction stands at the command already.
    """

    decision: str
    reason_code: str
    details: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    annotations: tuple[Annotation, ...] = ()
    has_reacted: bool = False


@record(frozen=True, slots=True)
class Posted:
    """A comment as GitHub keeps it. ``node_id`` is its name in GraphQL."""

    comment_id: int
    body: str
    author: str
    html_url: str = ""
    node_id: str = ""


@record(frozen=True, slots=True)
class Closing:
    """The last word on a command: an answer on a pull request, a reaction at the command, the status comment's last text."""

    number: int
    body: str
    command_id: int
    reaction: str
    status_id: int
    last_status: str


@record(frozen=True, slots=True)
class CommitContent:
    """What a commit is made of: the id of its tree, and git's bytes of the commit (None where they cannot be rebuilt).

    ``gitlinks`` maps the path of each submodule to the commit that it stands at: archives leave them out.
    """

    tree_id: str
    content: bytes | None
    gitlinks: Mapping[str, str] = field(default_factory=dict)
