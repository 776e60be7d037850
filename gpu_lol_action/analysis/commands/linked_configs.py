"""The configuration of a documented command that leaves it open (``train.py {path_to_config}``): the first that the page links."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand
from gpu_lol_action.analysis.commands.program_configs import plain_path
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex

_OPEN = regex(
    r"[<{\[]\s?(?:[\w.-]{1,40}[ _-]){0,4}(?:configs?|cfg|ya?ml)(?:[ _.-][\w.-]{1,20}){0,3}\s?[>}\]]", re.IGNORECASE
)
_LINK = regex(r"\]\(\.?/?([\w./-]{1,200}\.(?:ya?ml|json|toml))\)")
MAX_LINKS = 20
"""Of one page that are looked up; the first that is here and holds settings is taken."""


def linked_config(checkout: Checkout, command: LaunchCommand) -> tuple[Source, ...]:
    """Return the first configuration that a page links behind its command, else before it, where the command leaves it open."""
    page = checkout.find(command.said.path) if command.is_documented else None
    if page is None or page.form is not Form.MARKDOWN:
        return ()
    lines = page.text.split("\n")
    own = lines[command.said.line - 1] if 0 < command.said.line <= len(lines) else ""
    if _OPEN.search(own[:2000]) is None:
        return ()
    behind, before = "\n".join(lines[command.said.line :]), "\n".join(lines[: command.said.line])
    names = [*_LINK.findall(behind)[:MAX_LINKS], *_LINK.findall(before)[:MAX_LINKS]]
    for name in dict.fromkeys(names):
        source = checkout.find(plain_path(f"{page.folder}/{name}")) or checkout.find(plain_path(name))
        if source is not None and read_settings(source):
            return (source,)
    return ()
