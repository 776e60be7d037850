"""New commits on a machine that is in use, over a real sshd with a real git: work is never touched, and why is said."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.launch.code import (
    CodeKept,
    CodeNotShipped,
    CodeRequest,
    CodeShipped,
    build_code_script,
    build_sync_script,
    parse_code_output,
    parse_sync_output,
)
from tests.fixtures.machines.machine import Machine
from tests.support.shipped_code import git

NONCE = "a1b2c3d4e5f6"


@pytest.fixture
def shell(machine: Machine, shell: OpenSsh) -> Iterator[OpenSsh]:
    yield shell
    shell.run(machine.endpoint, "rm -rf ~/train ~/train.* ~/.gpu-lol")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits: the second changes, adds and removes files, with line ends, filters and links that git would rather change."""
    folder = tmp_path / "train"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / ".git/info/attributes").write_text("* -text -filter -ident\n")
    (folder / ".gitattributes").write_text("* text=auto\n*.bin filter=lfs\n")
    (folder / "train.py").write_bytes(b"print(1)\r\n")
    (folder / "old.py").write_text("old\n")
    (folder / "outside").symlink_to("/etc/shadow")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "train.py").write_bytes(b"print(2)\r\n")
    (folder / "new.bin").write_bytes(bytes(range(256)))
    (folder / "sub").mkdir()
    (folder / "sub/run.sh").write_text("#!/bin/sh\n")
    (folder / "sub/run.sh").chmod(0o755)
    (folder / "further").symlink_to("../../etc/passwd")
    (folder / "old.py").unlink()
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "second")
    return folder


def request_of(repository: Path, revision: str) -> CodeRequest:
    sha, tree = git(repository, "rev-parse", revision, f"{revision}^{{tree}}").decode().split()
    content = git(repository, "cat-file", "commit", sha)
    return CodeRequest("acme/train", sha, tree, "feat/long", "https://github.com/acme/train.git", content)


def archive_of(repository: Path, sha: str, folder: Path) -> Path:
    path = folder / f"{sha}.tar.gz"
    git(repository, "archive", "--format=tar.gz", f"--output={path}", sha)
    return path


def ship(shell: OpenSsh, machine: Machine, repository: Path, tmp_path: Path, **changes: object) -> CodeRequest:
    request = replace(request_of(repository, "HEAD~1"), **changes)  # type: ignore[arg-type]  # keyword bag
    archive = archive_of(repository, request.sha, tmp_path)
    output = shell.run(machine.endpoint, build_code_script(request, NONCE), stdin=archive)
    assert isinstance(parse_code_output(output.stdout, request, NONCE), CodeShipped), output
    return request


def sync(
    shell: OpenSsh, machine: Machine, repository: Path, tmp_path: Path, **changes: object
) -> CodeShipped | CodeKept | CodeNotShipped:
    before = request_of(repository, "HEAD~1").sha
    request = request_of(repository, "HEAD")
    archive = archive_of(repository, request.sha, tmp_path)
    request = replace(request, **changes)  # type: ignore[arg-type]  # keyword bag
    output = shell.run(machine.endpoint, build_sync_script(request, before, NONCE), stdin=archive)
    return parse_sync_output(output.stdout, request, NONCE)


def there(shell: OpenSsh, machine: Machine, command: str) -> str:
    return shell.run(machine.endpoint, f"cd ~/train && {command}").stdout


def picture(shell: OpenSsh, machine: Machine) -> str:
    """All that is in the checkout, with git's own state."""
    files = "find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; find . -type l | sort"
    return there(
        shell,
        machine,
        f"{files}; git rev-parse HEAD; git symbolic-ref HEAD; git status --porcelain; cat ../.gpu-lol/GPU_LOL_SHA",
    )


def test_clean_checkout_moves_on_and_is_the_commit(
    machine: Machine, shell: OpenSsh, repository: Path, tmp_path: Path
) -> None:
    ship(shell, machine, repository, tmp_path)
    there(
        shell,
        machine,
        "mkdir runs && echo loss > runs/log.txt && echo mine > notes.txt && echo '*.log eol=crlf' > .git/info/attributes",
    )
    found = sync(shell, machine, repository, tmp_path)
    head, tree = git(repository, "rev-parse", "HEAD", "HEAD^{tree}").decode().split()
    assert isinstance(found, CodeShipped), found
    assert (found.head, found.tree_id, found.is_exact_commit, found.branch) == (head, tree, True, "feat/long")
    assert there(shell, machine, "git rev-parse HEAD; git write-tree; git symbolic-ref --short HEAD").split() == [
        head,
        tree,
        "feat/long",
    ]
    assert there(shell, machine, "od -c train.py | head -1").split()[-2:] == ["\\r", "\\n"]
    assert there(shell, machine, "sha256sum < new.bin; stat -c %a sub/run.sh; ls old.py").split()[-1] == "755"
    assert there(shell, machine, "cat runs/log.txt notes.txt").split() == ["loss", "mine"]
    assert there(shell, machine, "find . -type l") == "", "links that lead out are not made"
    assert there(shell, machine, "git status --porcelain --untracked-files=no") == ""
    assert there(shell, machine, "cat .git/info/attributes; ls .git/info").split("\n")[0] == "*.log eol=crlf"
    assert there(shell, machine, "cat ~/.gpu-lol/GPU_LOL_SHA").strip() == head
    assert there(shell, machine, "ls -A ~/.gpu-lol | grep -c incoming").strip() == "0"
    assert there(shell, machine, "git log --oneline | wc -l; git fsck 2>&1 | grep -ci error").split() == ["1", "0"]


