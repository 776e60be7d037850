"""Which of several programs with one name a command means: the one that knows the command's options."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.paths import Form

LEAST_OPTIONS = 2  # fewer are by chance in any parser
LEAST_LONG = 5  # letters; shorter words stand in any program


def program_named(checkout: Checkout, target: str, options: Mapping[str, str]) -> Source | None:
    """Return the program that a command's target means: the shallowest that ends like it, unless only another knows its options.

    ``python main.py --data_type detection`` after the words "go to the folder ``src``" is ``src/main.py`` where that one asks for
    a ``data_type`` and ``detr/main.py`` does not.
    """
    first = checkout.find_named(target)
    asked = [name for name in options if len(name) >= LEAST_LONG]
    if first is None or len(asked) < LEAST_OPTIONS or _known(first, asked):
        return first
    tail = target.strip("./")
    alike = [s for s in checkout.of(Form.PYTHON) if s.path.endswith(f"/{tail}") and s is not first]
    return next((source for source in alike if _known(source, asked) >= LEAST_OPTIONS), first)


def _known(source: Source, names: list[str]) -> int:
    return sum(source.mentions(name) or source.mentions(name.replace("_", "-")) for name in names)
