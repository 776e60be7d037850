"""Words of a sentence that are typed and tell nothing of hardware: where a link leads, a path, what an option may be given."""

from __future__ import annotations

from gpu_lol_action.domain.patterns import regex

# Line four of a file (``train.json#L4``) is no card.
_ADDRESS = regex(r"(?<=\])\([^()\s]{1,1000}\)|https?://[^\s()<>\"'\]]{1,1000}")
# A cache in ``/ML-A800/hf_cache`` is no A800.
_PATH = regex(r"(?<![\w)\]/.~])(?:~|\.{1,2})?/[\w.-]{1,80}/[\w./-]{0,300}")
# ``[--hardware {V100,P100,Others}]``: what could be given.
_CHOICES = regex(r"(--[\w-]{1,60}[ =])\{[^{}\n]{1,300}\}")
# A number, a word or a card alone: what a command or an option says between such marks has more signs in it.
_MARKED = regex(r"(`|\*\*)([\w -]{1,40})\1(?![\w`*])")


def without_typed(line: str) -> str:
    """Return a line without addresses, paths and choices, and without the marks around a number (``on `4` GPUs``, ``**8** A100``)."""
    line = _ADDRESS.sub(" ", line) if "](" in line or "://" in line else line
    line = _CHOICES.sub(r"\1", line) if "--" in line and "{" in line else line
    line = _PATH.sub(" ", line) if "/" in line else line
    return _MARKED.sub(r"\g<2>", line) if "`" in line or "**" in line else line
