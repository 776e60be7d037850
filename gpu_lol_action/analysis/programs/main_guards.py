"""What a module does only when it is started itself: the block of its ``if __name__ == "__main__":``.

A run that imports the module never comes by. Data sets and networks are often tried out there, with sizes of nobody's run.
"""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.patterns import regex

_GUARD = regex(r"\nif[ \t(]{1,9}__name__[ \t]{0,9}==[ \t]{0,9}[\"']__main__[\"'][ \t)]{0,9}:")
MAX_GUARDS = 4  # one on top that sets paths, and one at the end
# What stands below at a line's very beginning ends the block; comments and brackets that close do not.
_BEHIND = regex(r"\n[^\s#)\]}]")


@remembered
def started_alone(source: Source) -> frozenset[int]:
    """Return the numbers of the lines that run only where the file itself is started; none where it has no guard at its top."""
    if source.form is not Form.PYTHON or not source.mentions("__main__"):
        return frozenset()
    text, lines = f"\n{source.text}", set[int]()
    for guard in list(_GUARD.finditer(text))[:MAX_GUARDS]:
        behind = _BEHIND.search(text, guard.end())
        last = text.count("\n", 0, behind.start() + 1) if behind else text.count("\n") + (not text.endswith("\n"))
        lines.update(range(text.count("\n", 0, guard.start() + 1), last))
    return frozenset(lines)
