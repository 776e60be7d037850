"""Hide where a machine is from everybody who may not log in to it (policy: ``ssh_details: encrypted``)."""

from __future__ import annotations

import re
from collections.abc import Callable

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.request import Deny
from gpu_lol_action.errors import OperatorError
from gpu_lol_action.handlers.context import Context
from gpu_lol_action.launch.access import ADD_A_KEY, Readers
from gpu_lol_action.render.views_sealed import Sealed, login_details

_ADDRESS = re.compile(
    r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}:[0-9]{1,5}|(?<=@)(?:[0-9]{1,3}\.){3}[0-9]{1,3}|"
    r"(?<=host )(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?: port [0-9]{1,5})?"
)


def seal_login(
    context: Context, record: EnvironmentRecord, repository_name: str, readers: Readers | None
) -> Sealed | None:
    """Return how to log in, encrypted to these readers; None where it is shown to everybody."""
    if readers is None:
        return None
    return Sealed(_seal(context)(login_details(record, repository_name), readers.keys), readers)


def check_seal(context: Context, readers: Readers) -> Deny | None:
    """Refuse, before anything is spent, keys that look right and cannot be encrypted to."""
    try:
        _seal(context)("", readers.keys)
    except ValueError:
        return Deny(
            "ssh_key_cannot_decrypt",
            "the machine's address cannot be encrypted to your SSH keys on GitHub",
            "the policy says `ssh_details: encrypted`, and age takes none of them.",
            ADD_A_KEY,
        )
    return None


def hide_addresses(redact: Callable[[str], str]) -> Callable[[str], str]:
    """Return a redactor that takes out addresses too, as SSH and SkyPilot write them; versions of packages stay."""
    return lambda text: _ADDRESS.sub("(address)", redact(text))


def _seal(context: Context) -> Callable[[str, tuple[str, ...]], str]:
    if context.seal is None:
        raise OperatorError(
            "ssh_details_not_sealed",
            "SSH details cannot be encrypted here.",
            why="the policy says `ssh_details: encrypted`.",
            fix="Give the command in a pull request.",
        )
    return context.seal
