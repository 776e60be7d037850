"""What a program asks its environment for: by name (``os.environ["MODEL"]``), or by the fields of its settings (``BaseSettings``)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import sets_variables
from gpu_lol_action.domain.patterns import regex

SETTINGS = "BaseSettings"
"""What pydantic calls a class whose fields the environment gives, each under its own name in capitals."""
_READS = ("load_dotenv", "dotenv_values", "read_env", "env_file", "decouple")
_NAMED = regex(r"([\"'])([\w./-]{0,80}env[\w.-]{0,30})\1")
_FOR_TESTS = regex(r"(?:^|[/._-])(?:tests?|testing|ci)(?=$|[/._-])", re.IGNORECASE)
MAX_NAMES = 50
_PREFIX = regex(r"\benv_prefix[\"']?[ ]{0,2}[=:][ ]{0,2}[\"'](\w{1,40})[\"']")
_CLASS = regex(
    r"(?m)^class[ ]{1,4}\w{1,80}\([^()\n]{0,200}BaseSettings[^()\n]{0,200}\):[^\n]*(?:\n(?:[ \t][^\n]*|[ \t]*))*"
)
_FIELD = regex(r"(?m)^[ \t]{1,12}(\w{1,60})[ ]?:[ ]?\S")


@remembered
def reads_variables(source: Source) -> bool:
    """Whether a program reads a file of variables (python-dotenv, environs, decouple, pydantic's settings, or line by line)."""
    return any(source.mentions(word) for word in _READS) or (
        source.mentions("environ") and bool(variable_files(source)) and source.mentions("open(")
    )


@remembered
def variable_files(source: Source) -> tuple[str, ...]:
    """Return the files of variables that a program names, but for those of its tests (``load_dotenv("train.env")``, ``env_file="config/train.env"``)."""
    if not source.mentions("env"):
        return ()
    named = (found[2] for found in itertools.islice(_NAMED.finditer(source.text), MAX_NAMES))
    return tuple(dict.fromkeys(name for name in named if sets_variables(name) and not _FOR_TESTS.search(name)))


def asked_as(name: str, sources: Iterable[Source]) -> str | None:
    """Return what a variable of the environment is called in the programs that ask for it: its name, or a field of settings; else None."""
    for source in sources:
        if source.mentions("env") and (source.mentions(f'"{name}"') or source.mentions(f"'{name}'")):
            return name
        if name.lower() in _fields(source):
            return _fields(source)[name.lower()]
    return None


@remembered
def _fields(source: Source) -> dict[str, str]:
    """Return the fields of a program's settings by the variable, in small letters, that gives each."""
    if not source.mentions(SETTINGS):
        return {}
    found = _PREFIX.search(source.text)
    prefix = found[1].lower() if found is not None else ""
    bodies = (found[0] for found in _CLASS.finditer(source.text))
    return {f"{prefix}{field.lower()}": field for body in bodies for field in _FIELD.findall(body)}
