"""Options of a program that stay nothing where nobody gives them: ``add_argument("--peft", default=None)``.

What stands under ``if args.peft is not None:`` is then left out. Names of models, data and files are not taken for unset: whoever
starts the program fills them in, also where the shown command leaves them open. Nor are options that the program sets itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import fold_key
from gpu_lol_action.domain.patterns import regex

MAX_OPTIONS = 300
_OPTION = regex(
    r"\.add_argument\(\s*((?:[\"']-{1,2}[A-Za-z][\w-]{0,60}[\"']\s*,?\s*){1,4})([^()]{0,400}(?:\([^()]{0,300}\)[^()]{0,300}){0,4})\)"
)
_FLAG = regex(r"--([A-Za-z][\w-]{0,60})")
_SAYS = regex(r"\b(?:default\s*=\s*(?!None\b)|action\s*=|required\s*=|nargs\s*=|dest\s*=)")
_FILLED_IN = regex(
    r"model|data|config|cfg|path|dir|file|name|ckpt|checkpoint|resume|pretrain|weight|init|load|save|root|url|token|key"
)
# What fills all options at once says nothing of each.
_SETS_ALL = regex(
    r"\.set_defaults\(|\bsetattr\((?:self\.)?(?:args|opts?|FLAGS|hparams|cfg|config)\b|namespace\s*=|"
    r"(?:__dict__|\bvars\([\w.]{1,40}\))(?:\.update\(|\[[^\]\n]{1,60}\]\s*=(?!=)|\s*=(?!=))"
)
_WORDS_OF_ALL = ("set_defaults", "setattr", "namespace", "__dict__", "vars(")
_SETS = regex(r"\.([A-Za-z_]\w{0,60})[ \t]*=(?!=)")


@remembered
def _declared(source: Source) -> frozenset[str]:
    """Return the options that a parser of this file starts with nothing."""
    found = set()
    for option in itertools.islice(_OPTION.finditer(source.text), MAX_OPTIONS):
        flags = _FLAG.findall(option[1])
        name = fold_key(max(flags, key=len)) if flags else ""
        if name and not _SAYS.search(option[2]) and not _FILLED_IN.search(name):
            found.add(name)
    return frozenset(found)


@remembered
def _assigned(source: Source) -> frozenset[str]:
    return frozenset(fold_key(name) for name in _SETS.findall(source.text))


@remembered
def _sets_all(source: Source) -> bool:
    # Plain words first: the expression could begin at most signs, and few programs have any of them.
    return any(map(source.mentions, _WORDS_OF_ALL)) and _SETS_ALL.search(source.text) is not None


def unset_options(sources: Iterable[Source]) -> frozenset[str]:
    """Return the names of options that these sources start with nothing and never set themselves; none where something sets all at once."""
    known = [source for source in sources if source.code is not None]
    found = frozenset[str]().union(*(_declared(source) for source in known if ".add_argument(" in source.text))
    if not found:
        return found
    if any(_sets_all(source) for source in known):
        return frozenset()
    return found.difference(*(_assigned(source) for source in known))
