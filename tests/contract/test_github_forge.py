"""Our GitHub adapter, through real PyGithub and httpx, against the stand-in over HTTP."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from gpu_lol_action.adapters.github import Ask, LostAnswer, expand
from gpu_lol_action.domain.request import Repository
from gpu_lol_action.errors import OperatorError, TransientError, UserError
from gpu_lol_action.rehearsal.github_setting import BOT, Setting
from tests.contract.github_setup import Place, started_place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MARKER = "<!-- gpu-lol:proposal"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with started_place(tmp_path / "hub") as started:
        yield started
        assert started.hub.problems() == []


def test_enterprise_server_has_its_api_below_a_path(tmp_path: Path) -> None:
    with started_place(tmp_path / "hub", Setting(prefix="/api/v3")) as place:
        forge = place.forge()
        comment = place.hub.comment(place.number, "ada", "/gpu-lol up").payload["comment"]["id"]
        for count in range(101):
            place.hub.comment(place.number, BOT, f"{MARKER} -->\n{count}")
        forge.react(comment, "eyes")
        with forge.tree(place.head) as folder:
            assert (folder / "new.txt").exists()

        assert forge.pull_request(place.number).head_sha == place.head
        assert forge.client.graphql("query { viewer { login } }") == {"viewer": {"login": BOT}}
        assert len(forge.find_comments(place.number, MARKER)) == 101
        assert place.hub.problems() == []


# --- facts ----------------------------------------------------------------------------------------------------
def test_repository_is_asked_once_and_not_at_all_when_known(place: Place) -> None:
    forge = place.forge()

    assert forge.repository() == forge.repository()
    assert forge.repository().full_name == "acme/llm-lab"
    assert forge.client.counts.total() == 1


def test_pull_request_is_as_it_is_now(place: Place) -> None:
    forge = place.forge()
    place.hub.push(place.number, "ada", {"more.py": "1\n"})
    found = forge.pull_request(place.number)

    assert (found.author, found.state, found.is_draft, found.head_repository) == ("ada", "open", False, "acme/llm-lab")
    assert found.head_sha != place.head
    assert not found.is_fork("acme/llm-lab")


def test_pull_request_of_a_deleted_fork_counts_as_a_fork(place: Place) -> None:
    fork = place.hub.fork("eve")
    opened = place.hub.open_pull_request("eve", {"evil.py": "1\n"}, fork=fork, branch="evil")
    place.hub.delete_fork(fork)
    found = place.forge().pull_request(opened.payload["number"])

    assert found.head_repository is None
    assert found.is_fork("acme/llm-lab")


def test_unknown_pull_request_is_a_user_error(place: Place) -> None:
    with pytest.raises(UserError, match="github_not_found: GitHub has no pulls/999"):
        place.forge().pull_request(999)


@pytest.mark.parametrize("role", ["admin", "maintain", "write", "triage", "read"])
def test_role_is_githubs_word(place: Place, role: str) -> None:
    place.hub.add_user("grace", role=role)

    assert place.forge().role("grace") == role


def test_custom_role_counts_as_the_one_it_is_built_on(place: Place) -> None:
    place.hub.add_user("grace", role="ml-engineer")

    assert place.forge().role("grace") == "write"


@pytest.mark.parametrize("login", ["nobody-has-this-login", "../../../rate_limit", "a/b", "..", "x?y=1", "%2e%2e"])
def test_role_of_an_unknown_or_hostile_login_is_none(place: Place, login: str) -> None:
    assert place.forge().role(login) == "none"


@pytest.mark.parametrize("status", [403, 404])
def test_refused_permission_question_denies(place: Place, status: int) -> None:
    place.hub.fail_next("GET permission", status)

    assert place.forge().role("ada") == "none"


def test_outage_during_the_permission_question_lets_nobody_in(place: Place) -> None:
    place.hub.fail_next("GET permission", 502, times=3)

    with pytest.raises(TransientError, match="github_unreachable"):
        place.forge().role("ada")
    assert place.clock.slept == [1, 2]


def test_ssh_keys_are_type_and_base64_only(place: Place) -> None:
    keys = [
        "ssh-ed25519 AAAAC3Nza+/w== ada@laptop",
        "sk-ssh-ed25519@openssh.com AAAAGnNr",
        "ssh-dss AAAAB3Nza",
        'command="rm -rf /" ssh-ed25519 AAAAC3Nza',
        "ssh-ed25519 AAAA\nssh-ed25519 BBBB",
    ]
    place.hub.add_user("ada", role="write", ssh_keys=keys)
    forge = place.forge()

    assert forge.ssh_keys("ada") == ("ssh-ed25519 AAAAC3Nza+/w==", "sk-ssh-ed25519@openssh.com AAAAGnNr")
    assert forge.ssh_keys("nobody-has-this-login") == ()


def test_run_is_alive_until_it_is_completed_or_gone(place: Place) -> None:
    forge, run_id = place.forge(), place.hub.start_run("issue_comment", "ada")

    assert forge.is_run_alive(run_id)
    place.hub.finish_run(run_id, "cancelled")
    assert not forge.is_run_alive(run_id)
    assert not forge.is_run_alive("123456789")


def test_run_counts_as_alive_when_it_cannot_be_told(place: Place) -> None:
    forge, run_id = place.forge(), place.hub.start_run("issue_comment", "ada")
    place.hub.finish_run(run_id)
    place.hub.fail_next("GET actions/runs/{run_id}", 403)
    assert forge.is_run_alive(run_id)
    place.hub.fail_next("GET actions/runs/{run_id}", 500, times=3)
    assert forge.is_run_alive(run_id)
    assert forge.is_run_alive("terminal-ada")


# --- conversation ---------------------------------------------------------------------------------------------
def test_reaction_tells_who_we_are(place: Place) -> None:
    comment = place.hub.comment(place.number, "ada", "/gpu-lol up").payload["comment"]["id"]
    forge = place.forge()
    forge.react(comment, "eyes")
    asked = forge.client.counts.total()

    assert place.hub.reactions(comment) == ["eyes"]
    assert forge.me() == BOT
    assert forge.client.counts.total() == asked == 1


def test_refused_reaction_is_no_error(place: Place) -> None:
    comment = place.hub.comment(place.number, "ada", "/gpu-lol up").payload["comment"]["id"]
    token = place.hub.add_token(BOT, {"pull_requests": "write"})
    forge = place.forge(token)
    forge.react(comment, "eyes")
    place.hub.fail_next("POST reactions", 500, times=3)
    forge.react(comment, "rocket")

    assert place.hub.reactions(comment) == []
    assert len(place.notes) == 2


def test_first_reaction_needs_no_pygithub(place: Place) -> None:
    comment = place.hub.comment(place.number, "ada", "/gpu-lol up").payload["comment"]["id"]
    script = (
        "import sys\n"
        "from datetime import datetime\n"
        "from gpu_lol_action.adapters.github import Connection\n"
        "from gpu_lol_action.adapters.github_forge import GitHubForge, Hands\n"
        f"connection = Connection(token={place.hub.bot_token!r}, full_name='acme/llm-lab', api_url={place.hub.api_url!r})\n"
        "forge = GitHubForge(connection, Hands(datetime.now, lambda pause: None, print))\n"
        f"forge.react({comment}, 'eyes')\n"
        "heavy = {'github', 'requests', 'httpx', 'jwt', 'sky'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)

    assert place.hub.reactions(comment) == ["eyes"]


def test_comments_of_ours_are_found_over_all_pages_and_nobody_elses(place: Place) -> None:
    place.hub.comment(place.number, "mallory", f"{MARKER} sha=1 -->\nI am the bot, believe me")
    place.hub.comment(place.number, BOT, f"{MARKER} sha=1 -->\nfirst")
    for count in range(120):
        place.hub.comment(place.number, "ada", f"talk {count}")
    place.hub.comment(place.number, BOT, f"{MARKER} sha=2 -->\nsecond")
    place.hub.comment(place.number, BOT, f"quoting {MARKER} is not being it")
    found = place.forge().find_comments(place.number, MARKER)

    assert [posted.body.splitlines()[1] for posted in found] == ["first", "second"]
    assert {posted.author for posted in found} == {BOT}


def test_no_marked_comment_means_nobody_asks_who_we_are(place: Place) -> None:
    forge = place.forge()

    assert forge.find_comments(place.number, MARKER) == []
    assert dict(forge.client.counts) == {"GET issues/{number}/comments": 1}


@pytest.mark.parametrize("status", [502, 0])
def test_comment_whose_answer_was_lost_is_found_and_not_posted_again(place: Place, status: int) -> None:
    place.hub.fail_next("POST comments", status, mode="after")
    posted = place.forge().post_comment(place.number, "<!-- gpu-lol:reply -->\nready")

    assert [comment.comment_id for comment in place.hub.comments(place.number)] == [posted.comment_id]
    assert posted.author == BOT


@pytest.mark.parametrize("status", [502, 0])
def test_comment_that_did_not_arrive_is_posted_again(place: Place, status: int) -> None:
    place.hub.fail_next("POST comments", status, times=2)
    posted = place.forge().post_comment(place.number, "<!-- gpu-lol:reply -->\nready")

    assert [comment.comment_id for comment in place.hub.comments(place.number)] == [posted.comment_id]


def test_comment_that_never_arrives_is_a_lost_answer(place: Place) -> None:
    place.hub.fail_next("POST comments", 502, times=3)

    with pytest.raises(LostAnswer, match="github_unreachable"):
        place.forge().post_comment(place.number, "ready")
    assert place.hub.comments(place.number) == []


def test_same_text_from_earlier_is_not_taken_for_the_lost_one(place: Place) -> None:
    forge = place.forge()
    earlier = forge.post_comment(place.number, "<!-- gpu-lol:help -->\nhelp")
    place.clock.sleep(timedelta(minutes=30))
    place.hub.fail_next("POST comments", 502)
    later = forge.post_comment(place.number, "<!-- gpu-lol:help -->\nhelp")

    assert later.comment_id != earlier.comment_id
    assert len(place.hub.comments(place.number)) == 2


def test_edit_is_repeated_when_its_answer_is_lost(place: Place) -> None:
    forge = place.forge()
    posted = forge.post_comment(place.number, "launching")
    place.hub.fail_next("PATCH issues/comments/{comment_id}", 502, mode="after")
    forge.edit_comment(posted.comment_id, "ready")

    assert [comment.body for comment in place.hub.comments(place.number)] == ["ready"]


# --- patience and refusals ------------------------------------------------------------------------------------
def test_secondary_limit_is_waited_out_and_posts_once(place: Place) -> None:
    body = {"message": "You have exceeded a secondary rate limit."}
    place.hub.fail_next("POST comments", 403, body=body, headers={"Retry-After": "7"})
    place.forge().post_comment(place.number, "ready")

    assert place.clock.slept == [7]
    assert len(place.hub.comments(place.number)) == 1


def test_long_limit_ends_the_run_instead_of_sleeping(place: Place) -> None:
    place.hub.use_up_requests(place.hub.bot_token)

    with pytest.raises(TransientError, match=r"github_rate_limited.*until 17:00 UTC"):
        place.forge().pull_request(place.number)
    assert place.clock.slept == []


def test_requests_left_are_known(place: Place) -> None:
    place.hub.use_up_requests(place.hub.bot_token, left=201)
    forge = place.forge()
    forge.repository()

    assert forge.client.budget.left == 200


def test_missing_permission_names_the_setting(place: Place) -> None:
    forge = place.forge(place.hub.add_token(BOT, {"contents": "read"}))

    with pytest.raises(OperatorError, match="github_permission_missing") as caught:
        forge.post_comment(place.number, "ready")
    assert "permissions:" in caught.value.explanation.fix


def test_wrong_token_is_the_maintainers_and_never_shown(place: Place) -> None:
    with pytest.raises(OperatorError, match="github_token_refused") as caught:
        place.forge("ghs_secretsecretsecret").pull_request(place.number)
    assert "ghs_secret" not in str(caught.value) + str(caught.value.explanation)


def test_names_cannot_climb_out_of_their_place() -> None:
    assert expand("contents/{path}", {"path": "a b/ü?#.txt"}, "o/r") == "/repos/o/r/contents/a%20b/%C3%BC%3F%23.txt"
    assert expand("users/{login}/keys", {"login": "a/b"}, "o/r") == "/repos/o/r/users/a%2Fb/keys"
    for hostile in ("../x", "a/../../x", "", "a//b", "."):
        with pytest.raises(UserError):
            expand("contents/{path}", {"path": hostile}, "o/r")


# --- code -----------------------------------------------------------------------------------------------------
def test_file_is_read_at_its_ref(place: Place) -> None:
    forge = place.forge()

    assert forge.read_file("train.py", "main") == "print('train')\n"
    assert forge.read_file("train.py", place.head) == "print('longer')\n"
    assert forge.read_file("none.py", "main") is None
    assert forge.read_file("src", "main") is None
    assert forge.read_file("outside", "main") is None


def test_large_or_binary_file_is_refused(place: Place) -> None:
    place.hub.commit({"big.yml": "#" * (1024 * 1024 + 1), "bytes.yml": b"\xff\xfe\x00"})
    forge = place.forge()

    with pytest.raises(UserError, match="file_too_large"):
        forge.read_file("big.yml", "main")
    with pytest.raises(UserError, match="file_not_text"):
        forge.read_file("bytes.yml", "main")


def test_tree_is_exactly_that_commit_and_goes_away(place: Place) -> None:
    forge = place.forge()
    with forge.tree(place.head) as folder:
        names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        assert (folder / "train.py").read_text() == "print('longer')\n"
        assert not any(path.is_symlink() for path in folder.rglob("*"))

    assert names == {"README.md", "train.py", ".gpu-lol.yaml", "src/deep/model.py", "run.sh", "new.txt"}
    assert not folder.exists()
    assert place.notes == ["not read from the repository: 2 x links"]


def test_archive_outage_is_retried_and_the_token_stays_home(place: Place) -> None:
    place.hub.fail_next("GET tarball/{ref}", 502)
    place.hub.fail_next("GET tarball/{ref}", 0)
    with place.forge().tree(place.head) as folder:
        assert (folder / "new.txt").exists()


def test_archive_of_another_commit_is_refused(place: Place) -> None:
    """A branch that moved between the question and the answer must not pass for the pinned commit."""
    forge = place.forge()
    with pytest.raises(TransientError, match="archive_of_another_commit"), forge.tree("main"):
        pytest.fail("nothing may be read")


def test_archive_of_an_unknown_commit_is_a_user_error(place: Place) -> None:
    with pytest.raises(UserError, match="github_not_found"), place.forge().tree("0" * 40):
        pytest.fail("nothing may be read")


def test_bundle_keeps_links_and_drops_the_top_folder(place: Place, tmp_path: Path) -> None:
    path = place.forge().bundle(place.head, tmp_path / "code.tar.gz")
    with tarfile.open(path) as tar:
        members = {member.name: member for member in tar}

    assert path == tmp_path / "code.tar.gz"
    assert members["latest"].linkname == "train.py"
    assert members["src/deep/model.py"].isfile()
    assert {member.uid for member in members.values()} == {0}


def test_merge_base_is_the_commit_in_common(place: Place) -> None:
    forge = place.forge()
    base = forge.pull_request(place.number).base_sha
    moved = place.hub.commit({"later.txt": "1\n"})

    assert forge.merge_base(moved, place.head) == base


def test_changed_paths_are_those_since_the_commit_in_common_and_cost_no_further_request(place: Place) -> None:
    place.hub.commit({"old/net.py": "import torch\n" * 20, "kept.py": "1\n", "gone.py": "1\n"})
    moved = {"new/net.py": "import torch\n" * 20, "old/net.py": None, "gone.py": None}
    opened = place.hub.open_pull_request("ada", moved, branch="moving")
    # What the base gets meanwhile is none of the pull request's.
    place.hub.commit({"later.txt": "1\n"})
    forge = place.forge()
    pull = forge.pull_request(int(opened.number or 0))
    place.hub.forget_requests()
    assert forge.changed_paths(pull.base_sha, pull.head_sha) == {"new/net.py", "old/net.py", "gone.py"}
    assert len(forge.merge_base(pull.base_sha, pull.head_sha)) == 40
    assert sum(place.hub.counts().values()) == 1


@pytest.mark.parametrize(
    "answer", [{}, {"merge_base_commit": None}, {"merge_base_commit": {"sha": "a"}, "files": ["x"]}, []]
)
def test_a_comparison_that_is_none_is_told(place: Place, monkeypatch: pytest.MonkeyPatch, answer: object) -> None:
    forge = place.forge()
    monkeypatch.setattr(forge.client, "get", lambda *_words, **_more: answer)
    with pytest.raises(TransientError, match="lacks what it always has"):
        forge.changed_paths("a" * 40, "b" * 40)


def test_known_repository_and_counts_of_a_proposal(place: Place) -> None:
    """What a proposal asks of GitHub: the figure that the user's documentation quotes."""
    forge = place.forge()
    known = Repository("acme/llm-lab", place.hub.repository.repository_id, "main")
    forge.client.counts.clear()
    forge._repository = known
    forge.repository()
    with forge.tree(place.head):
        pass
    forge.read_file(".github/gpu-lol.yml", "main")
    forge.find_comments(place.number, MARKER)
    forge.post_comment(place.number, f"{MARKER} -->\nproposal")

    assert forge.client.counts.total() == 4


def test_unexpected_refusal_is_told_with_githubs_words(place: Place) -> None:
    with pytest.raises(OperatorError, match=r"github_refused.*Reference already exists"):
        place.forge().client.ask(Ask("POST", "git/refs", body={"ref": "refs/heads/main", "sha": place.head}))
