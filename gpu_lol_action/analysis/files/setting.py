"""One value of a configuration, and the bounds and remarks that every reader of such files shares."""

from __future__ import annotations

from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_DEPTH = 40
MAX_KEY = 100
TOO_DEEP = "nested too deeply for a configuration"
BROKEN = "not valid JSON or YAML, so not understood, or only up to the fault"

_LEAVES_OUT = regex(r"(?:^|\.)(?:\w{1,20}_)?filter(?:s|ing|_conf|_config|_args)?\.")


@record(frozen=True, slots=True)
class Setting:
    """One value: its key (last word, small letters, underscores), its dotted path, its text, and where it stands.

    ``owner`` is the function, class or entry of a registry that a program's value stands in; ``is_parameter``: it is the
    default of one of that function's parameters, which holds only where no call gives it. ``called``: where a
    program hands on what is written at another place, which ``evidence`` is.
    """

    key: str
    path: str
    text: str
    evidence: Evidence
    owner: str = ""
    is_parameter: bool = False
    called: Evidence | None = None


def leaves_out(setting: Setting) -> bool:
    """Whether a limit stands in a filter's section: longer samples are left out by it, and those that are taken are shorter."""
    return _LEAVES_OUT.search(setting.path) is not None


def fold_key(key: str) -> str:
    """Return a key as settings carry it: small letters, underscores."""
    plain = key.strip().lstrip("-").lower()  # options may be kept as they are given (`"--rank": 16`)
    return plain if plain.isidentifier() else regex(r"[\s-]+").sub("_", plain)
