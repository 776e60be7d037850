"""The networks with which a library of agents starts, by the name of their policy."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.media.sampled_graphs import numbers_per_node
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

_POLICIES = regex(r"^(?:MlpPolicy|CnnPolicy|MultiInputPolicy|MlpLstmPolicy)$")
# Parameters of stable-baselines3's default policies: two layers of 64 for actor and critic; Mnih et al. 2015 for pictures.
POLICY_PARAMETERS = {
    "MlpPolicy": 12_000,
    "MlpLstmPolicy": 600_000,
    "CnnPolicy": 1_700_000,
    "MultiInputPolicy": 1_700_000,
}
_POLICY_OUTPUTS = {"MlpPolicy": 512, "MlpLstmPolicy": 4096, "CnnPolicy": 60_000, "MultiInputPolicy": 60_000}


_LIBRARIES = frozenset({"stable_baselines3", "sb3_contrib", "rl_zoo3", "tianshou", "sample_factory"})


def assumed_network(sources: Sequence[Source], *, is_alone: bool, trains: bool) -> tuple[Finding, ...]:
    """Return the network that a library of agents or a program of graphs usually has; nothing for all others.

    ``is_alone``: nothing at all was read of a network of the program's own.
    """
    named = next((policy for source in sources if (policy := policy_of(source))), ()) if is_alone else ()
    policy = named or (usual_policy(sources) if is_alone else ())
    return policy or (usual_graphs(sources[:GRAPH_SOURCES]) if trains else ())


def usual_policy(sources: Sequence[Source]) -> tuple[Finding, ...]:
    """Return the larger of a library's usual networks where nothing names the policy that an agent of it starts with."""
    for source in sources:
        found = source.code.imported() & _LIBRARIES if source.code is not None else frozenset()
        if found:
            why = f"an agent of `{min(found)}` starts with a small network"
            return _findings("CnnPolicy", why, Evidence(source.path), Confidence.MEDIUM)
    return ()


_GRAPHS = frozenset({"torch_geometric", "dgl", "torch_sparse", "torch_cluster"})
_OF_GRAPHS = regex(r"\b(?:Sp)?(?:GCN|GAT|GraphSAGE)\b|\b[A-Z]?\w*Graph(?:Conv|Attention|Neural|Net)\w*")
_GRAPH_CLASS = regex(r"^class \w*(?:GCN|GAT|Graph(?:Conv|Attention|Neural|Net))\w*\(", re.MULTILINE)
GRAPH_SOURCES = 6
"""The run's nearest programs, which say whether it is about graphs."""
GRAPH = 50_000_000
"""Numbers that a network of graphs and the usual graph's features come to, with room: Cora has 4 million, Reddit 140."""


def usual_graphs(sources: Sequence[Source]) -> tuple[Finding, ...]:
    """Return what a program of graphs comes to whose sizes only its data tell; nothing for all others."""
    for place, source in enumerate(sources):
        code = source.code
        # What is imported from further off may be one model of many.
        is_named = place == 0 and _names_graphs(source)
        if code is not None and (is_named or code.imported() & _GRAPHS):
            where = Evidence(source.path)
            why = f"the data tell a graph's size; {GRAPH:,} numbers were assumed, more than most have"
            kept = str(numbers_per_node(source) or 1)
            values = (("own_network", "graph network"), ("own_parameters", str(GRAPH)), ("own_outputs", kept))
            return tuple(Finding(f"media.{field}", value, why, Confidence.MEDIUM, where) for field, value in values)
    return ()


def _names_graphs(source: Source) -> bool:
    """Whether a program of PyTorch imports or defines a network of graphs by its name."""
    code = source.code
    if code is None or "torch" not in code.imported():
        return False
    taken = " ".join(name for item in code.imports for name in item.names)
    return _OF_GRAPHS.search(taken) is not None or _GRAPH_CLASS.search(source.text) is not None


def _findings(policy: str, why: str, where: Evidence, confidence: Confidence) -> tuple[Finding, ...]:
    values = (
        ("own_network", policy),
        ("own_parameters", str(POLICY_PARAMETERS[policy])),
        ("own_outputs", str(_POLICY_OUTPUTS[policy])),
    )
    return tuple(Finding(f"media.{field}", value, why, confidence, where) for field, value in values)


@remembered
def policy_of(source: Source) -> tuple[Finding, ...]:
    """Return the network of the first policy that a program starts an agent with."""
    may_start = source.code is not None and any(source.mentions(policy) for policy in POLICY_PARAMETERS)
    for call in source.code.calls if source.code is not None and may_start else ():
        given = call.arguments[0] if call.arguments else call.keyword("policy")
        first = given.text if given is not None else None
        if first is not None and _POLICIES.match(first):
            where = Evidence(source.path, call.line)
            why = f"`{call.last}` starts with `{first}`"
            return _findings(first, why, where, Confidence.HIGH)
    return ()
