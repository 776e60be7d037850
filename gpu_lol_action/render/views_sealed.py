"""How to log in, for the eyes of those who may: the text that is encrypted, and the one command that opens it."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.launch.access import Readers
from gpu_lol_action.render.markdown import Safe, code, join
from gpu_lol_action.render.views import one_word, ssh_view


@dataclass(frozen=True, slots=True)
class Sealed:
    """The login details encrypted with age, as lines of ASCII, and to whom."""

    armored: str
    readers: Readers


@dataclass(frozen=True, slots=True)
class SealedView:
    """``command`` prints the details; ``readers`` are who can, ``left_out`` which of their keys cannot."""

    command: str
    identity: Safe
    readers: Safe
    left_out: Safe


def sealed_view(sealed: Sealed | None) -> SealedView | None:
    """Return the command as one block to paste, so that nothing has to be looked for or saved."""
    if sealed is None:
        return None
    readers = sealed.readers
    return SealedView(
        command=f"age -d -i {readers.identity} <<'AGE'\n{sealed.armored}\nAGE",
        identity=code(readers.identity),
        readers=join((code(login) for login in readers.logins), ", "),
        left_out=join((code(each) for each in readers.left_out), ", "),
    )


def login_details(record: EnvironmentRecord, repository_name: str) -> str:
    """Return what whoever decrypts it reads in a terminal: the login command first."""
    if record.ssh is None:
        raise LookupError("a machine that is handed over has an address")
    folder = one_word(repository_name.rpartition("/")[2])
    ssh = ssh_view(record.ssh, record.name, folder)
    home = "/root" if record.ssh.user == "root" else f"/home/{one_word(record.ssh.user)}"
    parts = [
        ssh.command,
        f"# host key: {ssh.fingerprint.strip('`')}" if ssh.fingerprint else "",
        f"# ~/.ssh/config\n{ssh.config}",
        f"# ~/.ssh/known_hosts\n{ssh.known_hosts}" if ssh.known_hosts else "",
        f"# editors, once that stands in ~/.ssh/config\ncode --remote ssh-remote+{one_word(record.name)} {home}/{folder}",
        "# to push from there: ssh-add, then the first line with -A; git push goes to the branch, and no key is left there",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
