"""Encryption to people's SSH keys in age's format (age-encryption.org/v1), through pyrage."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence

from gpu_lol_action.errors import GpuLolError


def encrypt(data: bytes, public_keys: Sequence[str]) -> tuple[bytes, int]:
    """Return the data encrypted to every key that age knows (ed25519 and RSA), and to how many it is.

    Raises ValueError where none of the keys can be used.
    """
    import pyrage

    recipients = _recipients(public_keys)
    return pyrage.encrypt(data, recipients), len(recipients)


def armor(text: str, public_keys: Sequence[str]) -> str:
    """Return a text encrypted to every key that age knows, as lines that can be pasted.

    Raises ValueError where none of the keys can be used.
    """
    import pyrage

    sealed: bytes = pyrage.encrypt(text.encode(), _recipients(public_keys), armored=True)
    return sealed.decode("ascii").strip()


def _recipients(public_keys: Sequence[str]) -> list[object]:
    import pyrage

    recipients: list[object] = []
    for line in public_keys:
        try:
            recipients.append(pyrage.ssh.Recipient.from_str(" ".join(line.split()[:2])))
        except (pyrage.RecipientError, ValueError):
            continue  # security keys and ECDSA cannot decrypt; who has no other key gets it through `up --restore`
    if not recipients:
        raise ValueError("none of the keys is one that age encrypts to")
    return recipients


def decrypt(data: bytes, private_pem: bytes) -> bytes:
    """Return what was encrypted to this private key among others; ValueError where it was not."""
    import pyrage

    try:
        return bytes(pyrage.decrypt(data, [pyrage.ssh.Identity.from_buffer(private_pem)]))
    except pyrage.DecryptError as error:
        raise ValueError("it is not encrypted to this key") from error


class RecordSeal:
    """What of a record only the runs that hold the key of this repository's machines may read."""

    def __init__(self, key_pair: Callable[[], tuple[bytes, str]]) -> None:
        """Keep how the pair is had: it is derived when the first sealed record comes."""
        self._key_pair = key_pair

    def seal(self, data: bytes) -> str:
        """Return the data encrypted to the pair's public half."""
        sealed, _ = encrypt(data, [self._key_pair()[1]])
        return base64.b64encode(sealed).decode("ascii")

    def unseal(self, text: str) -> bytes | None:
        """Return what was sealed; None where this run cannot open it: another key, or the light install."""
        try:
            return decrypt(base64.b64decode(text, validate=True), self._key_pair()[0])
        except (ImportError, ValueError, binascii.Error, GpuLolError):
            return None
