"""Hide where a machine is from everybody who may not log in to it (policy: ``ssh_details: encrypted``)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from gpu_lol_action.domain.environment import EnvironmentRecord
from gpu_lol_action.domain.request import Deny
from gpu_lol_action.errors import OperatorError
from gpu_lol_action.handlers.context import Context, Order
from gpu_lol_action.handlers.plan import logins_of, read_access
from gpu_lol_action.launch.access import ADD_A_KEY, Access, Readers, decide_readers
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


@dataclass(frozen=True, slots=True)
class Login:
    """Whose keys open the machine, and who reads where it is; ``readers`` None: everybody may."""

    access: Access
    readers: Readers | None


def decide_login(context: Context, order: Order) -> Login | Deny:
    """Return whom the machine will let in and who will know its address; refused before anything is spent."""
    access = read_access(context, order)
    if isinstance(access, Deny) or not order.policy.is_ssh_sealed:
        return access if isinstance(access, Deny) else Login(access, None)
    readers = decide_readers(access, logins_of(order))
    if isinstance(readers, Deny):
        return readers
    try:
        _seal(context)("", readers.keys)
    except ValueError:
        # They look right, and are none.
        return Deny(
            "ssh_key_cannot_decrypt",
            "the machine's address cannot be encrypted to your SSH keys on GitHub",
            "the policy says `ssh_details: encrypted`, and age takes none of them.",
            ADD_A_KEY,
        )
    return Login(access, readers)


def hidden_from_others(context: Context, login: Login) -> Context:
    """Return the context whose texts lose addresses, where not everybody may read them."""
    return context if login.readers is None else replace(context, redact=hide_addresses(context.redact))


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
