"""The GPU that notebooks ask Colab for, where they clone another project and start its programs: nothing of that lies here.

Format: Colab writes what its menu *Change runtime type* was set to into the notebook's metadata (``"accelerator": "GPU"``,
``"colab": {"gpuType": "T4"}``). Of notebooks that hold their own program that program tells more, and many were set to a GPU by
chance; so this counts only where all there is are notebooks that fetch and start somebody else's.
"""

from __future__ import annotations

from gpu_lol_action.analysis.commands.hosting_files import Wish
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.formats.notebooks import ON_COLAB
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

_CLONES = regex(r"#\s{0,8}!?\s{0,4}git\s{1,4}clone\s")
_STARTS = regex(r"(?:#\s{0,8}!\s{0,4}|\[\s{0,4}[\"'])(?:python3?|accelerate|torchrun|bash|sh)(?:\s|[\"'])")
_CARDS = {"T4": "T4", "L4": "L4", "V100": "V100", "A100": "A100-40GB"}


def colab_wish(checkout: Checkout) -> Wish | None:
    """Return the GPU that a checkout of nothing but notebooks asks Colab for; None where a program lies here, or none is asked for."""
    if checkout.of(Form.PYTHON):
        return None
    for source in checkout.of(Form.NOTEBOOK):
        line = _asked(source)
        if line is not None and _CLONES.search(source.text) and _STARTS.search(source.text):
            number, card = line
            where = Evidence(source.path, source.code.line_of_file(number) if source.code is not None else 0)
            known = _CARDS.get(card)
            why = f"`{source.path}` asks Colab for a GPU"
            return Wish(why, where, False, (known, where) if known else None, (1, where), host="Colab", is_order=True)
    return None


def _asked(source: Source) -> tuple[int, str] | None:
    """Return the line that says what Colab was asked for, and the card ("" where none is named)."""
    place = source.text.rfind(ON_COLAB)
    if place < 0:
        return None
    return source.text.count("\n", 0, place) + 1, source.text[place + len(ON_COLAB) :].partition("\n")[0].strip()
