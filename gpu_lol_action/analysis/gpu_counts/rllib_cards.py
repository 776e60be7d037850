"""How many GPUs the learners of Ray's RLlib take: ``.learners(num_learners=2, num_gpus_per_learner=1)``, in older releases ``num_gpus``.

A learner in the program's own process (``num_learners=0``, the default) takes the cards of one; a part of a card is one that is shared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.programs.card_by_word import AGENTS_CARDS, uses_rllib
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

USUAL_NODE = 8
_LEARNERS = ("num_learners", "num_learner_workers")
_NUMBER = regex(r"\d{1,3}(?:\.\d{0,9})?|\.\d{1,9}")
_NOT_A_LEARNERS = frozenset({"init", "remote", "options"})


def rllib_cards(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the cards per machine of RLlib's learners where the run's program tells them in one way; nothing where none is told."""
    script = run.script
    code = script.code if script is not None else None
    if script is None or code is None or run.behavior is not Behavior.TRAINS or not uses_rllib(code):
        return []
    told = _told(checkout, run, script)
    each = next((told[name] for name in AGENTS_CARDS if told.get(name, (0.0, 1))[0] > 0), None)
    if each is None:
        return []
    is_per_learner = told.get("num_gpus", (0.0, 1)) != each
    learners = next((told[name][0] for name in _LEARNERS if name in told), 0) if is_per_learner else 0
    count = math.ceil(max(learners, 1) * each[0])
    where = Evidence(script.path, code.line_of_file(each[1]))
    why = f"RLlib's learners take {count} {'GPU' if count == 1 else 'GPUs'}"
    return [Finding("hardware.gpu_count", str(min(count, USUAL_NODE)), why, Confidence.MEDIUM, where)]


def _told(checkout: Checkout, run: Run, script: Source) -> Mapping[str, tuple[float, int]]:
    """Return the numbers of learners and of their cards that calls and dictionaries of a program tell, each with its line."""
    code, scope = script.code, scope_of(checkout, run)
    found: dict[str, tuple[float, int]] = {}
    if code is None:
        return found
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], import_closure(checkout, script))
    for call in code.calls:
        for key, value in call.keywords if call.last not in _NOT_A_LEARNERS else ():
            if key in AGENTS_CARDS or key in _LEARNERS:
                text = follower.text(script, value, call.owner) or code.resolve(value, call.owner) or ""
                if _NUMBER.fullmatch(text.strip()):
                    found.setdefault(key, (float(text), call.line))
    for default in code.defaults:
        is_entry = not default.is_option and not default.is_parameter
        if is_entry and default.name in (*AGENTS_CARDS, *_LEARNERS) and _NUMBER.fullmatch(default.text.strip()):
            found.setdefault(default.name, (float(default.text), default.line))
    return found
