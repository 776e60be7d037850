"""What we rely on GitHub for, asked of the stand-in in every run and of GitHub itself by scripts/replay-contract.

What only the stand-in can do (faults, other people) is marked, and left out against a real repository.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gpu_lol_action.adapters.github import Ask
from gpu_lol_action.adapters.github_checks import GitHubChecks
from gpu_lol_action.adapters.github_commits import GitHubCommits
from gpu_lol_action.adapters.github_deployments import GitHubDeployments
from gpu_lol_action.adapters.github_first_look import FirstLook
from gpu_lol_action.adapters.github_look import GitHubLook
from gpu_lol_action.adapters.github_suggestions import GitHubSuggestions
from gpu_lol_action.adapters.ledger import RecordLedger
from gpu_lol_action.adapters.ledger_refs import EMPTY_TREE, GitRefStore
from gpu_lol_action.adapters.our_refs import OurRefs
from gpu_lol_action.adapters.proposal_notes import FOLDER, ProposalNotes
from gpu_lol_action.adapters.vault_refs import RefVault
from gpu_lol_action.domain.environment import State
from gpu_lol_action.domain.ledger import Entry
from gpu_lol_action.domain.policy import POLICY_PATH
from gpu_lol_action.domain.request import Closing
from gpu_lol_action.domain.surfaces import CheckReport, Conclusion, DeploymentState, FileCommit, Suggestion
from gpu_lol_action.errors import LostRace, UserError
from gpu_lol_action.launch.keys import derive_key_pair
from tests.contract.far_github import Far, far_github, is_real, where_permitted
from tests.contract.test_ledger import make_record

if TYPE_CHECKING:
    from collections.abc import Iterator

stand_in_only = pytest.mark.skipif(is_real(), reason="only the stand-in fails on demand, and has other people")
MARKER = "<!-- gpu-lol v1 replay "


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    with far_github(tmp_path_factory.mktemp("far")) as started:
        yield started


def test_commit_may_name_the_empty_tree_and_keeps_a_long_message(far: Far) -> None:
    message = "subject\n\n" + '{"text": "\\u0040ada \\u0023 12 äöü"}\n' + "x" * 30_000
    body = {"message": message, "tree": EMPTY_TREE, "parents": []}
    sha = far.forge.client.ask(Ask("POST", "git/commits", body=body)).body["sha"]

    assert far.forge.client.get("git/commits/{sha}", {"sha": sha})["message"].rstrip() == message.rstrip()


def test_custom_refs_can_be_made_and_are_listed_by_graphql(far: Far) -> None:
    """The one thing that GitHub's documentation leaves open; where it fails, REST lists them instead."""
    name = far.unique("gl-replay")
    entry = RecordLedger(GitRefStore(far.forge.client)).claim(make_record(name))
    listed = OurRefs(far.forge.client)._listed()

    assert listed is not None
    assert listed.refs.get(f"gpu-lol/environments/{name}") == entry.version


def test_record_moves_by_compare_and_swap(far: Far) -> None:
    name = far.unique("gl-replay")
    first, second = (RecordLedger(GitRefStore(far.forge.client)) for _ in range(2))
    entry = first.claim(make_record(name, failure="@nobody-here #1 GH-1 https://example.org/a/b"))
    seen = second.read(name)
    assert isinstance(seen, Entry)
    moved = second.update(seen, replace(seen.record, state=State.ENDING))

    with pytest.raises(LostRace, match="record_changed"):
        first.update(entry, replace(entry.record, state=State.LAUNCHING))
    with pytest.raises(LostRace, match="claim_lost"):
        RecordLedger(GitRefStore(far.forge.client)).claim(make_record(name, login="grace"))
    assert RecordLedger(GitRefStore(far.forge.client)).read(name) == moved
    assert len(first.history(name)) == 2


def test_own_comment_is_posted_found_edited_and_reacted_to(far: Far) -> None:
    forge, body = far.forge, f"{MARKER}-->\n{far.unique('words')}"
    posted = forge.post_comment(far.number, body)
    forge.edit_comment(posted.comment_id, body + " edited")
    forge.react(posted.comment_id, "eyes")
    forge.react(posted.comment_id, "eyes")
    found = [each for each in forge.find_comments(far.number, MARKER) if each.comment_id == posted.comment_id]

    assert [each.body for each in found] == [body + " edited"]
    assert found[0].author == forge.me() == posted.author
    reactions = forge.client.get("issues/comments/{comment_id}/reactions", {"comment_id": posted.comment_id})
    assert [each["content"] for each in reactions] == ["eyes"]