@pytest.mark.parametrize(
    ("work", "of", "count"),
    [
        ("echo changed >> train.py", "changed", 1),
        ("rm train.py; echo x >> .gitattributes; git add .gitattributes", "changed", 2),
        ("git -c user.name=a -c user.email=a@b commit -q --allow-empty -m mine", "commits", 1),
        ("mkdir sub && echo mine > sub/run.sh", "untracked", None),
        ("echo mine > new.bin", "untracked", None),
        ("git checkout -q --detach", "branch", 0),
    ],
)
def test_work_is_left_as_it_is_and_said(
    machine: Machine, shell: OpenSsh, repository: Path, tmp_path: Path, work: str, of: str, count: int | None
) -> None:
    ship(shell, machine, repository, tmp_path)
    there(shell, machine, work)
    before = picture(shell, machine)
    found = sync(shell, machine, repository, tmp_path)
    assert isinstance(found, CodeKept), found
    assert found.of == of
    assert count is None or found.count == count
    assert picture(shell, machine) == before
    assert there(shell, machine, "ls -A ~/.gpu-lol | grep -c incoming; ls .git/info").split()[0] == "0"


def test_checkout_that_is_gone_is_said(machine: Machine, shell: OpenSsh, repository: Path, tmp_path: Path) -> None:
    ship(shell, machine, repository, tmp_path)
    shell.run(machine.endpoint, "mv ~/train ~/train.moved")
    assert sync(shell, machine, repository, tmp_path) == CodeKept("no_checkout", 0)


def test_another_tree_than_the_commits_changes_nothing(
    machine: Machine, shell: OpenSsh, repository: Path, tmp_path: Path
) -> None:
    ship(shell, machine, repository, tmp_path)
    before = picture(shell, machine)
    found = sync(shell, machine, repository, tmp_path, tree_id="ab" * 20)
    assert isinstance(found, CodeNotShipped)
    assert "wrong tree" in found.why
    assert picture(shell, machine) == before


def test_commit_whose_bytes_are_not_known_moves_on_too(
    machine: Machine, shell: OpenSsh, repository: Path, tmp_path: Path
) -> None:
    ship(shell, machine, repository, tmp_path, commit_object=b"")
    found = sync(shell, machine, repository, tmp_path, commit_object=b"")
    assert isinstance(found, CodeShipped), found
    assert not found.is_exact_commit
    assert there(shell, machine, "git rev-parse HEAD^{tree}").strip() == request_of(repository, "HEAD").tree_id


def test_nothing_of_the_checkouts_configuration_runs(
    machine: Machine, shell: OpenSsh, repository: Path, tmp_path: Path
) -> None:
    ship(shell, machine, repository, tmp_path)
    hook = "touch ~/ran; cat"
    there(shell, machine, f"git config core.fsmonitor '{hook}' && git config filter.lfs.smudge '{hook}' && git config filter.lfs.clean '{hook}'"
          f" && for n in post-checkout reference-transaction post-index-change; do printf '#!/bin/sh\\n{hook}\\n' > .git/hooks/$n; chmod +x .git/hooks/$n; done")  # fmt: skip
    there(shell, machine, "rm -f ~/ran")
    assert isinstance(sync(shell, machine, repository, tmp_path), CodeShipped)
    assert shell.run(machine.endpoint, "ls ~/ran 2> /dev/null").stdout == ""


def test_what_is_no_commit_makes_no_script(repository: Path) -> None:
    with pytest.raises(ValueError, match="no git object id"):
        build_sync_script(request_of(repository, "HEAD"), "HEAD; reboot", NONCE)
    assert (
        subprocess.run(
            ["bash", "-n"],
            input=build_sync_script(request_of(repository, "HEAD"), "a" * 40, NONCE),
            text=True,
            check=False,
        ).returncode
        == 0
    )
