"""A switch of the program's own that leaves the card off: an option that nobody gives (``--cuda``), or a setting that the program refuses.

PyTorch computes where it is told to. A program that asks an option for it, and starts with that off, runs on the CPU as its document
has readers start it; so does one that sets its own ``config.use_GPU = False``.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.documents.silent_readme import silent_readme
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.analysis.formats.gpu_libraries import GPU_MODULES
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.run_kinds import is_refused
from gpu_lol_action.analysis.runs.settings import values_of
from gpu_lol_action.domain.patterns import regex

_SHY = frozenset({"torch", "torchvision", "torchaudio", "mxnet", "chainer", "chainerx", "cupy"})
"""They stay on the CPU until a program says a device's name."""
_ON = ("cuda", "use_cuda", "use_gpu", "enable_cuda", "with_cuda")
_OFF = ("no_cuda", "disable_cuda", "use_cpu", "force_cpu", "cpu_only")
_REFUSED = regex(r"^[ \t]*(?:\w{1,40}\.){1,3}(?:use_?)(?:gpu|cuda)[ \t]*=[ \t]*(True|False)\b", re.MULTILINE | re.IGNORECASE)  # fmt: skip
# A line that moves something to a card, whatever an option says.
_MOVES = regex(r"\.cuda\(|[\"']cuda|\bmx\.gpu\(|\.to_gpu\(")
_NO_QUESTION = regex(r"torch\.cuda\.\w{1,40}|\.cuda\(|[\"'][^\"'\n]{0,60}[\"']")
_ASKS = regex(r"\b(?:if|and|or|not)\b")


def leaves_card_off(checkout: Checkout, run: Run) -> bool:
    """Whether a started program of PyTorch has such a switch, and neither its command nor another one turns it on."""
    script = run.script
    if script is None or (run.command is not None and (run.command.is_tool or run.command.is_launcher)):
        return False
    if _is_sent_to_cores(checkout, run):
        return True
    if not any(script.mentions(word) for word in ("cuda", "gpu", "GPU", "cpu")):
        return False
    closure = (script, *import_closure(checkout, script))
    used = frozenset().union(*(source.code.imported() for source in closure if source.code is not None)) & GPU_MODULES
    if not used or used - _SHY:
        return False
    set_to = set(_REFUSED.findall(script.text))
    if set_to:
        return set_to == {"False"}
    return any(_is_off(checkout, run, name, closure) for name in (*_ON, *_OFF))


def _is_sent_to_cores(checkout: Checkout, run: Run) -> bool:
    """Whether the command itself says ``--device cpu``, no other one names a device, and the README speaks of no card."""
    if run.options.get("device", "").lower() != "cpu" or silent_readme(checkout) is None:
        return False
    return all(command.options.get("device", "cpu").lower() == "cpu" for command in launch_commands(checkout))


def _is_off(checkout: Checkout, run: Run, name: str, closure: tuple[Source, ...]) -> bool:
    """Whether an option by that name decides over the card, starts with it off, and is given by no command."""
    script = closure[0]
    if not (script.mentions(f"--{name}") or script.mentions(f"--{name.replace('_', '-')}")):
        return False
    value = values_of(checkout, run).get(name, "")
    is_off = value.lower() in {"true", "1"} if name in _OFF else is_refused(value)
    if not is_off or any(name in map(fold_key, command.options) for command in launch_commands(checkout)):
        return False
    # `args.cuda = not args.no_cuda and ...`: what is asked may be called otherwise than the option.
    word = name.rpartition("_")[2]
    moving = [line for source in closure for line in _moving(source)]
    asked = [_NO_QUESTION.sub("", line) for line in moving if _ASKS.search(line)]
    return 0 < len(moving) == len(asked) and all(word in line for line in asked)


def _moving(source: Source) -> list[str]:
    """Return a program's lines that move something to a card, each with the question right above it that it hangs on."""
    lines = source.text.split("\n")
    found = []
    for above, line in zip(["", *lines], lines, strict=False):
        if _MOVES.search(line):
            is_under = above.lstrip().startswith(("if ", "elif ")) and _depth(above) < _depth(line)
            found.append(f"{above} {line}" if is_under else line)
    return found


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
