"""What TorchX's own component for distributed training starts: ``torchx run -s slurm dist.ddp -j 2x8 --script train.py -- --lr 1e-4``.

It is torchrun on so many machines with so many processes each; which scheduler it is handed to says nothing of the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_lol_action.domain.patterns import regex

_COMPONENTS = frozenset({"dist.ddp", "dist.spmd"})
# `8`, `2x8`, and with a least number of machines to go on with, `1:2x8`.
_MACHINES = regex(r"(?:(?:\d{1,4}:)?(\d{1,4})x)?(\d{1,3})")
MAX_BEFORE = 60


def torchx_command(words: Sequence[str]) -> list[str] | None:
    """Return the torchrun command that a TorchX job comes to; None for every other command, and for a job that names no program."""
    if list(words[:2]) != ["torchx", "run"]:
        return None
    place = next((i for i, word in enumerate(words[:MAX_BEFORE]) if word in _COMPONENTS), None)
    if place is None:
        return None
    given = list(words[place + 1 :])
    cut = given.index("--") if "--" in given else len(given)
    program, handed = [], given[cut + 1 :]
    counts: list[str] = []
    index = 0
    while index < cut:
        name, equals, value = given[index].partition("=")
        if not name.startswith("-"):
            handed = [*given[index:cut], *handed]  # the program's own words, though nothing parts them
            break
        if not equals:
            value = given[index + 1] if index + 1 < cut else ""
        index += 1 if equals else 2
        if name in {"--script", "-m", "--m"}:
            program = [value] if name == "--script" else ["-m", value]
        elif name in {"-j", "--j"} and (found := _MACHINES.fullmatch(value)) is not None:
            counts = ["--nproc_per_node", found[2], *(["--nnodes", found[1]] if found[1] else [])]
    return ["torchrun", *counts, *program, *handed] if program and program[-1] else None
