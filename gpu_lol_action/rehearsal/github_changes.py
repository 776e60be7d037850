"""What happens on the stand-in, whoever asks for it: pushes, pull requests, comments, merges.

The HTTP routes and the test's own hands (github.py) both end here, so that both leave the same state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_lol_action.rehearsal.github_git import BareRepository
from gpu_lol_action.rehearsal.github_git_values import Signature
from gpu_lol_action.rehearsal.github_state import (
    Account,
    Comment,
    Issue,
    Labeling,
    Pull,
    Reaction,
    Repository,
    WorkflowRun,
    World,
)

_MODE = "100644"
# A value of `files` may say more than text: a symlink's target, or bytes.
Symlink = tuple[str, str]
Content = str | bytes | Symlink | None


@dataclass(frozen=True, slots=True)
class PullRequestDraft:
    """What somebody types into the form of a new pull request. `head` is `branch` or `owner:branch`."""

    title: str
    head: str
    base: str
    body: str | None = None
    is_draft: bool = False


def signature(world: World, account: Account) -> Signature:
    """How git names an account, with the address that GitHub gives it."""
    mail = f"{account.account_id}+{account.login}@users.noreply.github.com"
    return Signature(account.login, mail, world.now())


@dataclass(frozen=True, slots=True)
class Push:
    """Files committed onto a branch, which is made from `start` (or the default branch) where it is new.

    A file's content is text, bytes, `("symlink", target)`, or None to remove it.
    """

    branch: str
    files: Mapping[str, Content]
    message: str
    author: Account
    start: str | None = None


def commit_files(world: World, repository: Repository, push: Push) -> str:
    """Commit, and move every open pull request that comes from the branch; returns the SHA."""
    git = repository.git
    tip = git.ref(f"refs/heads/{push.branch}")
    parent = tip or git.resolve(push.start or repository.default_branch)
    entries = {path: _stored(git, content) for path, content in push.files.items()}
    tree = git.write_tree(entries, parent)
    sha = git.write_commit(tree, [parent] if parent else [], push.message, signature(world, push.author))
    git.update_ref(f"refs/heads/{push.branch}", sha, tip)
    follow_branch(world, repository, push.branch)
    return sha


def _stored(git: BareRepository, content: Content) -> tuple[str, str] | None:
    """Mode and SHA of a file's new content."""
    if content is None:
        return None
    if isinstance(content, tuple):
        return "120000", git.write_blob(content[1].encode())
    return _MODE, git.write_blob(content.encode() if isinstance(content, str) else content)


def follow_branch(world: World, repository: Repository, branch: str) -> list[Issue]:
    """Note the push, and move the head of every open pull request from that branch to its tip; returns those that moved."""
    repository.pushed_at = world.now()
    tip = repository.git.ref(f"refs/heads/{branch}")
    moved = []
    for home in world.repositories.values():
        for issue, pull in world.pulls(home):
            is_here = pull.head_repository is repository and pull.head_ref == branch
            if tip and is_here and issue.state == "open" and pull.head_sha != tip:
                pull.head_sha = tip
                issue.updated_at = world.now()
                _publish_head(home, issue.number, pull)
                moved.append(issue)
    return moved


def fork(world: World, home: Repository, owner: str) -> Repository:
    """Somebody's fork, with the default branch as it is now."""
    made = world.add_repository(f"{owner}/{home.name}", is_private=home.is_private, owner_kind="User")
    made.fork_of = home
    branch = home.default_branch
    made.git.fetch(home.git.path, f"refs/heads/{branch}:refs/heads/{branch}")
    return made


def delete_fork(world: World, home: Repository, gone: Repository) -> None:
    """The fork goes away; its pull requests stay, with `head.repo` null."""
    del world.repositories[gone.full_name.lower()]
    for _, pull in world.pulls(home):
        if pull.head_repository is gone:
            pull.head_repository = None


def open_issue(world: World, home: Repository, author: Account, title: str, body: str | None) -> Issue:
    """A new issue with the next number."""
    number = max(home.issues, default=0) + 1
    issue = Issue(world.next_id(), number, title, body, author, world.now(), world.now())
    home.issues[number] = issue
    return issue


