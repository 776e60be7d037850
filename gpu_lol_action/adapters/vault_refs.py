"""Saved work as an encrypted blob on a git ref of its own, `refs/gpu-lol/rescues/<name>`, written through GitHub's API."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from gpu_lol_action.adapters import age
from gpu_lol_action.adapters.github import Ask, GitHubClient
from gpu_lol_action.domain.rescue import Kept
from gpu_lol_action.errors import OperatorError, UserError

FILE = "work.age"
_REFUSALS = frozenset({404, 409, 422})


class RefVault:
    """The port `Vault` on one repository; ``private_pem`` and ``public_line`` are the key pair of its machines."""

    def __init__(self, client: GitHubClient, private_pem: bytes, public_line: str) -> None:
        """Ask nothing yet."""
        self._client = client
        self._private_pem = private_pem
        self._public_line = public_line

    def keep(self, name: str, data: bytes, public_keys: Sequence[str]) -> Kept:
        """Write blob, tree and commit, and move the name's ref to them."""
        sealed, recipients = age.encrypt(data, [*public_keys, self._public_line])
        content = {"content": base64.b64encode(sealed).decode("ascii"), "encoding": "base64"}
        blob = self._write("git/blobs", content)
        tree = self._write("git/trees", {"tree": [{"path": FILE, "mode": "100644", "type": "blob", "sha": blob}]})
        commit = self._write(
            "git/commits", {"message": f"Work saved from {name}, encrypted", "tree": tree, "parents": []}
        )
        self._point(f"gpu-lol/rescues/{name}", commit)
        # The blob can be had by its id as long as a ref leads to it.
        command = (
            f"gh api repos/{self._client.connection.full_name}/git/blobs/{blob} "
            f"-H 'Accept: application/vnd.github.raw+json' > {FILE}"
        )
        return Kept(blob, command, recipients - 1)

    def fetch(self, locator: str) -> bytes:
        """Read the blob and open it."""
        body = self._client.get("git/blobs/{sha}", {"sha": locator})
        try:
            return age.decrypt(base64.b64decode(str(body.get("content", ""))), self._private_pem)
        except (ValueError, binascii.Error):
            raise UserError(
                "rescue_unreadable",
                "the saved work cannot be opened",
                why="it is encrypted to the key that belonged to the cloud's key of that time.",
                fix="Decrypt it yourself, with your own SSH key, as the certificate says.",
            ) from None

    def _write(self, path: str, body: object) -> str:
        # Content-addressed: writing it twice leaves one.
        return str(self._client.ask(Ask("POST", path, body=body, is_repeatable=True)).body["sha"])

    def _point(self, ref: str, commit: str) -> None:
        made = self._client.ask(
            Ask("POST", "git/refs", body={"ref": f"refs/{ref}", "sha": commit}, is_repeatable=True, allow=_REFUSALS)
        )
        if made.status < 400:
            return
        moved = self._client.ask(
            Ask(
                "PATCH",
                "git/refs/{ref}",
                {"ref": ref},
                body={"sha": commit, "force": True},
                is_repeatable=True,
                allow=_REFUSALS,
            )
        )
        if moved.status >= 400:
            raise OperatorError("rescue_refused", f"GitHub takes no ref for saved work: {moved.message}")
