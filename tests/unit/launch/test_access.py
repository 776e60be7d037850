from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_lol_action.domain.request import Deny
from gpu_lol_action.launch.access import (
    Access,
    PublicKey,
    RefusedKey,
    build_access_script,
    decide_access,
    parse_access_output,
    parse_public_key,
)


def body(key_type: str, *fields: bytes) -> str:
    blob = b"".join(struct.pack(">I", len(field)) + field for field in (key_type.encode(), *fields))
    return base64.b64encode(blob).decode()


ED25519 = f"ssh-ed25519 {body('ssh-ed25519', bytes(range(32)))}"
OTHER = f"ssh-ed25519 {body('ssh-ed25519', bytes(range(32, 64)))}"
EXPONENT, MODULUS = b"\x01\x00\x01", b"\x00" + b"\xc1" * 256
RSA_2048 = f"ssh-rsa {body('ssh-rsa', EXPONENT, MODULUS)}"
RSA_1024 = f"ssh-rsa {body('ssh-rsa', EXPONENT, MODULUS[:129])}"
SECURITY_KEY = f"sk-ssh-ed25519@openssh.com {body('sk-ssh-ed25519@openssh.com', bytes(32), b'ssh:')}"


@pytest.mark.parametrize("line", [ED25519, RSA_2048, SECURITY_KEY, f"{ED25519} me@laptop with words", f" {ED25519} "])
def test_parse_public_key_takes_keys_and_puts_the_login_as_comment(line: str) -> None:
    key = parse_public_key(line, "octo-cat")

    assert isinstance(key, PublicKey)
    assert key.line == " ".join([*line.split()[:2], "octo-cat"])


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ssh-ed25519",
        RSA_1024,
        f"ssh-dss {body('ssh-dss', b'1', b'2', b'3', b'4')}",
        f'command="rm -rf /" {ED25519}',
        f"no-pty {ED25519}",
        f"{ED25519}\n{OTHER}",
        f"{ED25519}\r{OTHER}",
        f"{ED25519}\u2028{OTHER}",
        ED25519[:-8],
        ED25519.replace("ssh-ed25519 ", "ssh-rsa ", 1),
        "ssh-ed25519 !!!!",
        f"ssh-ed25519 {base64.b64encode(b'x' * 9000).decode()}",
        f"ssh-ed25519 {body('ssh-ed25519', b'')}",
        f"ssh-ed25519\t{ED25519.split()[1]}",
    ],
)
def test_parse_public_key_refuses_what_is_no_plain_key(line: str) -> None:
    assert isinstance(parse_public_key(line, "octo-cat"), RefusedKey)


@given(st.text(max_size=300))
def test_parse_public_key_never_lets_a_second_line_through(text: str) -> None:
    for line in (text, f"{ED25519} {text}", f"{text} {ED25519}"):
        key = parse_public_key(line, "octo-cat")
        if isinstance(key, PublicKey):
            assert len(key.line.splitlines()) == 1
            assert key.line.split()[0].startswith(("ssh-", "ecdsa-", "sk-"))


def test_decide_access_takes_all_keys_of_all_persons_once() -> None:
    access = decide_access({"octo-cat": [ED25519, RSA_1024, f"{ED25519} again"], "hubot": [OTHER, ED25519]})

    assert isinstance(access, Access)
    assert [key.line for key in access.keys] == [f"{ED25519} octo-cat", f"{OTHER} hubot"]
    assert [(refused.login, "1024 bits" in refused.why) for refused in access.refused] == [("octo-cat", True)]


@pytest.mark.parametrize(("keys", "why"), [([], "octo-cat.keys is empty"), ([RSA_1024], "1024 bits")])
def test_decide_access_denies_without_a_key_and_says_how_to_add_one(keys: list[str], why: str) -> None:
    denial = decide_access({"octo-cat": keys})

    assert isinstance(denial, Deny)
    assert denial.reason_code == "ssh_key_missing"
    assert why in denial.why
    assert "gh ssh-key add" in denial.fix


def test_decide_access_denies_when_a_shared_user_has_none() -> None:
    denial = decide_access({"octo-cat": [ED25519], "hubot": []})

    assert isinstance(denial, Deny)
    assert "@hubot" in denial.what


@pytest.mark.parametrize("login", ["", "a b", "x\ny", "-x", "a;b", "$(id)", "a" * 200])
def test_decide_access_refuses_what_is_no_login(login: str) -> None:
    assert isinstance(decide_access({login: [ED25519]}), Deny)


@pytest.mark.parametrize("nonce", ["", "short", "with space 123", "x" * 80, "a'b1234567"])
def test_build_access_script_needs_a_plain_nonce(nonce: str) -> None:
    with pytest.raises(ValueError, match="nonce"):
        build_access_script(Access(()), nonce)


def test_parse_access_output_believes_only_lines_with_the_nonce() -> None:
    assert parse_access_output("::gpu-lol-access nonce123 done\n", "nonce123") is None
    assert parse_access_output("::gpu-lol-access othernonce done\n", "nonce123") is not None
    assert parse_access_output("x ::gpu-lol-access nonce123 done\n", "nonce123") is not None
    assert parse_access_output("::gpu-lol-access nonce123 failed no room\n", "nonce123") == "no room"
