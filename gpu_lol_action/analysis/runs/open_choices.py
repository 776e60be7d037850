"""Ways to store weights that a module offers by name: what stands under a comparison with a word that nobody says is no run's.

``if config.dtype == "4bit": load(..., load_in_4bit=True)`` tells what can be had. Where the run says the word, or the program starts
with it, the comparison holds; where another one is said, the branch is dead anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.programs.dead_branches import compared_blocks

QUANTIZERS = frozenset({"load_in_4bit", "load_in_8bit", "load_4bit", "load_8bit", "load_in_4bits", "load_in_8bits"})


def without_open_choices(
    source: Source, settings: Iterable[Setting], values: Mapping[str, str], programs: Sequence[Source]
) -> list[Setting]:
    """Return the settings of a program but those switches for quantized weights that only a word nobody says would turn on.

    ``values`` are the run's options by their folded names; ``programs`` may give the compared name a value to start with.
    """
    found = list(settings)
    if not any(setting.key in QUANTIZERS for setting in found):
        return found
    blocks = [
        block
        for name, word, block in compared_blocks(source)
        if name not in values and not any(_starts_with(each, name, word) for each in programs)
    ]
    return [s for s in found if s.key not in QUANTIZERS or not any(s.evidence.line in block for block in blocks)]


def _starts_with(source: Source, name: str, word: str) -> bool:
    """Whether a program gives a name this value, among others."""
    if source.code is None or not source.mentions(word):
        return False
    return any(default.name == name and default.text == word for default in source.code.defaults)
