"""Short options by their long names: ``-b 256`` is ``--batch_size 256`` where the program's parser says so."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.domain.patterns import regex

_DECLARES = ("add_argument", "option", "Option", "add_option")
_SHORT = regex(r"-[A-Za-z]\w{0,2}")
_LONG = regex(r"--([A-Za-z][\w-]{1,60})")
LONGEST_SHORT = 3
MAX_PARSERS = 8


def by_long_names(checkout: Checkout, script: Source | None, options: Mapping[str, str]) -> Mapping[str, str]:
    """Return a command's options, those that it gives by a short name under the long one as well; what it says in full stays."""
    if script is None or not any(len(name) <= LONGEST_SHORT for name in options):
        return options
    found = dict(options)
    for source in import_closure(checkout, script)[:MAX_PARSERS]:
        for short, long in _aliases(source).items():
            if short in options:
                found.setdefault(long, options[short])
    return found


@remembered
def _aliases(source: Source) -> Mapping[str, str]:
    """Return the long name of each short option that a program's parser declares; its own name for it (``dest``) wins."""
    found: dict[str, str] = {}
    for call in source.code.calls_named(*_DECLARES) if source.code is not None else ():
        texts = [value.text for value in call.arguments[:4] if value.text is not None]
        short = next((text for text in texts if _SHORT.fullmatch(text)), None)
        named = call.keyword("dest")
        long = next((text for text in texts if _LONG.fullmatch(text)), None)
        name = named.text if named is not None and named.text else long.lstrip("-").replace("-", "_") if long else None
        if short is not None and name is not None:
            found.setdefault(short.lstrip("-"), name)
    return found
