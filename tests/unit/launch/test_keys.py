from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.serialization import load_ssh_private_key

from gpu_lol_action.launch.keys import derive_key_pair

SECRET = "rpa_0123456789ABCDEF"


def test_same_secret_repository_and_version_give_the_same_pair():
    first = derive_key_pair(SECRET, 42, 1)
    second = derive_key_pair(SECRET, 42, 1)
    assert first.public_line == second.public_line


def test_derivation_never_changes():
    # A machine that was launched by an older release must still open for this one.
    expected = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINRvYVN7zRMMt3C/8JZvKLP1YvKNheIoub8k62fHv20e gpu-lol-42-v1"
    assert derive_key_pair(SECRET, 42, 1).public_line == expected


@pytest.mark.parametrize("other", [("rpa_0123456789ABCDEG", 42, 1), (SECRET, 43, 1), (SECRET, 42, 2)])
def test_another_input_gives_another_pair(other):
    assert derive_key_pair(*other).public_line.split()[1] != derive_key_pair(SECRET, 42, 1).public_line.split()[1]


def test_private_half_is_a_file_that_openssh_reads_and_fits_the_public_half():
    pair = derive_key_pair(SECRET, 42, 1)
    key = load_ssh_private_key(pair.private_pem, None)
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    assert key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode() == " ".join(
        pair.public_line.split()[:2]
    )


def test_private_half_is_not_shown():
    assert "PRIVATE" not in repr(derive_key_pair(SECRET, 42, 1))


def test_short_secret_is_refused():
    with pytest.raises(ValueError, match="needs 16"):
        derive_key_pair("short", 42, 1)
