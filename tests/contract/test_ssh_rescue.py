"""Work saved from one real machine, opened with the real age tool, and put back on another checkout."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from gpu_lol_action.adapters import age
from gpu_lol_action.adapters.ssh import OpenSsh
from gpu_lol_action.adapters.ssh_streams import MAX_FILE_BYTES
from gpu_lol_action.adapters.vault_files import FileVault
from gpu_lol_action.errors import UserError
from gpu_lol_action.launch.keys import derive_key_pair
from gpu_lol_action.launch.rescue import (
    Fetched,
    Restored,
    build_rescue_script,
    build_restore_script,
    parse_rescue_output,
    parse_restore_output,
)
from tests.fixtures.machines.machine import Machine, make_key

NONCE = "0123456789abcdef"
MAKE = """
set -e
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
rm -rf ~/work ~/rescued-work; git init -q ~/work; cd ~/work
git config user.email a@b; git config user.name a
printf 'one\\ntwo\\nthree\\n' > text; printf '\\0\\1\\2' > binary; echo 'checkpoints/' > .gitignore; echo x > gone
git add -A; git commit -qm base; git rev-parse HEAD
"""
WORK = """
set -e; cd ~/work
echo commit > committed; git add committed; git commit -qm 'my commit'
sed -i 's/two/TWO/' text; printf '\\3\\4' > binary; rm gone
echo new > 'new file'; mkdir -p checkpoints/deep; echo weights > checkpoints/deep/last.pt; echo log > checkpoints/run.log
ln -s /etc/passwd link; echo ran > ~/monitor; chmod +x ~/monitor
git config core.fsmonitor 'touch ~/monitor-ran'; git config diff.external 'touch ~/differ-ran'
"""


def rescue(
    shell: OpenSsh, machine: Machine, sha: str, into: Path, keep: tuple[str, ...] = (), limit: int | None = None
) -> Fetched:
    script = build_rescue_script("work", sha, keep, NONCE)
    if limit is not None:
        script = script.replace("max_bytes=268435456", f"max_bytes={limit}")
    fetched = parse_rescue_output(shell.run(machine.endpoint, script, into=into).stderr, NONCE)
    assert isinstance(fetched, Fetched), fetched
    return fetched


def test_what_would_be_lost_comes_back_on_the_next_machine(machine: Machine, shell: OpenSsh, tmp_path: Path) -> None:
    sha = shell.run(machine.endpoint, MAKE).stdout.strip()
    shell.run(machine.endpoint, WORK)
    packed = tmp_path / "work.tar.gz"
    fetched = rescue(shell, machine, sha, packed, ("checkpoints/**/*.pt", "../../etc/passwd", "-rf"))

    # text, binary, gone and the committed file; one commit; the new file and the checkpoint, no link and no log.
    assert fetched == Fetched(changed=4, commits=1, files=2, left_out=0)
    assert shell.run(machine.endpoint, "ls ~/monitor-ran ~/differ-ran ~/.gpu-lol/rescue.*").stdout == ""

    sealed, recipients = age.encrypt(packed.read_bytes(), [(make_key(tmp_path).with_suffix(".pub")).read_text()])
    assert recipients == 1
    opened = subprocess.run(
        ["age", "-d", "-i", str(tmp_path / "key")], input=sealed, capture_output=True, check=True
    ).stdout
    assert opened == packed.read_bytes(), "a person opens it with the real age and their own SSH key"

    assert shell.run(machine.endpoint, MAKE).stdout.strip()
    output = shell.run(machine.endpoint, build_restore_script("work", NONCE), stdin=opened)
    assert parse_restore_output(output.stdout, NONCE) == Restored(("commits", "changes", "files"), ())
    back = "cd ~/work; cat text committed 'new file' checkpoints/deep/last.pt; od -An -tx1 binary; ls gone checkpoints/run.log"
    assert shell.run(machine.endpoint, back).stdout.split() == [
        "one",
        "TWO",
        "three",
        "commit",
        "new",
        "weights",
        "03",
        "04",
    ]
    assert shell.run(machine.endpoint, "cd ~/work; git log --format=%s rescued").stdout.split("\n")[0] == "my commit"


def test_what_does_not_fit_the_new_commit_waits_beside_it(machine: Machine, shell: OpenSsh, tmp_path: Path) -> None:
    sha = shell.run(machine.endpoint, MAKE).stdout.strip()
    shell.run(machine.endpoint, "cd ~/work; sed -i 's/two/TWO/' text; echo mine > extra")
    packed = tmp_path / "work.tar.gz"
    rescue(shell, machine, sha, packed)
    shell.run(machine.endpoint, f"{MAKE}\nprintf 'quite\\nother\\n' > text; echo theirs > extra; git commit -qam next")

    output = shell.run(machine.endpoint, build_restore_script("work", NONCE), stdin=packed)
    assert parse_restore_output(output.stdout, NONCE) == Restored(("files",), ("changes.patch",))
    assert shell.run(machine.endpoint, "cat ~/work/text ~/work/extra").stdout.split() == ["quite", "other", "theirs"]
    assert "+TWO" in shell.run(machine.endpoint, "cat ~/rescued-work/changes.patch").stdout


def test_nothing_to_lose_is_nothing_to_keep(machine: Machine, shell: OpenSsh, tmp_path: Path) -> None:
    sha = shell.run(machine.endpoint, MAKE).stdout.strip()
    assert rescue(shell, machine, sha, tmp_path / "x").is_empty


def test_what_is_too_large_is_listed_and_the_rest_is_kept(machine: Machine, shell: OpenSsh, tmp_path: Path) -> None:
    sha = shell.run(machine.endpoint, MAKE).stdout.strip()
    shell.run(machine.endpoint, "cd ~/work; head -c 200000 /dev/zero > huge; echo small > small")
    packed = tmp_path / "work.tar.gz"
    fetched = rescue(shell, machine, sha, packed, limit=100_000)

    assert (fetched.files, fetched.left_out) == (1, 1)
    with tarfile.open(packed) as archive:
        listed = archive.extractfile("./LEFT_OUT.txt")
        assert listed is not None
        assert listed.read() == b"huge\n"


def test_a_machine_without_the_checkout_says_so(machine: Machine, shell: OpenSsh, tmp_path: Path) -> None:
    script = build_rescue_script("elsewhere", "0" * 40, (), NONCE)
    said = shell.run(machine.endpoint, script, into=tmp_path / "x").stderr
    assert parse_rescue_output(said, NONCE) == "there is no checkout"
    assert isinstance(parse_rescue_output("", NONCE), str)
    assert isinstance(parse_restore_output("", NONCE), str)


def test_a_hostile_machine_cannot_fill_the_runner(machine: Machine, shell: OpenSsh, tmp_path: Path) -> None:
    into = tmp_path / "x"
    output = shell.run(machine.endpoint, f"head -c {MAX_FILE_BYTES + 5_000_000} /dev/zero; echo said >&2", into=into)
    assert into.stat().st_size == MAX_FILE_BYTES
    assert (output.stdout, output.stderr) == ("", "said\n")


def test_an_archive_that_is_none_is_no_restore(machine: Machine, shell: OpenSsh) -> None:
    output = shell.run(machine.endpoint, build_restore_script("work", NONCE), stdin=b"no archive")
    assert parse_restore_output(output.stdout, NONCE) == "what was saved cannot be unpacked"


@pytest.mark.parametrize("key_type", ["ed25519", "rsa"])
def test_age_opens_for_each_of_the_keys_and_for_nobody_else(tmp_path: Path, key_type: str) -> None:
    assert shutil.which("age"), "the real tool is part of what `make test` installs"
    first, other = make_key(tmp_path, "first", key_type), make_key(tmp_path, "other")
    security_key = "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t"
    lines = [security_key, first.with_suffix(".pub").read_text()]
    sealed, recipients = age.encrypt(b"work", lines)
    assert recipients == 1
    opened = subprocess.run(["age", "-d", "-i", str(first)], input=sealed, capture_output=True, check=True)
    assert opened.stdout == b"work"
    refused = subprocess.run(["age", "-d", "-i", str(other)], input=sealed, capture_output=True, check=False)
    assert refused.returncode != 0
    with pytest.raises(ValueError, match="none of the keys"):
        age.encrypt(b"work", [security_key])


def test_a_terminals_vault_keeps_each_and_opens_with_the_machines_key(tmp_path: Path) -> None:
    pair = derive_key_pair("x" * 40, 5, 1)
    vault = FileVault(tmp_path / "rescues", pair.private_pem, pair.public_line)
    first = vault.keep("gl-au-1", b"first", [])
    second = vault.keep("gl-au-1", b"second", [make_key(tmp_path).with_suffix(".pub").read_text()])

    assert (first.recipients, second.recipients) == (0, 1)
    assert (vault.fetch(first.locator), vault.fetch(second.locator)) == (b"first", b"second")
    subprocess.run(shlex.split(second.command), check=True, cwd=tmp_path)
    opened = subprocess.run(
        ["age", "-d", "-i", str(tmp_path / "key"), str(tmp_path / "work.age")], capture_output=True, check=True
    )
    assert opened.stdout == b"second"
    stranger = derive_key_pair("y" * 40, 5, 1)
    with pytest.raises(UserError):
        FileVault(tmp_path / "rescues", stranger.private_pem, stranger.public_line).fetch(first.locator)