def test_look_finds_our_comments_by_author(far: Far) -> None:
    posted = far.forge.post_comment(far.number, f"{MARKER}-->\n{far.unique('look')}")
    look = GitHubLook(far.forge.client, FirstLook(far.forge.client, None, far.forge.refs))
    standing = look.standing(far.number, MARKER, is_final=False)

    assert standing is not None
    assert posted.comment_id in [each.comment_id for each in standing.comments]
    assert standing.head_sha == far.forge.pull_request(far.number).head_sha


def test_first_look_says_what_rest_says(far: Far) -> None:
    branch = f"refs/heads/{far.branch}"
    look = FirstLook(far.forge.client, far.focus(), OurRefs(far.forge.client))
    policy = look.policy(POLICY_PATH, branch)

    assert policy is not None
    assert policy.text == far.forge.read_file(POLICY_PATH, branch)
    assert look.pull_request(far.number) == far.forge.pull_request(far.number)


def test_archive_holds_exactly_the_head(far: Far) -> None:
    head = far.forge.pull_request(far.number).head_sha
    with far.forge.tree(head) as folder:
        files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    raw = far.forge.client.get("git/commits/{sha}", {"sha": head})
    tree = far.forge.client.get("git/trees/{sha}", {"sha": raw["tree"]["sha"]}, recursive=1)

    assert files == {each["path"] for each in tree["tree"] if each["type"] == "blob" and each["mode"] != "120000"}
    assert far.forge.commit(head).tree_id == raw["tree"]["sha"]


def test_merge_base_and_missing_things(far: Far) -> None:
    pull = far.forge.pull_request(far.number)

    assert len(far.forge.merge_base(pull.base_sha, pull.head_sha)) == 40
    assert far.forge.changed_paths(pull.base_sha, pull.head_sha)
    assert far.forge.read_file(far.unique("nothing"), far.branch) is None
    assert not far.forge.is_run_alive("1")
    assert far.forge.role("ghost-" + far.unique("nobody")[:20]) == "none"
    with pytest.raises(UserError, match="github_not_found"):
        far.forge.pull_request(2_000_000_000)


def test_requests_left_are_told_with_every_answer(far: Far) -> None:
    far.forge.client.get("")

    assert far.forge.client.budget.left is not None


def test_last_word_is_one_question_and_does_all_three(far: Far) -> None:
    """GraphQL's `addComment`, `addReaction` and `updateIssueComment`, by the ids that REST and the event name."""
    command = far.forge.post_comment(far.number, f"{MARKER}-->\n{far.unique('command')}")
    forge = far.seen_by(far.focus(nodes={command.comment_id: command.node_id}))
    forge.read_file(POLICY_PATH, f"refs/heads/{far.branch}")
    forge.pull_request(far.number)
    status = forge.post_comment(far.number, f"{MARKER}-->\n{far.unique('status')}")
    before = forge.client.counts.total()
    answer = f"{MARKER}-->\n{far.unique('answer')}"
    posted = forge.close_command(
        Closing(far.number, answer, command.comment_id, "rocket", status.comment_id, f"{MARKER}-->\nover")
    )

    assert forge.client.counts.total() == before + 1
    bodies = {each.comment_id: each.body for each in far.forge.find_comments(far.number, MARKER)}
    assert bodies[posted.comment_id] == answer
    assert bodies[status.comment_id] == f"{MARKER}-->\nover"
    reactions = forge.client.get("issues/comments/{comment_id}/reactions", {"comment_id": command.comment_id})
    assert [each["content"] for each in reactions] == ["rocket"]
    forge.close()


def test_commit_of_the_first_look_has_the_very_bytes(far: Far) -> None:
    head = far.forge.pull_request(far.number).head_sha
    forge = far.seen_by(far.focus(commit=head))
    forge.read_file(POLICY_PATH, f"refs/heads/{far.branch}")
    seen = forge.commit(head)

    assert "GET git/commits/{sha}" not in forge.client.counts, "GraphQL's facts have to do"
    assert seen == far.forge.commit(head)
    assert seen.content is not None
    forge.close()


def test_deployment_is_made_moved_and_found_again(far: Far) -> None:
    head = far.forge.pull_request(far.number).head_sha
    record = make_record(far.unique("gl-replay"), sha=head, pull_request=far.number)
    with where_permitted(far, "deployments: write"):
        deployments = GitHubDeployments(far.forge.client)
        deployments.begin(record)
        deployments.move(record, DeploymentState.SUCCESS, None, None)
        GitHubDeployments(far.forge.client).move(record, DeploymentState.INACTIVE, None, None)
    made = far.forge.client.get("deployments", sha=head, environment="gpu-lol")
    found = next(each for each in made if record.name in each["task"])
    states = far.forge.client.get("deployments/{deployment_id}/statuses", {"deployment_id": found["id"]})
    assert [each["state"] for each in states] == ["inactive", "success"]


