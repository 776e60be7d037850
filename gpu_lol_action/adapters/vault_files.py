"""Saved work as encrypted files in a folder of the user's own: the terminal's vault."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from gpu_lol_action.adapters import age
from gpu_lol_action.domain.rescue import Kept
from gpu_lol_action.errors import OperatorError, UserError


class FileVault:
    """The port `Vault` on a folder; ``private_pem`` and ``public_line`` are the key pair of the machines."""

    def __init__(self, folder: Path, private_pem: bytes, public_line: str) -> None:
        """Create nothing yet."""
        self._folder = folder
        self._private_pem = private_pem
        self._public_line = public_line

    def keep(self, name: str, data: bytes, public_keys: Sequence[str]) -> Kept:
        """Write the file; an older one of the same name gets a number."""
        sealed, recipients = age.encrypt(data, [*public_keys, self._public_line])
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            number = 1 + sum(1 for _ in self._folder.glob(f"{name}.*.age"))
            path = self._folder / f"{name}.{number}.age"
            with path.open("xb") as file:
                file.write(sealed)
        except OSError as error:
            raise OperatorError(
                "rescue_refused", f"saved work cannot be kept in {self._folder}: {error.strerror}"
            ) from None
        return Kept(path.name, f"cp {shlex.quote(str(path))} work.age", recipients - 1)

    def fetch(self, locator: str) -> bytes:
        """Read the file and open it."""
        try:
            return age.decrypt((self._folder / Path(locator).name).read_bytes(), self._private_pem)
        except (OSError, ValueError):
            raise UserError("rescue_unreadable", "the saved work cannot be opened") from None
