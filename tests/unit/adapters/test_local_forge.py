"""The terminal's forge over real git checkouts."""

from __future__ import annotations

import getpass
import hashlib
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from gpu_lol_action.adapters.local_forge import LocalForge, this_run
from gpu_lol_action.errors import UserError


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "train.py").write_text("import torch\n")
    (folder / ".gitignore").write_text("data.csv\n")
    (folder / "data.csv").write_text("1\n")
    git(folder, "add", "-f", "-A")
    git(folder, "commit", "-qm", "First")
    return folder


def forge_of(folder: Path, shown: list[str] | None = None) -> LocalForge:
    show = shown.append if shown is not None else lambda _body: None
    return LocalForge(folder, show, home=folder.parent / "home", environment=os.environ)


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("https://github.com/acme/train.git", "acme/train"),
        ("git@github.com:acme/train.git", "acme/train"),
        ("ssh://git@ghe.example/acme/train/", "acme/train"),
    ],
)
def test_the_remote_names_the_repository(checkout: Path, remote: str, name: str) -> None:
    git(checkout, "remote", "add", "origin", remote)
    assert forge_of(checkout).repository().full_name == name


def test_a_checkout_without_a_remote_is_named_after_its_folder_and_keeps_its_number(checkout: Path) -> None:
    first, again = forge_of(checkout).repository(), forge_of(checkout).repository()
    assert first.full_name == "local/project"
    assert first == again


def test_what_is_checked_out_stands_for_the_pull_request(checkout: Path) -> None:
    pull = forge_of(checkout).pull_request(0)
    assert pull.head_sha == git(checkout, "rev-parse", "HEAD")
    assert (pull.head_ref, pull.state) == ("main", "open")
    with pytest.raises(UserError, match="no_pull_requests_here"):
        forge_of(checkout).pull_request(7)