def open_pull(world: World, home: Repository, author: Account, draft: PullRequestDraft) -> Issue:
    """Open a pull request; LookupError where head or base does not exist."""
    owner, _, branch = draft.head.rpartition(":")
    source = home if not owner else _fork_network_member(world, home, owner)
    head_sha = source.git.ref(f"refs/heads/{branch}") if source else None
    base_sha = home.git.ref(f"refs/heads/{draft.base}")
    if source is None or head_sha is None or base_sha is None:
        raise LookupError("head" if base_sha else "base")
    issue = open_issue(world, home, author, draft.title, draft.body)
    issue.pull = Pull(
        pull_id=world.next_id(),
        head_repository=source,
        head_label=f"{source.owner.login}:{branch}",
        head_ref=branch,
        head_sha=head_sha,
        base_ref=draft.base,
        base_sha=base_sha,
        is_draft=draft.is_draft,
    )
    _publish_head(home, issue.number, issue.pull)
    return issue


def set_label(world: World, home: Repository, issue: Issue, actor: Account, name: str) -> bool:
    """Set a label, which is made where there is none yet; returns whether it was not set before."""
    home.labels.setdefault(name.lower(), {"id": world.next_id(), "name": name})
    if name.lower() in {each.lower() for each in issue.labels}:
        return False
    issue.labels.append(name)
    issue.labelings.append(Labeling(name, actor, world.now()))
    issue.updated_at = world.now()
    return True


def close_issue(world: World, issue: Issue, actor: Account, reason: str | None = None) -> None:
    """Close an issue or pull request."""
    issue.state = "closed"
    issue.state_reason = None if issue.pull else reason or "completed"
    issue.closed_at = issue.updated_at = world.now()
    issue.closed_by = actor


def reopen_issue(world: World, issue: Issue) -> None:
    """Open it again."""
    issue.state, issue.state_reason = "open", None if issue.pull else "reopened"
    issue.closed_at = issue.closed_by = None
    issue.updated_at = world.now()


def merge_pull(world: World, home: Repository, issue: Issue, actor: Account) -> str:
    """Merge with a merge commit, as the green button does; the trees must not conflict."""
    pull = issue.pull
    if pull is None:
        raise LookupError(f"#{issue.number} is no pull request")
    base = home.git.ref(f"refs/heads/{pull.base_ref}")
    if base is None:
        raise LookupError("base")
    tree = home.git.merged_tree(base, pull.head_sha)
    message = f"Merge pull request #{issue.number} from {pull.head_label.replace(':', '/')}\n\n{issue.title}"
    sha = home.git.write_commit(tree, [base, pull.head_sha], message, signature(world, actor))
    home.git.update_ref(f"refs/heads/{pull.base_ref}", sha, base)
    pull.merged_at, pull.merged_by, pull.merge_commit_sha = world.now(), actor, sha
    close_issue(world, issue, actor)
    return sha


def add_comment(world: World, home: Repository, number: int, author: Account, body: str) -> Comment:
    """Write a comment."""
    comment = Comment(world.next_id(), number, author, body, world.now(), world.now())
    home.comments[comment.comment_id] = comment
    home.issues[number].updated_at = comment.created_at
    return comment


def start_run(world: World, home: Repository, actor: Account, workflow: str, event: str) -> WorkflowRun:
    """A queued run on the default branch, with an id of the size that GitHub's have."""
    branch = home.default_branch
    run = WorkflowRun(
        run_id=world.next_id() * 7,
        run_number=len(home.runs) + 1,
        workflow=workflow,
        event=event,
        head_sha=home.git.text("rev-parse", f"refs/heads/{branch}"),
        head_branch=branch,
        actor=actor,
        created_at=world.now(),
        status="queued",
    )
    home.runs[run.run_id] = run
    return run


def add_reaction(
    world: World, home: Repository, subject: tuple[str, int], author: Account, content: str
) -> tuple[Reaction, bool]:
    """The reaction and whether it is new: GitHub keeps one of a kind per person."""
    for known in home.reactions.values():
        if (known.subject, known.author, known.content) == (subject, author, content):
            return known, False
    made = Reaction(world.next_id(), subject, author, content, world.now())
    home.reactions[made.reaction_id] = made
    return made, True


def _fork_network_member(world: World, home: Repository, owner: str) -> Repository | None:
    return next(
        (
            each
            for each in world.repositories.values()
            if each.owner.login.lower() == owner.lower() and (each is home or each.fork_of is home)
        ),
        None,
    )


def _publish_head(home: Repository, number: int, pull: Pull) -> None:
    """GitHub makes every head readable in the base repository as refs/pull/N/head."""
    name = f"refs/pull/{number}/head"
    if pull.head_repository is not None and pull.head_repository is not home:
        home.git.fetch(pull.head_repository.git.path, f"+refs/heads/{pull.head_ref}:{name}")
    else:
        home.git.update_ref(name, pull.head_sha, home.git.ref(name))
