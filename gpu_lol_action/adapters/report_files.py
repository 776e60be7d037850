"""Reports as files in one folder of ours: what an earlier run left there goes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gpu_lol_action.errors import OperatorError

_OURS = frozenset({".json", ".log", ".xml"})


class FolderReports:
    """The port ``ReportFiles``."""

    def __init__(self, folder: Path) -> None:
        """Write nothing yet."""
        self._folder = folder

    def write(self, files: Mapping[str, bytes]) -> str:
        """Write them in place of what an earlier run left; return the folder."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for left in self._folder.iterdir():
                if left.suffix in _OURS and left.is_file():
                    left.unlink()
            for name, content in files.items():
                (self._folder / Path(name).name).write_bytes(content)
        except OSError as error:
            raise OperatorError(
                "report_not_written", f"the folder for reports cannot be written: {error.strerror}"
            ) from None
        return str(self._folder)
