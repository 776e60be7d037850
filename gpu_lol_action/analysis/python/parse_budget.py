"""What parsing the programs of a checkout may cost."""

from __future__ import annotations

from gpu_lol_action.domain.records import record


@record(slots=True)
class ParseBudget:
    """How many bytes of a checkout's programs may still be parsed. Shared by them; counts down as they are asked."""

    left_bytes: int
    taken_bytes: int = 0

    def take(self, size: int) -> bool:
        """Take so many bytes and return True, or leave the rest to smaller programs."""
        is_enough = size <= self.left_bytes
        if is_enough:
            self.left_bytes -= size
            self.taken_bytes += size
        return is_enough
