"""Scripts of Windows' shells as the lines that a shell of Unix would have: ``set BATCH=2``, ``%BATCH%``, ``^``; ``$batch = 2`` and a backtick.

Whoever trains at home on Windows has ``train.bat`` or ``train.ps1``. Blocks in brackets, labels and jumps are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.domain.patterns import regex

MAX_LINES, MAX_LINE = 1000, 2000
_POWERSHELL = ".ps1"
_REMARK = regex(r"(?:rem\b|::|#)", re.IGNORECASE)
_CONTROL = regex(r"(?:if|else|for|goto|echo|title|setlocal|endlocal|pause|exit|choice)\b|[:(){}]", re.IGNORECASE)
_SETS = regex(r"set\s+(?:\"([A-Za-z_]\w{0,60})=([^\"%]{0,300}(?:%\w{1,60}%[^\"%]{0,100}){0,5})\"|([A-Za-z_]\w{0,60})=([^\"]{0,300}|\"[^\"]{0,300}\"))$", re.IGNORECASE)  # fmt: skip
_PUT = regex(r"%([A-Za-z_]\w{0,60})%")
_PLACE = regex(r"%(\d)\b")
_HERE = regex(r"%~dp0\\?|\$PSScriptRoot[\\/]?")
_ASSIGNS = regex(r"\$(env:)?([A-Za-z_]\w{0,60})\s{0,4}=\s{0,4}(\"[^\"]{0,300}\"|'[^']{0,300}'|[\w./:\\-]{1,300})\s*(?:#.*)?$", re.IGNORECASE)  # fmt: skip
_ENDING = regex(r"(?<=\w)\.exe(?=[\"\s]|$)", re.IGNORECASE)


def windows_lines(source: Source) -> Iterator[tuple[int, str, str]]:
    """Yield what such a script sets and starts, each line with its number and an empty section."""
    is_powershell = source.name.endswith(_POWERSHELL)
    goes_on, mark = False, "`" if is_powershell else "^"
    for number, whole in enumerate(source.text.split("\n")[:MAX_LINES], 1):
        line = whole[:MAX_LINE].strip()
        line = line if goes_on else line.removeprefix("@").removeprefix("& ").removeprefix("call ").lstrip()
        is_left_out = not goes_on and (_REMARK.match(line) is not None or _CONTROL.match(line) is not None)
        goes_on = line.endswith(mark) and not is_left_out
        if not is_left_out:
            yield (
                number,
                _translated(line.removesuffix(mark), is_powershell=is_powershell) + ("\\" if goes_on else ""),
                "",
            )


def _translated(line: str, *, is_powershell: bool) -> str:
    line = _HERE.sub("", line)
    if is_powershell and (told := _ASSIGNS.match(line)) is not None:
        kept = told[3].strip("\"'").replace("\\", "/")
        return f'{"export " if told[1] else ""}{told[2]}="{kept}"'
    if not is_powershell and (found := _SETS.match(line)) is not None:
        value = (found[2] or found[4] or "").strip('"').replace("\\", "/")
        return f'{found[1] or found[3]}="{_PUT.sub(_braced, value)}"'
    if not is_powershell:
        line = _PLACE.sub(r"$\1", _PUT.sub(_braced, line))
    return _ENDING.sub("", line).replace("\\", "/")


def _braced(found: re.Match[str]) -> str:
    return f"${{{found[1]}}}"
