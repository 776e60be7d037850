"""Options that a command leaves to its reader: ``--variant="${VARIANT}"``, ``--size <7b, 13b>``, ``--model YOUR_MODEL``.

A program that starts such an option with something is best taken as it starts: that is what it is usually run with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpu_lol_action.analysis.command_lines.shell_defaults import is_left_open
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import Setting, fold_key
from gpu_lol_action.domain.patterns import regex

MAX_BLANK = 120
# An object is no blank, though it stands in braces; a list of choices may be parted at its blanks (`<7b,`).
_OBJECT = regex(r"\{.*[\"':,].*\}")
_TO_FILL_IN = regex(
    r"<[^<>]{1,100}[>,]?|\[[A-Z][A-Z_-]{2,40}\]|(?:[\w./-]{0,40}[./_-])?(?:YOUR|your)[_-][\w./-]{1,80}|[xX]{3,40}"
)
_OF_A_FILE = regex(r"(?i)path|dir(?:ectory)?(?![a-z])|file|folder|ckpt|checkpoint|weights")


def is_unfilled(value: str) -> bool:
    """Whether an option's value stands for what the reader has to put in its place."""
    bare = value.strip().strip("\"'").strip() if len(value) <= MAX_BLANK else ""
    if "/" in bare or _OF_A_FILE.search(bare):
        return False  # a reader's own file (`path/to/checkpoint`, `$MODEL_DIR/llama-7b`) is not what the program starts with
    return bool(bare) and bool(_TO_FILL_IN.fullmatch(bare) or (is_left_open(bare) and not _OBJECT.fullmatch(bare)))


def filled(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options that the command itself gives a value."""
    return {name: value for name, value in options.items() if not is_unfilled(value)}


def without_blanks(options: tuple[Setting, ...], sources: Iterable[Source]) -> tuple[Setting, ...]:
    """Return options without those left to the reader that one of these programs starts with something itself.

    What overrides a key of a configuration (``model.path=$MODEL``) stays: it takes away what stands there.
    """
    blank = {s.key for s in options if "." not in s.path and is_unfilled(s.text)}
    if not blank:
        return options
    started = {
        fold_key(default.name.lstrip("-"))
        for source in sources
        for default in (source.code.defaults if source.code is not None else ())
        if default.is_option and default.text.strip().lower() not in {"", "none"}
    }
    return tuple(s for s in options if s.key not in blank & started or not is_unfilled(s.text))
