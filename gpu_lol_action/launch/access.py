"""Who may log in: the requester's public keys from GitHub, in a marked block; passwords may not.

Only our own block is ever replaced: keys that the platform or SkyPilot put there stay, as the sweeper needs them.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu_lol_action.domain.request import Deny
from gpu_lol_action.launch.remote_scripts import build_script, check_nonce, marked_lines

MIN_RSA_BITS = 2048
"""NIST SP 800-131A's floor, and GitHub's own for new keys."""

ADD_A_KEY = (
    'Make a key and add it (the second step also on GitHub: Settings, "SSH and GPG keys"), then give the command again:\n'
    "ssh-keygen -t ed25519\n"
    "gh ssh-key add ~/.ssh/id_ed25519.pub"
)
_MAX_KEYS_PER_PERSON = 50
_MAX_KEY_CHARACTERS = 8192
_TYPES = frozenset(
    {
        "ssh-ed25519",
        "ssh-rsa",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "sk-ssh-ed25519@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com",
    }
)
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9])?(?:\[bot\])?")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that sshd will take: type and base64 body; ``login`` is its comment in ``authorized_keys``."""

    key_type: str
    body: str
    login: str

    @property
    def line(self) -> str:
        """The line of ``authorized_keys``, without options."""
        return f"{self.key_type} {self.body} {self.login}"


@dataclass(frozen=True, slots=True)
class RefusedKey:
    """A key that is left out, and why."""

    login: str
    why: str


@dataclass(frozen=True, slots=True)
class Access:
    """Keys to install, in the order of persons and of their keys, and what was left out."""

    keys: tuple[PublicKey, ...]
    refused: tuple[RefusedKey, ...] = ()


def decide_access(keys_by_login: Mapping[str, Sequence[str]]) -> Access | Deny:
    """Return the keys to install, or a denial for the first person (requester first) who has none that can be used."""
    keys: list[PublicKey] = []
    refused: list[RefusedKey] = []
    for login, lines in keys_by_login.items():
        if not _LOGIN.fullmatch(login):
            return Deny("login_invalid", f"`{login[:40]!r}` is not a user name.")
        parsed = [parse_public_key(line, login) for line in list(lines)[:_MAX_KEYS_PER_PERSON]]
        mine = [key for key in parsed if isinstance(key, PublicKey)]
        mine_refused = [key for key in parsed if isinstance(key, RefusedKey)]
        if not mine:
            return _deny_without_key(login, mine_refused)
        keys += mine
        refused += mine_refused
    unique: dict[tuple[str, str], PublicKey] = {}
    for key in keys:
        unique.setdefault((key.key_type, key.body), key)
    return Access(tuple(unique.values()), tuple(refused))


def _deny_without_key(login: str, refused: Sequence[RefusedKey]) -> Deny:
    if refused:
        why = f"{len(refused)} were found and none can be used: {refused[0].why}."
    else:
        why = f"https://github.com/{login}.keys is empty, and a machine is reached with your own key only."
    return Deny(
        "ssh_key_missing",
        f"@{login} has no SSH key on GitHub that a machine would take.",
        why=why,
        fix=ADD_A_KEY,
    )


def parse_public_key(line: str, login: str) -> PublicKey | RefusedKey:
    """Read ``type base64 [comment]``; the comment is replaced by the login. Options and line breaks are refused."""
    words = line.strip(" ").split(" ")
    if len(line) > _MAX_KEY_CHARACTERS or any(character in line for character in "\n\r\0\x0b\x0c\x85\u2028\u2029"):
        return RefusedKey(login, "it is not one line")
    if len(words) < 2 or words[0] not in _TYPES:
        return RefusedKey(login, f"its type `{words[0][:40]}` is not one of {', '.join(sorted(_TYPES))}")
    try:
        blob = base64.b64decode(words[1], validate=True)
        fields = _fields(blob)
    except (binascii.Error, ValueError, struct.error):
        return RefusedKey(login, "it is not a whole key")
    if not fields or fields[0] != words[0].encode("ascii"):
        return RefusedKey(login, "its body is of another type than it says")
    if words[0] == "ssh-rsa":
        bits = int.from_bytes(fields[2], "big").bit_length() if len(fields) == 3 else 0
        if bits < MIN_RSA_BITS:
            return RefusedKey(login, f"it is an RSA key of {bits} bits, under {MIN_RSA_BITS}")
    return PublicKey(words[0], base64.b64encode(blob).decode("ascii"), login)


