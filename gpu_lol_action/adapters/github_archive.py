"""Downloads the archive of one commit; GitHub redirects to another host, where the token must not go."""

from __future__ import annotations

import functools
import ssl
import tarfile
import zlib
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_lol_action.adapters.boxed_http import as_json
from gpu_lol_action.adapters.github import GitHubClient, expand
from gpu_lol_action.adapters.github_answers import Reply, rate_limit_wait
from gpu_lol_action.errors import GpuLolError, OperatorError, TransientError, UserError

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 512 * 1024 * 1024
"""Packed. GitHub's archives of code are a few megabytes; a gigabyte of data in git is not for a runner's disk."""


def download(client: GitHubClient, sha: str, destination: Path) -> Path:
    """Write GitHub's tar.gz of a commit to a file; UserError where it is over the bound."""
    connection = client.connection
    path = expand("tarball/{ref}", {"ref": sha}, connection.full_name)
    for attempt in range(connection.attempts):
        client.count("GET tarball/{ref}")
        failure = _fetch(client, connection.api_url.rstrip("/") + path, destination)
        if failure is None:
            return destination
        if isinstance(failure, timedelta):
            if failure > connection.longest_wait or attempt + 1 == connection.attempts:
                raise _limited()
            client.sleep(failure)
            continue
        if not isinstance(failure, TransientError) or attempt + 1 == connection.attempts:
            raise failure
        client.sleep(timedelta(seconds=2**attempt))
    raise _unreachable("no attempt was made")


def has_empty_folder(path: Path) -> bool:
    """Whether an archive holds a folder without entries; True where that cannot be told."""
    folders: set[str] = set()
    parents: set[str] = set()
    try:
        with tarfile.open(path, "r:gz") as tar:
            for member in tar:
                name = member.name.rstrip("/")
                parents.add(name.rpartition("/")[0])
                if member.isdir():
                    folders.add(name)
    except (tarfile.TarError, OSError, EOFError, zlib.error):
        return True
    return bool(folders - parents)


def _fetch(client: GitHubClient, address: str, destination: Path) -> GpuLolError | timedelta | None:
    """One try; the error where it failed, or how long GitHub wants us to wait."""
    import httpx

    headers = {
        "Authorization": f"token {client.connection.token}",
        "User-Agent": "gpu-lol-action",
        # The file itself is compressed; nothing may be unpacked on the way, or its size could not be bounded.
        "Accept-Encoding": "identity",
    }
    # httpx drops Authorization when a redirect leads to another host.
    try:
        with httpx.stream(
            "GET",
            address,
            headers=headers,
            follow_redirects=True,
            timeout=client.connection.timeout.total_seconds() * 2,
            verify=_certificates(),
        ) as answer:
            first = answer.history[0] if answer.history else answer
            client.budget.learn({name.lower(): value for name, value in first.headers.items()})
            if answer.status_code in (403, 429):
                answer.read()
            return _refusal(answer) or _save(answer, destination)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _unreachable(type(error).__name__)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Whom to trust; read once, because that takes longer than a small archive."""
    import httpx

    return httpx.create_ssl_context()


def _save(answer: httpx.Response, destination: Path) -> GpuLolError | None:
    received = 0
    with destination.open("wb") as out:
        for chunk in answer.iter_raw():
            received += len(chunk)
            if received > MAX_BYTES:
                return UserError(
                    "repository_too_large",
                    "this repository is larger than gpu-lol reads",
                    why=f"its archive is over {MAX_BYTES // (1024 * 1024)} MB",
                    fix="Keep data and weights outside of git, for example on the Hugging Face Hub.",
                )
            out.write(chunk)
    return None


def _refusal(answer: httpx.Response) -> GpuLolError | timedelta | None:
    status = answer.status_code
    if status < 300:
        return None
    if status in (403, 429):
        headers = {name.lower(): value for name, value in answer.headers.items()}
        wait = rate_limit_wait(Reply(status, as_json(answer.content), headers))
        if wait is not None:
            return wait
    if status in (401, 403):
        return OperatorError(
            "github_permission_missing",
            "the workflow's token may not read the code",
            fix="A maintainer must add `contents: read` under `permissions:` in the workflow.",
        )
    if status in (404, 410):
        return UserError("github_not_found", "GitHub has no archive of this commit")
    return _unreachable(f"it answered {status}")


def _limited() -> TransientError:
    return TransientError(
        "github_rate_limited", "GitHub takes no more requests from this token", fix="Try again later."
    )


def _unreachable(why: str) -> TransientError:
    return TransientError(
        "github_unreachable", f"GitHub's archive could not be read: {why}", fix="Try again in a few minutes."
    )
