"""Poetry's version words in pip's: ``^``, ``~``, ``1.*``, bare versions, alternatives.

Source: Poetry's documentation, "Dependency specification": a caret keeps the leftmost part that is not zero, a tilde the
last part but one.
"""

from __future__ import annotations

from gpu_lol_action.domain.patterns import regex

_RANGE = regex(r"([\^~])\s*v?(\d{1,9}(?:\.\d{1,9}){0,3})([\w.+-]*)")

MAX_VERSION = 60


def pip_version(version: str) -> str:
    """Return a version of poetry or Pipfile as a specifier of pip; empty for any version, or for what is not understood."""
    # Alternatives (`||`): the last is the newest by custom, and one specifier cannot say both.
    alternatives = [part.strip() for part in version.split("||") if part.strip()]
    if not alternatives:
        return ""
    parts = [_one(part.strip()) for part in regex(r"\s*,\s*|(?<=[\w*])\s+(?=[<>=!~^])").split(alternatives[-1])]
    return ",".join(part for part in parts if part)


def _one(part: str) -> str:
    part = regex(r"\s+").sub("", part)
    if len(part) > MAX_VERSION or part in {"", "*", "latest"}:
        return ""
    if found := _RANGE.fullmatch(part):
        numbers = [int(number) for number in found[2].split(".")]
        return f">={found[2]}{found[3]},<{_above(numbers, is_caret=found[1] == '^')}"
    if regex(r"v?\d+(?:\.\d+)*(?:\.\*)").fullmatch(part) or regex(r"v?\d[\w.+!-]*").fullmatch(part):
        return f"=={part.removeprefix('v')}"
    if regex(r"(?:~=|[<>=!]=|===|[<>])v?\d[\w.*+!-]*").fullmatch(part):
        return part
    return f"={part}" if regex(r"=\d[\w.*+!-]*").fullmatch(part) else ""


def _above(numbers: list[int], *, is_caret: bool) -> str:
    """Return the first version that a caret or a tilde leaves out."""
    if is_caret:
        place = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
    else:
        place = min(1, len(numbers) - 1)
    return ".".join(str(number) for number in [*numbers[:place], numbers[place] + 1])
