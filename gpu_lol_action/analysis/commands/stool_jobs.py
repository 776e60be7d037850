"""Jobs of Lingua's launcher and its heirs: ``python -m lingua.stool script=apps.main.train config=a.yaml nodes=4``.

Format: the launcher's own options (``script``, ``config``, ``nodes``, ``ngpu``, what Slurm asks for). Each machine has eight cards
unless ``ngpu`` says another number.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.analysis.commands.machine_requests import MachineRequest
from gpu_lol_action.analysis.formats.told_numbers import as_count
from gpu_lol_action.domain.patterns import regex

_MODULE = regex(r"\w{1,60}\.stool")
_SCRIPT = regex(r"\w{1,60}(?:\.\w{1,60}){1,6}")
_GIVEN = frozenset(
    {"script", "nodes", "ngpu", "account", "qos", "partition", "time", "anaconda", "launcher", "ncpu", "mem"}
)
CARDS = 8


def stool_job(words: Sequence[str]) -> tuple[MachineRequest, list[str]] | None:
    """Return the machines that such a job asks for, and the command that it starts there; None for any other command."""
    if len(words) < 4 or words[1] != "-m" or _MODULE.fullmatch(words[2]) is None:
        return None
    told = dict(word.split("=", 1) for word in words[3:] if "=" in word)
    if _SCRIPT.fullmatch(told.get("script", "")) is None:
        return None
    asked = MachineRequest(as_count(told.get("ngpu")) or CARDS, as_count(told.get("nodes")))
    return asked, ["python", "-m", told["script"], *(f"{key}={told[key]}" for key in told if key not in _GIVEN)]
