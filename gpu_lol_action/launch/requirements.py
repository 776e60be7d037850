"""Which requirement and package names may reach an installer: names and versions, never options."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement

MAX_REQUIREMENT_CHARACTERS = 500
_SYSTEM_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]{1,99}(?::[a-z0-9-]{1,20})?(?:=[A-Za-z0-9.+~:-]{1,99})?")
_BARE_URL = re.compile(r"(?:git\+)?https://[^\s;#]+(?:#(?:egg|subdirectory)=[A-Za-z0-9._/&=-]+)?")


def check_requirement(text: str) -> str | None:
    """Return why a requirement may not be handed to pip, or None when it may.

    Allowed: PEP 508 (name, extras, versions, markers), ``name @ https://...`` and ``git+https://...``. Refused: options
    such as ``--index-url`` (they would change where everything comes from), files, paths, other schemes, and addresses
    with a user or password in them.
    """
    shown = text.strip()
    if not shown or len(shown) > MAX_REQUIREMENT_CHARACTERS or any(ord(c) < 32 or ord(c) == 127 for c in text):
        return f"it is empty, longer than {MAX_REQUIREMENT_CHARACTERS} characters, or not one line"
    if shown.startswith("-"):
        return "it is an option of pip, not a requirement"
    if _BARE_URL.fullmatch(shown):
        return _check_url(shown)
    try:
        requirement = Requirement(shown)
    except InvalidRequirement as error:
        return f"it is not a requirement ({str(error).splitlines()[0][:120]})"
    return _check_url(requirement.url) if requirement.url else None


def _check_url(url: str) -> str | None:
    parts = urlsplit(url)
    if parts.scheme not in {"https", "git+https"} or not parts.hostname:
        return "its address is neither https nor git+https"
    if parts.username or parts.password:
        return "its address holds a user or password"
    return None


def requirement_name(text: str) -> str:
    """Return the distribution's name as PEP 503 normalizes it, or an empty string where an address gives none."""
    try:
        name = Requirement(text.strip()).name
    except InvalidRequirement:
        found = re.search(r"#egg=([A-Za-z0-9._-]+)", text)
        name = found[1] if found else ""
    return re.sub(r"[-_.]+", "-", name).lower()


def check_system_package(name: str) -> str | None:
    """Return why a name may not be handed to apt, or None when it may (``name``, ``name:arch``, ``name=version``)."""
    return None if _SYSTEM_PACKAGE.fullmatch(name) else "it is not the name of a Debian package"
