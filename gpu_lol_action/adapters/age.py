"""Encryption to people's SSH keys in age's format (age-encryption.org/v1), through pyrage."""

from __future__ import annotations

from collections.abc import Sequence


def encrypt(data: bytes, public_keys: Sequence[str]) -> tuple[bytes, int]:
    """Return the data encrypted to every key that age knows (ed25519 and RSA), and to how many it is.

    Raises ValueError where none of the keys can be used.
    """
    import pyrage

    recipients = []
    for line in public_keys:
        try:
            recipients.append(pyrage.ssh.Recipient.from_str(" ".join(line.split()[:2])))
        except (pyrage.RecipientError, ValueError):
            continue  # security keys and ECDSA cannot decrypt; who has no other key gets it through `up --restore`
    if not recipients:
        raise ValueError("none of the keys is one that age encrypts to")
    return pyrage.encrypt(data, recipients), len(recipients)


def decrypt(data: bytes, private_pem: bytes) -> bytes:
    """Return what was encrypted to this private key among others; ValueError where it was not."""
    import pyrage

    try:
        return bytes(pyrage.decrypt(data, [pyrage.ssh.Identity.from_buffer(private_pem)]))
    except pyrage.DecryptError as error:
        raise ValueError("it is not encrypted to this key") from error
