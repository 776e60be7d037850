"""The configuration of a command whose reader is to put one in (``train.py --config path/to/config``): another command's of the same program.

What the scripts of a checkout hand to a program is what its authors start it with.
"""

from __future__ import annotations

from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand, launch_commands
from gpu_lol_action.analysis.commands.placeholder_commands import is_of_the_reader
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.domain.patterns import regex

_CONFIGS = regex(r"(?:^|_)(?:config|cfg)(?:_?(?:file|path|name))?$")
MAX_COMMANDS = 300


def sibling_config(checkout: Checkout, command: LaunchCommand) -> tuple[Source, ...]:
    """Return the first configuration that is here of another command of the program; none where this one leaves none open."""
    said = {key: text for key, text in command.options.items() if _CONFIGS.search(key)}
    if not said or not all(is_of_the_reader(text) and checkout.find_named(text) is None for text in said.values()):
        return ()
    program = _place(command)
    for other in launch_commands(checkout)[:MAX_COMMANDS]:
        if other is command or not program.endswith(".py") or _place(other) != program:
            continue
        for name in (text for key, text in other.options.items() if key in said):
            source = checkout.find_named(name)
            if source is not None and source.code is None and read_settings(source):
                return (source,)
    return ()


def _place(command: LaunchCommand) -> str:
    return command.target.removeprefix("./")
