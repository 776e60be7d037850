"""Models that a trainer is given beside the one that it trains: TRL's ``PPOTrainer(model=policy, reward_model=judge, value_model=critic)``.

Which is which is said by the trainer's call alone: the loads of all look alike, and a reward model is often loaded first.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered

MAX_ROLES = 20
VALUE, REWARD = "value", "reward"
_ROLES: Mapping[str, str] = {
    "value_model": VALUE, "reward_model": REWARD, "reward_funcs": REWARD, "reward_models": REWARD,
}  # fmt: skip


@remembered
def beside_policy(source: Source) -> tuple[tuple[str, int], ...]:
    """Return the lines on which a program makes what its trainers take as value or reward model, each with its role.

    A name that a trainer also trains is none of these, and neither is one that several lines set.
    """
    code = source.code
    if code is None or not any(source.mentions(word) for word in _ROLES):
        return ()
    roles: dict[tuple[str, str], str] = {}
    trained: set[str] = set()
    for call in code.calls_named("*Trainer"):
        trained.add((value.path or "") if (value := call.keyword("model")) is not None else "")
        for key, role in _ROLES.items():
            value = call.keyword(key)
            for each in (value, *value.items) if value is not None else ():
                if each.path:
                    roles.setdefault((role, each.path), call.owner)
    found = []
    for (role, name), owner in itertools.islice(roles.items(), MAX_ROLES):
        lines = {each.line for each in code.given if each.name == name and each.owner in {owner, ""}}
        # A notebook may be written on one line, which then says nothing of any name.
        alone = {each.name for each in code.given if each.line in lines} == {name}
        if name not in trained and len(lines) == 1 and alone:
            found.append((role, min(lines)))
    return tuple(found)
