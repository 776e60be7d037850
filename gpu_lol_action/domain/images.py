"""Patterns of container images: which ones the policy's ``images`` allows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpu_lol_action.domain.patterns import regex


def is_image_allowed(image: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns means this image.

    `*` stands for any part of a name between slashes, `**` for slashes too. A pattern without tag and digest means all
    of them. Names of Docker Hub are the same with and without its host.
    """
    name, version = _split(image)
    return any(_matches(pattern, name, version) for pattern in patterns)


def _matches(pattern: str, name: str, version: str) -> bool:
    wanted, wanted_version = _split(pattern)
    is_version_right = not wanted_version or _like(wanted_version).fullmatch(version) is not None
    return is_version_right and _like(wanted).fullmatch(name) is not None


def _split(image: str) -> tuple[str, str]:
    """Return the full name and the tag or digest, with its sign: `:2.4`, `@sha256:...`, or nothing."""
    image = image.removeprefix("docker:")
    name, sign, digest = image.partition("@")
    if sign:
        # A tag beside a digest says nothing: the digest decides what runs.
        head, slash, tail = name.rpartition("/")
        return _full(head + slash + tail.partition(":")[0]), f"@{digest}"
    head, slash, tail = image.rpartition("/")
    tail, colon, tag = tail.partition(":")
    return _full(head + slash + tail), colon + tag


def _full(name: str) -> str:
    """Return the name with the host that stands for no host, as Docker reads it."""
    if name.startswith("**"):
        return name
    first, slash, rest = name.partition("/")
    if slash and (first == "localhost" or any(sign in first for sign in ".:*")):
        return f"docker.io/{rest}" if first == "index.docker.io" else name
    return f"docker.io/{name}" if slash else f"docker.io/library/{name}"


def _like(pattern: str) -> re.Pattern[str]:
    parts = {"**": ".*", "*": "[^/]*"}
    return re.compile("".join(parts.get(part) or re.escape(part) for part in regex(r"(\*{1,2})").split(pattern)))