def test_check_run_of_a_commit_stands_once(far: Far) -> None:
    head = far.forge.pull_request(far.number).head_sha
    report = CheckReport(head, Conclusion.NEUTRAL, "24 GB", "The **replay**.", is_first=True)
    with where_permitted(far, "checks: write"):
        checks = GitHubChecks(far.forge.client)
        assert checks.report(report)
        assert not checks.report(replace(report, is_first=False))
        assert checks.report(replace(report, is_first=False, title="48 GB"))
    found = far.forge.client.get("commits/{ref}/check-runs", {"ref": head}, check_name="gpu-lol")
    assert [each["output"]["title"] for each in found["check_runs"]] == ["48 GB"]


def test_suggestion_stands_at_its_line_and_is_edited_in_place(far: Far) -> None:
    suggestions = GitHubSuggestions(far.forge.client)
    head = far.forge.pull_request(far.number).head_sha
    path = next(each["filename"] for each in _files(far) if each["status"] == "added")
    body = f"{MARKER}-->\n{far.unique('try')}"
    assert (suggestions.patch_of(far.number, path) or "").startswith("@@")
    suggestions.suggest(far.number, Suggestion(head, path, 1, 1, body))
    ours = [each for each in suggestions.standing(far.number, MARKER, far.forge.me()) if each.body == body]
    suggestions.edit(ours[0].comment_id, body + " this")
    look = GitHubLook(far.forge.client, FirstLook(far.forge.client, None, far.forge.refs))
    look.hide(ours[0].node_id)

    assert len(ours) == 1
    standing = suggestions.standing(far.number, MARKER, far.forge.me())
    assert body + " this" in [each.body for each in standing]


def test_one_file_is_committed_on_top_of_the_head_and_nowhere_else(far: Far) -> None:
    repository, head = far.forge.repository().full_name, far.forge.pull_request(far.number).head_sha
    commits = GitHubCommits(far.forge.client)
    path = f"{far.unique('gpu-lol-replay')}.yaml"
    change = FileCommit(repository, far.head_branch, head, path, "hardware: {}\n", "Replay: one file")
    made = commits.commit(change)
    late = commits.commit(replace(change, content="hardware: {gpu_count: 2}\n"))

    assert made is not None
    assert late is None, "the branch has moved: no fast-forward"
    last = commits.last_change(repository, made, path)
    assert last is not None
    assert last.message == "Replay: one file"
    assert far.forge.read_file(path, made) == "hardware: {}\n"


def test_note_about_a_proposal_is_kept_beside_the_ledger(far: Far) -> None:
    notes = ProposalNotes(GitRefStore(far.forge.client, FOLDER))
    notes.change(far.number, lambda note: replace(note, muted_by="ada"))

    assert ProposalNotes(GitRefStore(far.forge.client, FOLDER)).read(far.number).muted_by == "ada"
    notes.change(far.number, lambda note: replace(note, muted_by=""))


def test_saved_work_lies_behind_a_ref_of_its_own(far: Far) -> None:
    pair = derive_key_pair("x" * 40, 5, 1)
    kept = RefVault(far.forge.client, pair.private_pem, pair.public_line).keep(far.unique("gl-replay"), b"work", [])

    assert RefVault(far.forge.client, pair.private_pem, pair.public_line).fetch(kept.locator) == b"work"


def test_comment_is_read_again_with_its_author_and_its_edits(far: Far) -> None:
    posted = far.forge.post_comment(far.number, f"{MARKER}-->\n{far.unique('again')}")
    first = far.forge.comment(posted.comment_id)
    assert first is not None
    assert (first.author.login, first.pull_request_number, first.is_edited) == (posted.author, far.number, False)
    assert far.forge.comment(2_000_000_000) is None


def _files(far: Far) -> list[dict[str, str]]:
    return list(far.forge.client.pages("pulls/{number}/files", {"number": far.number}))


@stand_in_only
def test_lost_answer_posts_once(far: Far) -> None:
    assert far.hub is not None
    body = f"{MARKER}-->\n{far.unique('lost')}"
    far.hub.inject("lost_reset", "POST comments")
    far.forge.post_comment(far.number, body)

    assert len([each for each in far.hub.comments(far.number) if each.body == body]) == 1


@stand_in_only
def test_marker_of_somebody_else_is_not_ours(far: Far) -> None:
    assert far.hub is not None
    marker = f"{MARKER}{far.unique('theirs')} "
    far.hub.comment(far.number, "mallory", f"{marker}-->\nI am the bot")

    assert far.forge.find_comments(far.number, marker) == []


@stand_in_only
def test_stand_in_saw_nothing_that_github_would_refuse(far: Far) -> None:
    assert far.hub is not None
    assert far.hub.problems() == []
