"""Names of environments and the fixed SkyPilot user hash: short, stable, and told apart by their prefix."""

from __future__ import annotations

import base64

from gpu_lol_action.domain.digests import sha256

MAX_NAME_LENGTH = 26  # clouds cut or hash longer names, and a cut name loses the PR's number
PREFIX = "gl-"


def repository_prefix(repository_id: int) -> str:
    """Return ``gl-<id in base32>-``: every machine of this repository has a name that starts so."""
    raw = repository_id.to_bytes((repository_id.bit_length() + 7) // 8 or 1, "big")
    return f"{PREFIX}{base64.b32encode(raw).decode().rstrip('=').lower()}-"


def environment_name(repository_id: int, pull_request: int | None, profile: str = "", login: str = "") -> str:
    """Return the name of the environment for one PR (or one terminal user) and profile.

    ``profile`` may have a project before it, as ``machine_key`` writes it. The default profile adds nothing; others add four
    base32 characters of their name's SHA-256.
    A terminal user's environment has ``u`` and four such characters in place of the number.
    """
    place = str(pull_request) if pull_request is not None else f"u{_short(login)}"
    tail = f"-{_short(profile)}" if profile else ""
    name = f"{repository_prefix(repository_id)}{place}{tail}"
    if len(name) > MAX_NAME_LENGTH:
        name = f"{repository_prefix(repository_id)}{_short(place)}{tail}"
    return name


def machine_label(project: str, profile: str) -> str:
    """Return what people call a machine: its profile, behind its project where the repository has several (`research/llm:large`)."""
    return ":".join(filter(None, (project, profile)))


def machine_key(project: str, profile: str) -> str:
    """Return what tells a machine from the others of a pull request; unlike the label, never the same for a project and a profile."""
    return f"{project}:{profile}" if project else profile


def user_hash(repository_id: int) -> str:
    """Return the 8 hexadecimal digits under which SkyPilot knows this repository on every runner."""
    return sha256(f"gpu-lol user {repository_id}".encode()).hex()[:8]


def _short(text: str) -> str:
    return base64.b32encode(sha256(text.encode())).decode()[:4].lower()
