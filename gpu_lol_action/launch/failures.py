"""Failures that teach: what a log's own words say of why a run died, each with its remedy.

The words are those that the programs print (PyTorch, JAX, TensorFlow, vLLM, NCCL, CUDA, the NVIDIA driver, pip, Hugging Face's
Hub, the Linux kernel); `benchmarks/log_rules.py` measures the rules on messages with their sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gpu_lol_action.launch.failure_rules import HARMLESS, RULES, Rule

MAX_LOG = 512 * 1024
MAX_LINE = 4000
_ALLOCATION = re.compile(r"[Tt]ried to allocate ([0-9.]+) ?([KMGT]i?B)")
_CAPACITY = re.compile(r"total capac(?:ity|ty) of ([0-9.]+) ?([KMGT]i?B)|([0-9.]+) ?([KMGT]i?B) total capacity")
_MODULE = re.compile(r"No module named '([A-Za-z_][\w.]{0,80})'")
_LIBRARY = re.compile(r"(?:ImportError|OSError): (lib[\w.+-]{1,60}): cannot open shared object")
_COMMAND = re.compile(r"(?:^|: )(?:line \d+: )?([A-Za-z_][\w.-]{0,40}): command not found")
_GATED = re.compile(r"[Aa]ccess to (?:model|dataset) ([\w.-]{1,96}/[\w.-]{1,96}) is restricted")
_ARCHITECTURE = re.compile(r"sm_?([0-9]{2,3}[a-z]?)\b")


@dataclass(frozen=True, slots=True)
class Recognized:
    """What a log says: the rule's kind, a sentence with the log's own figures, the remedy, and the line that says so.

    ``is_machines``: the machine's doing, whatever code ran on it; then it is no failure of the code.
    """

    kind: str
    what: str
    remedy: str
    line: str
    is_machines: bool = False


def recognize(log: str) -> Recognized | None:
    """Return what the log says of why the run died; None where no rule knows it.

    The rules stand in the order of how much they explain: a process that ran out of memory also breaks its connections.
    Within one rule the last line counts, as the nearest to the end.
    """
    lines = [line[:MAX_LINE] for line in log[-MAX_LOG:].splitlines()]
    telling = [line for line in lines if not HARMLESS.search(line)]
    for rule in RULES:
        found = next((line for line in reversed(telling) if rule.pattern.search(line)), None)
        if found is not None and not _was_overcome(rule, found, lines):
            return _told(rule, found, telling)
    return None


def _was_overcome(rule: Rule, found: str, lines: list[str]) -> bool:
    """Whether what follows says that the program went on in another way."""
    place = len(lines) - 1 - lines[::-1].index(found)
    if rule.overcome is not None and any(rule.overcome.search(line) for line in lines[place + 1 :]):
        return True
    # A traceback below a warning was caught and logged.
    begin = next((at for at in range(place, 0, -1) if lines[at].startswith("Traceback (most recent")), 0)
    return bool(begin) and lines[begin - 1].upper().startswith("WARNING")


def _told(rule: Rule, line: str, lines: list[str]) -> Recognized:
    values = ", ".join(_values(rule.kind, line, lines))
    what = f"{rule.what} ({values})." if values else f"{rule.what}."
    return Recognized(rule.kind, what, rule.remedy, line.strip()[:300], is_machines=rule.is_machines)


def _values(kind: str, line: str, lines: list[str]) -> Iterator[str]:
    """Return what the log says in figures and names, for the sentence."""
    near = "\n".join([line, *lines[-200:]])
    if kind == "cuda_out_of_memory":
        asked, whole = _ALLOCATION.search(line), _CAPACITY.search(line)
        if asked:
            yield f"{asked[1]} {asked[2]} more were asked for"
        if whole:
            yield f"the card has {whole[1] or whole[3]} {whole[2] or whole[4]}"
    elif kind == "missing_package":
        named = _MODULE.search(line) or _LIBRARY.search(line) or _COMMAND.search(line)
        if named:
            yield f"`{named[1]}`"
    elif kind == "hub_token":
        gated = _GATED.search(near)
        if gated:
            yield f"`{gated[1]}` is gated"
    elif kind == "missing_kernel_image":
        architecture = _ARCHITECTURE.search(near)
        if architecture:
            yield f"sm_{architecture[1]}"
