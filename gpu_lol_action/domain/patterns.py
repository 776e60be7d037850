"""Regular expressions that are compiled when they are first asked something.

The analyzer has some six hundred, of which a small repository asks a few dozen: compiling all of them took a fifth of its time.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _Late:
    """Stands for a regular expression until it is asked; from then on its methods are the compiled one's own."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.given_flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS and name not in ("flags", "groups", "groupindex"):
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.given_flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression as ``re.compile`` does; a faulty one is found out when it is first asked.

    It answers the methods of a compiled one, but is none: ``re.sub`` and its like take text.
    """
    return cast("re.Pattern[str]", _Late(pattern, flags))