def test_a_commit_is_read_as_data_with_what_ignore_rules_name(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    (checkout / "train.py").write_text("not committed\n")
    with forge_of(checkout).tree(head) as folder:
        assert (folder / "train.py").read_text() == "import torch\n"
        assert (folder / "data.csv").exists()
    assert not folder.exists()


def test_the_commits_own_bytes_have_its_id(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    commit = forge_of(checkout).commit(head)
    assert commit.tree_id == git(checkout, "rev-parse", "HEAD^{tree}")
    assert commit.content is not None
    content = b"commit %d\0" % len(commit.content) + commit.content
    assert hashlib.sha1(content, usedforsecurity=False).hexdigest() == head


def test_submodules_are_named_with_their_commits(checkout: Path) -> None:
    git(checkout, "update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},libs/sub module")
    git(checkout, "commit", "-qm", "Add a submodule")
    commit = forge_of(checkout).commit(git(checkout, "rev-parse", "HEAD"))
    assert commit.gitlinks == {"libs/sub module": "a" * 40}


def test_the_bundle_is_a_tar_without_a_folder_in_front(checkout: Path, tmp_path: Path) -> None:
    packed = forge_of(checkout).bundle(git(checkout, "rev-parse", "HEAD"), tmp_path / "code.tar.gz")
    with tarfile.open(packed) as archive:
        assert sorted(archive.getnames()) == [".gitignore", "data.csv", "train.py"]


def test_no_program_that_the_checkout_configures_is_run(checkout: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {trap}\n")
    program.chmod(0o755)
    hook = checkout / ".git" / "hooks" / "post-index-change"
    hook.write_text(program.read_text())
    hook.chmod(0o755)
    git(checkout, "config", "core.fsmonitor", str(program))
    git(checkout, "config", "core.pager", str(program))
    head = git(checkout, "rev-parse", "HEAD")
    forge = forge_of(checkout)
    forge.pull_request(0)
    forge.commit(head)
    with forge.tree(head):
        pass
    assert not trap.exists()


def test_own_public_keys_are_read_ed25519_first(checkout: Path) -> None:
    folder = checkout.parent / "home" / ".ssh"
    folder.mkdir(parents=True)
    (folder / "id_rsa.pub").write_text("ssh-rsa AAAAB3 ada@laptop\n")
    (folder / "id_ed25519.pub").write_text("ssh-ed25519 AAAAC3 ada@laptop\n")
    forge = forge_of(checkout)
    assert list(forge.ssh_keys(getpass.getuser())) == ["ssh-ed25519 AAAAC3", "ssh-rsa AAAAB3"]
    assert list(forge.ssh_keys("somebody-else")) == []


def test_a_run_is_alive_while_its_process_is(checkout: Path) -> None:
    forge = forge_of(checkout)
    assert forge.is_run_alive(f"host:{os.getpid()}")
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert not forge.is_run_alive(f"host:{ended.pid}")


def test_a_process_that_got_a_dead_runs_number_is_not_that_run(checkout: Path) -> None:
    forge = forge_of(checkout)
    assert forge.is_run_alive(this_run())
    assert not forge.is_run_alive(f"host:{os.getpid()}:1")


@pytest.mark.parametrize("revision", ["nothing", "--output=x", "HEAD~99"])
def test_a_base_that_is_not_there_is_named(checkout: Path, revision: str) -> None:
    with pytest.raises(UserError, match="base_not_found"):
        forge_of(checkout).resolve(revision)
    assert forge_of(checkout).resolve("main") == git(checkout, "rev-parse", "HEAD")


def test_a_folder_that_is_no_repository_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not_a_repository") as caught:
        forge_of(tmp_path).pull_request(0)
    assert "git checkout" in caught.value.explanation.fix


def test_answers_are_shown(checkout: Path) -> None:
    shown: list[str] = []
    posted = forge_of(checkout, shown).post_comment(0, "### Ready")
    assert shown == ["### Ready"]
    assert posted.comment_id == 1


def test_no_program_that_the_checkout_configures_runs(checkout: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (checkout / ".gitattributes").write_text("*.py filter=ev=il\n*.txt filter=other\n")
    (checkout / "a.txt").write_text("text\n")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "Second")
    with (checkout / ".git" / "config").open("a") as config:
        config.write(f'[filter "ev=il"]\n\tsmudge = touch {ran}-1; cat\n\trequired\n')
        config.write(f'[filter "other"]\n\tprocess = touch {ran}-2\n\trequired = true\n')
        config.write(f'[tar "tar.gz"]\n\tcommand = touch {ran}-3; gzip -cn\n')
    forge = forge_of(checkout)
    sha = forge.pull_request(0).head_sha
    forge.bundle(sha, tmp_path / "code.tar.gz")
    with forge.tree(sha) as folder:
        assert (folder / "train.py").read_text() == "import torch\n"
        assert (folder / "a.txt").read_text() == "text\n"
    with tarfile.open(tmp_path / "code.tar.gz") as tar:
        assert "train.py" in tar.getnames()
    assert list(tmp_path.glob("ran*")) == []


def test_a_missing_object_is_not_fetched_by_a_program_of_the_checkout(checkout: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    git(checkout, "config", "extensions.partialClone", "far")
    git(checkout, "config", "remote.far.url", str(tmp_path))
    git(checkout, "config", "remote.far.promisor", "true")
    git(checkout, "config", "remote.far.uploadpack", f"touch {ran}; true")
    forge = forge_of(checkout)
    with pytest.raises(UserError):
        forge.resolve("0" * 39 + "1")
    with pytest.raises(UserError), forge.tree("0" * 39 + "1"):
        pass
    assert not ran.exists()


def test_changed_paths_are_those_since_the_commit_in_common(checkout: Path) -> None:
    git(checkout, "checkout", "-qb", "feature")
    git(checkout, "mv", "train.py", "new name.py")
    (checkout / "näh.py").write_text("1\n", encoding="utf-8")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "Move")
    head = git(checkout, "rev-parse", "HEAD")
    git(checkout, "checkout", "-q", "main")
    (checkout / "later.py").write_text("1\n")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "Later")
    base = git(checkout, "rev-parse", "HEAD")
    assert forge_of(checkout).changed_paths(base, head) == {"train.py", "new name.py", "näh.py"}


def test_wherever_in_a_checkout_one_stands_it_is_the_whole(checkout: Path, tmp_path: Path) -> None:
    (checkout / "research" / "nets").mkdir(parents=True)
    (checkout / "research" / "nets" / "fit.py").write_text("import torch\n")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "Second")
    inner = checkout / "research" / "nets"
    home, whole = tmp_path / "home", forge_of(checkout)
    forge = LocalForge.at_root(inner, lambda _body: None, home=home, environment=os.environ)
    # Its machines are found again from any folder, and what is shipped is the tree that the machine is checked for.
    assert forge.repository() == whole.repository()
    with forge.tree(forge.pull_request(0).head_sha) as folder:
        assert (folder / "train.py").exists()
        assert (folder / "research" / "nets" / "fit.py").exists()
    outside = LocalForge.at_root(tmp_path, lambda _body: None, home=home, environment=os.environ)
    with pytest.raises(UserError, match="not_a_repository"):
        outside.pull_request(0)
