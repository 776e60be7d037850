"""Options by the long names that a program gives them: ``-b 256`` for ``add_argument("-b", "--batch_size")``."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.configuration import fold_key
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.import_graph import import_closure

MAX_SHORT = 3
MAX_MODULES = 8
_ADDS = ("add_argument", "add_option", "option")


def spelled_out(checkout: Checkout, script: Source | None, options: Mapping[str, str]) -> Mapping[str, str]:
    """Return a command's options, short ones under their long names where the program, or what it imports first, tells these."""
    if script is None or not any(len(name) <= MAX_SHORT for name in options):
        return options
    names = _long_names(checkout, script)
    return {names.get(name, name) if names.get(name) not in options else name: value for name, value in options.items()}


@remembered
def _long_names(checkout: Checkout, script: Source) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for source in import_closure(checkout, script)[:MAX_MODULES]:
        for call in source.code.calls_named(*_ADDS) if source.code is not None else ():
            flags = [argument.text for argument in call.arguments if argument.text and argument.text.startswith("-")]
            long = next((fold_key(flag.lstrip("-")) for flag in flags if flag.startswith("--")), None)
            for flag in flags:
                short = flag.lstrip("-")
                if long is not None and not flag.startswith("--") and len(short) <= MAX_SHORT:
                    found.setdefault(short, long)
    return found
