"""The networks with which a library of agents starts, by the name of their policy."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.checkout import Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

_POLICIES = re.compile(r"^(?:MlpPolicy|CnnPolicy|MultiInputPolicy|MlpLstmPolicy)$")
# Parameters of stable-baselines3's default policies: two layers of 64 for actor and critic; Mnih et al. 2015 for pictures.
_POLICY_PARAMETERS = {
    "MlpPolicy": 12_000,
    "MlpLstmPolicy": 600_000,
    "CnnPolicy": 1_700_000,
    "MultiInputPolicy": 1_700_000,
}
_POLICY_OUTPUTS = {"MlpPolicy": 512, "MlpLstmPolicy": 4096, "CnnPolicy": 60_000, "MultiInputPolicy": 60_000}


_LIBRARIES = frozenset({"stable_baselines3", "sb3_contrib", "rl_zoo3", "tianshou", "sample_factory"})


def usual_policy(sources: Sequence[Source]) -> tuple[Finding, ...]:
    """Return the larger of a library's usual networks where nothing names the policy that an agent of it starts with."""
    for source in sources:
        found = source.code.imported() & _LIBRARIES if source.code is not None else frozenset()
        if found:
            why = f"an agent of `{min(found)}` starts with a small network"
            return _findings("CnnPolicy", why, Evidence(source.path), Confidence.MEDIUM)
    return ()


def _findings(policy: str, why: str, where: Evidence, confidence: Confidence) -> tuple[Finding, ...]:
    values = (
        ("own_network", policy),
        ("own_parameters", str(_POLICY_PARAMETERS[policy])),
        ("own_outputs", str(_POLICY_OUTPUTS[policy])),
    )
    return tuple(Finding(f"media.{field}", value, why, confidence, where) for field, value in values)


@remembered
def policy_of(source: Source) -> tuple[Finding, ...]:
    """Return the network of the first policy that a program starts an agent with."""
    may_start = source.code is not None and any(source.mentions(policy) for policy in _POLICY_PARAMETERS)
    for call in source.code.calls if source.code is not None and may_start else ():
        first = call.arguments[0].text if call.arguments else None
        if first is not None and _POLICIES.match(first):
            where = Evidence(source.path, call.line)
            why = f"`{call.last}` starts with `{first}`"
            return _findings(first, why, where, Confidence.HIGH)
    return ()
