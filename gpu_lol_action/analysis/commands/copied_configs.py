"""The configuration that a document has its reader copy: ``cp configs/base.yaml configs/mine.yaml``, "duplicate `6B.json` and edit it".

A command that names the copy (``--config configs/mine.yaml``, ``--config YOUR_CONFIG.json``) starts with what the original says.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand
from gpu_lol_action.analysis.commands.placeholder_commands import is_of_the_reader, leaves_configuration_open
from gpu_lol_action.analysis.commands.program_configs import plain_path
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex

MAX_CHARACTERS = 128 * 1024
MAX_LINE = 1000
MAX_NAMES = 40
_FILE = r"[\w./-]{1,160}\.(?:ya?ml|json|toml)"
_COPIES = regex(rf"(?<![\w-])(?:cp|mv)\s+(?:-\w{{1,3}}\s+)?({_FILE})\s+([\w./-]{{1,200}})")
_TOLD = regex(
    rf"(?i)(?<![\w-])(?:cop(?:y|ying)|duplicat(?:e|ing)|renam(?:e|ing)|edit(?:ing)?|modify(?:ing)?|adapt(?:ing)?)\b[^.`\[]{{0,80}}(?:`\.?/?({_FILE})`|\[[^\]]{{1,120}}\]\(\.?/?({_FILE})\))"
)


def copied_config(checkout: Checkout, command: LaunchCommand) -> tuple[Source, ...]:
    """Return the file that the command's configuration is a copy of by its own document; none where that tells of several, or of none."""
    page = checkout.find(command.said.path) if command.is_documented else None
    named = [name for name in command.configs if checkout.find_named(name) is None]
    is_blank = leaves_configuration_open(command) or any(is_of_the_reader(name) for name in named)
    if page is None or page.form is not Form.MARKDOWN or not (named or is_blank):
        return ()
    text = page.text[:MAX_CHARACTERS]
    copies = {
        source: None
        for first, then in _copies(text)
        if any(_copy_of(first, then) == _last(name) for name in named)
        for source in _here(checkout, page, first)
    }
    if not copies and is_blank:
        copies = {source: None for name in _told(text) for source in _here(checkout, page, name)}
    return tuple(copies) if len(copies) == 1 else ()


def _copies(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        if "cp " in line or "mv " in line:
            yield from ((found[1], found[2]) for found in _COPIES.finditer(line[:MAX_LINE]))


def _copy_of(first: str, then: str) -> str:
    """Return the name of a copy: that of the original where it goes into a folder."""
    return _last(first) if then.endswith("/") else _last(then)


def _told(text: str) -> list[str]:
    """Return the files that sentences tell to copy or to edit."""
    found = [match[1] or match[2] for line in text.split("\n") for match in _TOLD.finditer(line[:MAX_LINE])]
    return found[:MAX_NAMES]


def _here(checkout: Checkout, page: Source, name: str) -> tuple[Source, ...]:
    """Return the configuration of that name; none where it is not here, or holds no settings."""
    source = checkout.find(plain_path(f"{page.folder}/{name}")) or checkout.find_named(name)
    return (source,) if source is not None and source.code is None and read_settings(source) else ()


def _last(path: str) -> str:
    return path.rpartition("/")[2]