def _fields(blob: bytes) -> list[bytes]:
    """Split an SSH wire blob (RFC 4251, section 5: length in 4 bytes, then the bytes)."""
    fields: list[bytes] = []
    while blob:
        (length,) = struct.unpack(">I", blob[:4])
        if length > len(blob) - 4:
            raise ValueError("a field is cut off")
        fields.append(blob[4 : 4 + length])
        blob = blob[4 + length :]
    if len(fields) < 2 or not all(fields[1:2]):
        raise ValueError("the key is missing")
    return fields


AGE_TYPES: Mapping[str, str] = {"ssh-ed25519": "~/.ssh/id_ed25519", "ssh-rsa": "~/.ssh/id_rsa"}
"""Key types that age encrypts to (filippo.io/age, SSH keys), with the file in which OpenSSH keeps such a key."""


@dataclass(frozen=True, slots=True)
class Readers:
    """Whose keys open what is encrypted: public lines, the identity file of the first person, and what cannot open it."""

    logins: tuple[str, ...]
    keys: tuple[str, ...]
    identity: str
    left_out: tuple[str, ...]


def decide_readers(access: Access, logins: Sequence[str]) -> Readers | Deny:
    """Return the keys to encrypt to, or a denial for the first person who could open nothing."""
    lines: list[str] = []
    left_out: list[str] = []
    identities: list[str] = []
    for login in logins:
        mine = [key for key in access.keys if key.login == login]
        able = [key for key in mine if key.key_type in AGE_TYPES]
        types = list(dict.fromkeys(key.key_type for key in mine if key not in able))
        if not able:
            return _deny_reader(login, types)
        lines += [f"{key.key_type} {key.body}" for key in able]
        left_out += [f"{key_type} of {login}" for key_type in types]
        identities += [AGE_TYPES[key_type] for key_type in AGE_TYPES if key_type in {key.key_type for key in able}]
    return Readers(tuple(logins), tuple(lines), identities[0], tuple(left_out))


def _deny_reader(login: str, types: Sequence[str]) -> Deny:
    theirs = ", ".join(f"`{each}`" for each in types) or "another person's"
    return Deny(
        "ssh_key_cannot_decrypt",
        f"@{login} has no SSH key on GitHub that the machine's address could be encrypted to",
        f"the policy says `ssh_details: encrypted`; age opens with ed25519 and RSA keys, not with {theirs}.",
        ADD_A_KEY,
    )


def build_access_script(access: Access, nonce: str) -> str:
    """Return the script that installs the keys and turns password authentication off on the machine."""
    return build_script(
        "access", values={"nonce": check_nonce(nonce), "keys": "\n".join(key.line for key in access.keys)}
    )


def build_share_script(login: str, keys: Sequence[PublicKey], nonce: str) -> str:
    """Return the script that makes these the keys of one person in our block; of nobody else any key changes."""
    if not _LOGIN.fullmatch(login):
        raise ValueError(f"{login[:80]!r} is no user name")
    lines = "\n".join(key.line for key in keys)
    return build_script("share", values={"nonce": check_nonce(nonce), "login": login, "person_keys": lines})


def parse_access_output(output: str, nonce: str) -> str | None:
    """Return None when the script says that all is done, else why not."""
    for line in marked_lines(output, "access", nonce):
        if line == "done":
            return None
        if line.startswith("failed "):
            return line.removeprefix("failed ")[:300]
    return "the script ended before it was done"
