"""The machines that MPI and Horovod are told by name, each with its slots: ``-np 32 -H one:8,two:8,three:8,four:8``."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.domain.patterns import regex

_STARTS_ON_HOSTS = frozenset({"horovodrun", "mpirun"})
_FLAGS = ("H", "hosts", "host")
MOST_CARDS, MOST_HOSTS = 16, 64
_SLOTS = regex(r"[^,:]{1,120}:(\d{1,2})")


def on_hosts(tool: str, options: Mapping[str, str], started: int | None) -> tuple[int, int | None]:
    """Return on how many of the listed machines a launcher starts processes, and how many on each; one with all that are ``started`` where their slots differ or are not said.

    A slot is a card: MPI is told more of them where it starts workers on cores. Fewer processes than slots fill the first machines.
    """
    listed = next((options[flag] for flag in _FLAGS if flag in options), "") if tool in _STARTS_ON_HOSTS else ""
    hosts = listed.split(",") if ":" in listed else []
    found = [_SLOTS.fullmatch(host.strip()) for host in hosts[: MOST_HOSTS + 1]]
    slots = {int(each[1]) for each in found if each is not None}
    is_told = len(slots) == 1 and None not in found and len(hosts) <= MOST_HOSTS
    each_has = slots.pop() if is_told else 0
    if not 1 <= each_has <= MOST_CARDS:
        return 1, started
    wanted = started or each_has * len(hosts)
    return min(len(hosts), -(-wanted // each_has)), min(each_has, wanted)
