"""Checkouts that list or import what computes on a GPU, start nothing with it, and speak of no card anywhere: data, metrics, parts, compilers.

Of 715 repositories that readers judged twelve start nothing with what they list: eight needed no GPU, and the four that did are kernels. A
card is rented for work that is there to be seen: whoever puts such parts to work does so in a program of his own.
"""

from __future__ import annotations

import itertools

from gpu_lol_action.analysis.documents.silent_readme import silent_readme
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.needs.plain_networks import is_listed_for_a_card, names_a_card
from gpu_lol_action.domain.finding import Confidence, Finding

LEAST_PROGRAMS = 20
"""Of fewer a use that was not understood may be the whole."""
MOST_NAMING = 0.04
"""Of the programs those that may name a card: a remark about somebody else's machine is found in most trees."""


def nothing_wants_a_card(checkout: Checkout, need: Finding) -> Finding | None:
    """Return that a checkout of which only names speak for a GPU (``need``) needs none; None where a README speaks of a card, more than a few programs name one, or one builds layers in PyTorch."""
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    if len(programs) < LEAST_PROGRAMS or silent_readme(checkout) is None or is_listed_for_a_card(checkout):
        return None
    # PyTorch's layers are often all that a paper's authors publish, and they are put on a card by whoever trains them.
    if any(source.mentions("nn.Module") for source in programs):
        return None
    most = int(MOST_NAMING * len(programs))
    if len(list(itertools.islice(filter(names_a_card, programs), most + 1))) > most:
        return None
    why = f"{need.why}, but nothing here trains or infers, and nothing speaks of a card"
    return Finding("workload", "cpu-only", why, Confidence.LOW, need.evidence)
