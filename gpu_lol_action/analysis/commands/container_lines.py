"""What the containers of Docker Compose and Kubernetes start: a ``command`` with its ``args``, or the server that an image is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from gpu_lol_action.analysis.command_lines.server_images import entry_point
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.domain.patterns import regex

MAX_VARIABLES = 20
_ASSIGNED = regex(r"([A-Za-z_]\w{0,40})=([\w./:-]{1,200})")
_VALUE = regex(r"[\w./:-]{1,200}")
# What a model is called by: ports, keys and addresses are many, and say nothing of it.
_TELLS = regex(
    r"MODEL|CKPT|CHECKPOINT|WEIGHT|LLM|DTYPE|PRECISION|QUANT|BATCH|LENGTH|PARALLEL|NUM_GPUS|REPO_ID|HEIGHT|WIDTH|RESOLUTION|IMAGE_SIZE|FRAMES",
    re.IGNORECASE,
)


def container_lines(source: Source, substitute: Callable[[str], str]) -> Iterator[tuple[int, str, str]]:
    """Yield what each container of a file starts, with the variables that it is given in front; ``substitute`` puts fallbacks in."""
    words: dict[str, tuple[int, list[str]]] = {}
    images: dict[str, str] = {}
    given: dict[str, list[str]] = {}
    for setting in read_settings(source):
        owner, _, key = setting.path.rpartition(".")
        if key in {"command", "args", "entrypoint"}:
            words.setdefault(owner, (setting.evidence.line, []))[1].append(setting.text)
        elif key == "image" and (entry := entry_point(substitute(setting.text))):
            words.setdefault(owner, (setting.evidence.line, []))
            images[owner] = " ".join(entry)
        elif key == "environment":
            given.setdefault(owner, []).append(setting.text)
        elif owner.endswith(".environment") and _VALUE.fullmatch(setting.text):
            given.setdefault(owner.removesuffix(".environment"), []).append(f"{key.upper()}={setting.text}")
    for owner, (line, parts) in words.items():
        if owner in images and (not parts or parts[0].startswith("-")):
            parts.insert(0, images[owner])
        is_shell = parts[:1] in (["bash"], ["sh"], ["/bin/bash"], ["/bin/sh"]) and len(parts) > 2
        started = " ".join(parts[2:] if is_shell else parts).replace("\n", " ")
        yield line, with_variables(given.get(owner, ()), started), ""


def with_variables(assigned: Iterable[str], started: str) -> str:
    """Return a command with those of its container's variables in front of it that tell of a model (``MODEL_PATH=a/b``)."""
    telling = [text for text in assigned if _TELLS.search(text.partition("=")[0]) and _ASSIGNED.fullmatch(text)]
    return " ".join((*telling[:MAX_VARIABLES], started))


def given_variables(command: str) -> dict[str, str]:
    """Return the variables that stand in front of a command, by their names (``MODEL=a/b python serve.py``)."""
    found: dict[str, str] = {}
    rest = command.lstrip()
    while (assigned := _ASSIGNED.match(rest)) is not None and rest[assigned.end() : assigned.end() + 1] == " ":
        found[assigned[1]] = assigned[2]
        rest = rest[assigned.end() :].lstrip()
    return found
