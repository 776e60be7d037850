"""Where a tensor claims to be, checked against what the machine claims to have."""

from __future__ import annotations

from . import cuda


class device:
    """Where a tensor claims to be: ``cpu``, ``cuda`` or ``cuda:1``."""

    def __init__(self, kind: str | device, index: int | None = None) -> None:
        """Parse the name; raises RuntimeError for a GPU that this machine does not claim to have."""
        name, _, number = str(kind).partition(":")
        self.type = name
        self.index = int(number) if number else (index if index is not None else (0 if name == "cuda" else None))
        if name not in ("cpu", "cuda"):
            raise RuntimeError(f"the stand-in knows no device {kind!r}")
        if name == "cuda" and not (cuda.is_available() and (self.index or 0) < cuda.device_count()):
            raise RuntimeError(
                "CUDA error: invalid device ordinal"
                if cuda.is_available()
                else "Found no NVIDIA driver on your system."
            )

    def __repr__(self) -> str:
        """Return ``cuda:0`` or ``cpu``."""
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        """Compare by name."""
        return repr(self) == repr(other)

    def __hash__(self) -> int:
        """Hash by name."""
        return hash(repr(self))
