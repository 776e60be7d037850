"""Code of one commit on a machine, over a real sshd, with a real git on both sides."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.launch.code import CodeNotShipped, CodeRequest, CodeShipped, build_code_script, parse_code_output
from tests.fixtures.machines.machine import Machine
from tests.support.shipped_code import archive_of, git, make_odd_repository, request_of

NONCE = "a1b2c3d4e5f6"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_odd_repository(tmp_path_factory.mktemp("repository"))


@pytest.fixture
def shell(machine: Machine, shell: OpenSsh) -> Iterator[OpenSsh]:
    yield shell
    shell.run(machine.endpoint, "rm -rf ~/My.Repo* ~/.gpu-lol ~/.gitconfig")


def ship(machine: Machine, shell: OpenSsh, request: CodeRequest, archive: bytes) -> CodeShipped | CodeNotShipped:
    output = shell.run(machine.endpoint, build_code_script(request, NONCE), stdin=archive)
    return parse_code_output(output.stdout, request, NONCE)


def test_code_arrives_as_the_commit_itself(machine: Machine, shell: OpenSsh, repository: Path) -> None:
    request = request_of(repository)

    shipped = ship(machine, shell, request, archive_of(repository))

    assert shipped == CodeShipped("My.Repo", request.tree_id, request.sha, "feature/x", 2, is_exact_commit=True)
    look = """
    cd ~/My.Repo && git rev-parse HEAD && git branch --show-current && git status --porcelain && git remote get-url origin
    git log --oneline | wc -l; cat ~/.gpu-lol/GPU_LOL_SHA; ls -1 kept.log data/weights.bin inside; ./run.sh; test -L outside || echo none
    test -L absolute || echo none; sha256sum < data/weights.bin; git fsck --no-dangling 2>&1 | grep -v ^notice; git ls-files | wc -l
    """
    lines = shell.run(machine.endpoint, look).stdout.splitlines()
    weights = (
        subprocess.run(["sha256sum"], input=bytes(range(256)), capture_output=True, check=True).stdout.decode().strip()
    )
    assert lines == [
        request.sha,
        "feature/x",
        "https://github.com/octo/My.Repo.git",
        "1",
        request.sha,
        "data/weights.bin",
        "inside",
        "kept.log",
        "run",
        "none",
        "none",
        weights,
        str(len(git(repository, "ls-files").splitlines())),
    ]


def test_code_can_be_worked_on_there(machine: Machine, shell: OpenSsh, repository: Path) -> None:
    request = request_of(repository)
    ship(machine, shell, request, archive_of(repository))
    work = "cd ~/My.Repo && echo 1 >> run.sh && git diff --stat | tail -n 1 && git -c user.name=a -c user.email=b commit -qam more"

    output = shell.run(machine.endpoint, f"{work} && git rev-parse HEAD^ && git status --porcelain")

    assert output.stdout.splitlines() == [" 1 file changed, 1 insertion(+)", request.sha]


def test_code_without_the_commits_bytes_has_its_tree_and_says_so(
    machine: Machine, shell: OpenSsh, repository: Path
) -> None:
    request = replace(request_of(repository), commit_object=b"", branch="no such..branch")

    shipped = ship(machine, shell, request, archive_of(repository))

    assert isinstance(shipped, CodeShipped)
    assert not shipped.is_exact_commit
    assert (shipped.tree_id, shipped.branch) == (request.tree_id, "gpu-lol")
    assert shell.run(machine.endpoint, "cd ~/My.Repo && git status --porcelain").stdout == ""
    assert request.sha in shell.run(machine.endpoint, "cd ~/My.Repo && git log -1 --format=%s").stdout


@pytest.fixture
def public_origin(machine: Machine, shell: OpenSsh, repository: Path, tmp_path: Path) -> Iterator[None]:
    """What the machine gets when it asks GitHub for the repository."""
    git(tmp_path, "clone", "-q", "--bare", str(repository), "My.Repo.git")
    packed = subprocess.run(["tar", "-cz", "My.Repo.git"], cwd=tmp_path, check=True, capture_output=True).stdout
    shell.run(machine.endpoint, "mkdir -p /srv/octo && tar -xz --no-same-owner -C /srv/octo", stdin=packed)
    shell.run(machine.endpoint, "git config --global url.file:///srv/octo/.insteadOf https://github.com/octo/")
    yield
    shell.run(machine.endpoint, "rm -r /srv/octo")


def test_machine_asks_a_public_origin_for_the_commits_bytes(
    machine: Machine, shell: OpenSsh, repository: Path, public_origin: None
) -> None:
    request = replace(request_of(repository), commit_object=b"", may_fetch=True)

    shipped = ship(machine, shell, request, archive_of(repository))

    assert shipped == CodeShipped("My.Repo", request.tree_id, request.sha, "feature/x", 2, is_exact_commit=True)
    assert shell.run(machine.endpoint, "cd ~/My.Repo && git status --porcelain && git fsck 2>&1").exit_code == 0


@pytest.mark.parametrize("may_fetch", [True, False])
def test_machine_asks_a_public_origin_where_the_archive_leaves_files_out(
    machine: Machine, shell: OpenSsh, repository: Path, public_origin: None, may_fetch: bool
) -> None:
    request = replace(request_of(repository), may_fetch=may_fetch, gitlinks={})
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive_of(repository))) as source,
        tarfile.open(fileobj=out, mode="w:gz") as target,
    ):
        for member in source:
            if not member.name.endswith("train.py"):
                target.addfile(member, source.extractfile(member) if member.isfile() else None)
        target.addfile(tarfile.TarInfo("octo-repo-1234/extra.py"))

    shipped = ship(machine, shell, request, out.getvalue())

    if not may_fetch:
        assert isinstance(shipped, CodeNotShipped)
        return
    assert shipped == CodeShipped("My.Repo", request.tree_id, request.sha, "feature/x", 2, is_exact_commit=True)
    look = "cd ~/My.Repo && git status --porcelain && ls extra.py outside absolute 2>/dev/null; od -c train.py | head -n 1; ./run.sh"
    assert shell.run(machine.endpoint, look).stdout.splitlines() == [
        "0000000   p   r   i   n   t   (   '   $   I   d   $   '   )  \\r  \\n",
        "run",
    ]


@pytest.mark.parametrize("change", ["content", "mode", "missing", "extra"])
def test_code_that_differs_in_anything_is_refused(
    machine: Machine, shell: OpenSsh, repository: Path, change: str
) -> None:
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive_of(repository))) as source,
        tarfile.open(fileobj=out, mode="w:gz") as target,
    ):
        for member in source:
            data = source.extractfile(member).read() if member.isfile() else b""  # type: ignore[union-attr]
            if member.name.endswith("/run.sh"):
                if change == "missing":
                    continue
                if change == "content":
                    data = data.replace(b"echo", b"exit")
                if change == "mode":
                    member.mode = 0o644
            target.addfile(member, io.BytesIO(data))
        if change == "extra":
            extra = tarfile.TarInfo("octo-repo-1234/extra.py")
            target.addfile(extra)

    shipped = ship(machine, shell, request_of(repository), out.getvalue())

    assert isinstance(shipped, CodeNotShipped)
    assert "wrong tree" in shipped.why
    assert shell.run(machine.endpoint, "ls -A ~ ~/.gpu-lol | grep -i -e repo -e incoming").stdout == ""


def hostile_archive(*members: tuple[str, str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as target:
        for name, kind, text in members:
            info = tarfile.TarInfo(name)
            if kind == "link":
                info.type, info.linkname = tarfile.SYMTYPE, text
            else:
                info.size = len(text)
            target.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def test_hostile_archive_writes_nowhere_else(machine: Machine, shell: OpenSsh, repository: Path) -> None:
    request = replace(request_of(repository), tree_id="", strip_components=0)
    through_link = hostile_archive(("a", "link", "/root"), ("a/owned", "file", "x"), ("../owned", "file", "x"))
    git_folder = hostile_archive((".GIT/config", "file", "[core]\nfsmonitor=touch /root/owned\n"))

    for archive in (through_link, git_folder, b"no archive at all"):
        assert isinstance(ship(machine, shell, request, archive), CodeNotShipped)

    assert shell.run(machine.endpoint, "ls ~/owned ~/.gpu-lol/owned 2>/dev/null").stdout == ""


def test_existing_folder_is_moved_aside_and_nothing_lost(machine: Machine, shell: OpenSsh, repository: Path) -> None:
    shell.run(machine.endpoint, "mkdir ~/My.Repo && echo mine > ~/My.Repo/work")

    assert isinstance(ship(machine, shell, request_of(repository), archive_of(repository)), CodeShipped)
    assert shell.run(machine.endpoint, "cat ~/My.Repo.before-gpu-lol-1/work").stdout == "mine\n"
