"""The SSH key pair of a repository's machines: derived, never stored, the same for every run that knows the secret.

A later job on another runner derives the pair again and needs nothing that an earlier one kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_SHORTEST_SECRET = 16


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An Ed25519 pair: the private half as an OpenSSH PEM file, the public half as a line of ``authorized_keys``."""

    private_pem: bytes = field(repr=False)
    public_line: str


def derive_key_pair(secret: str, repository_id: int, version: int) -> KeyPair:
    """Return the pair for this secret, repository and key version.

    Ed25519 seed = HKDF-SHA256 (RFC 5869) with the secret as key material, the repository's id as salt, and the version in
    the info string; a new version is a new pair. Raises ValueError for a secret too short to be one.
    """
    if len(secret) < _SHORTEST_SECRET:
        raise ValueError(
            f"the secret that SSH keys are derived from has {len(secret)} characters; it needs {_SHORTEST_SECRET}"
        )
    info = f"gpu-lol-action ssh key v{version}".encode()
    seed = HKDF(algorithm=hashes.SHA256(), length=32, salt=str(repository_id).encode(), info=info).derive(
        secret.encode()
    )
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return KeyPair(_openssh_pem(key), f"{public.decode()} gpu-lol-{repository_id}-v{version}")


def _openssh_pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
