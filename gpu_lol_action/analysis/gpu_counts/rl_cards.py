"""How many cards reinforcement learning with an engine takes: those of the trainer, and the engine's own where it has any."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import as_number
from gpu_lol_action.analysis.training.rl_engine import is_beside_its_engine, is_slime
from gpu_lol_action.analysis.training.said_settings import Said, said_of
from gpu_lol_action.analysis.training.trl_settings import said_to_trl
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

USUAL_NODE = 8  # cards of one machine; more are several machines
_FIELD = "hardware.gpu_count"
# A server that generates for a trainer, with the cards that it is shown; comments tell of it in a script's head.
_SERVER = regex(
    r"CUDA_VISIBLE_DEVICES=[\"']?(\d{1,2}(?:,\d{1,2}){0,15})[\"']?[^\n]{0,80}(?:\\\n[^\n]{0,200}){0,6}?"
    r"\b(?:vf-vllm|vllm-serve|vllm_serve|vllm serve|swift rollout)\b"
)
_VISIBLE = regex(r"CUDA_VISIBLE_DEVICES=[\"']?(\d{1,2}(?:,\d{1,2}){1,15})[\"']?")
# `ray start --head --num-gpus 4`, or a variable of the script in its place.
_HEAD = regex(r"\bray start --head\b[^\n]{0,200}?--num-gpus[ =][\"']?(?:(\d{1,2})\b|\$\{?(\w{1,60})\b)")
_PLACED = "trainer_placement_"
_GROUPS = ("ref", "reward", "critic", "actor")


def cards_of(checkout: Checkout, run: Run) -> list[Finding]:
    """Return the cards per machine of a trainer with engines of their own, or of OpenRLHF's groups of models."""
    if run.behavior is not Behavior.TRAINS:
        return []
    said = said_of(checkout, run)
    if is_slime(said):
        return _of_roles(run, said)
    if said.has("vllm_num_engines"):
        return _of_groups(run, said)
    if f"{_PLACED}policy_num_gpus_per_node" in said.texts:
        return _of_placement(run, said)
    said = said_to_trl(checkout, run, said)
    if not said.is_on("use_vllm") or is_beside_its_engine(checkout, run, said):
        return []
    return _with_servers(run, said)


def _of_groups(run: Run, said: Said) -> list[Finding]:
    """Return OpenRLHF's sum of the groups that have cards of their own, which it calls actor, reference, critic, reward, engines."""
    sizes = {name: _cards(said, name) for name in _GROUPS}
    engines = _number(said, "vllm_num_engines") * max(_number(said, "vllm_tensor_parallel_size"), 1)
    if not sizes["actor"]:
        return []
    if said.is_on("colocate_all_models", "train_colocate_all", "train_colocate_all_models", "colocate_all"):
        count, why = max(*sizes.values(), engines), "all models share them"
    else:
        if said.is_on("colocate_actor_ref", "train_colocate_actor_ref"):
            sizes["ref"] = 0
        if said.is_on("colocate_critic_reward", "train_colocate_critic_reward"):
            sizes["reward"] = 0
        count, why = sum(sizes.values()) + engines, "each group of models has its own"
    count = min(count, USUAL_NODE)
    return [Finding(_FIELD, str(count), f"actor, critic and engines: {why}", Confidence.MEDIUM, run.evidence)]


def _of_placement(run: Run, said: Said) -> list[Finding]:
    """Return the cards of SkyRL's policy, and those of its engines where they do not lie on the policy's (``colocate_all``, on by default)."""
    trainer = _number(said, f"{_PLACED}policy_num_gpus_per_node")
    is_shared = said.is_on(f"{_PLACED}colocate_all", default="true")
    engines = _any_number(said, "generator_inference_engine_num_engines", "generator_num_inference_engines")
    parts = _any_number(said, "generator_inference_engine_tensor_parallel_size")
    count = trainer if is_shared else trainer + engines * parts
    if not count:
        return []
    why = "cards of the policy" if is_shared else "cards of the policy and of its engines"
    return [Finding(_FIELD, str(min(count, USUAL_NODE)), f"{count}: {why}", Confidence.HIGH, run.evidence)]


def _any_number(said: Said, *names: str) -> int:
    return max(as_number(said.text(*names)) or 1, 1)


def _of_roles(run: Run, said: Said) -> list[Finding]:
    """Return the cards of slime's trainer and of its engine beside it, per machine; a cluster that its script starts has as many as it says."""
    head = _head(run)
    trainer = _number(said, "actor_num_gpus_per_node")
    is_shared = said.is_on("colocate", "debug_train_only")
    count, why = (
        trainer + (0 if is_shared else _number(said, "rollout_num_gpus")),
        "cards of the trainer and of its engine",
    )
    if head > count or not trainer:
        count, why = head, "its script starts Ray on a machine of so many cards"
    machines = _number(said, "actor_num_nodes")
    found = (
        [Finding(_FIELD, str(min(count, USUAL_NODE)), f"{count}: {why}", Confidence.HIGH, run.evidence)]
        if count
        else []
    )
    if machines > 1:
        words = f"`--actor-num-nodes` is {machines}"
        found.append(Finding("hardware.num_nodes", str(machines), words, Confidence.HIGH, run.evidence))
    return found


def _head(run: Run) -> int:
    """Return how many cards the run's shell script says that Ray's first machine has; 0 where it says none."""
    text = run.command.source.text[:200_000] if run.command is not None else ""
    found = _HEAD.search(text)
    if found is None or found[1] is not None:
        return int(found[1]) if found is not None else 0
    given = re.search(
        rf"^[ \t]*(?:export[ \t]+)?{found[2]}=[\"']?(?:\$\{{\w{{1,60}}:-)?(\d{{1,2}})\b", text, re.MULTILINE
    )
    return int(given[1]) if given is not None else 0


def _cards(said: Said, group: str) -> int:
    each = _number(said, f"{group}_num_gpus_per_node")
    return each * max(_number(said, f"{group}_num_nodes"), 1)


def _number(said: Said, name: str) -> int:
    return as_number(said.text(name)) or 0


def _with_servers(run: Run, said: Said) -> list[Finding]:
    """Return the trainer's processes and the engine's cards: those that a server is shown, else what the command sees, else one more."""
    command = run.command
    if command is None or not command.processes or command.nodes > 1:
        return []
    # A server on another machine takes nothing of this one.
    host = said.text("vllm_server_host")
    if host and not regex(r"127\.|localhost|0\.0\.0\.0|\$").match(host):
        return []
    text = regex(r"^[ \t]*#[ \t]?", re.MULTILINE).sub("", command.source.text[:200_000])
    served = {len(set(found[1].split(","))) for found in _SERVER.finditer(text)}
    seen = _VISIBLE.search(command.text)
    visible = len(set(seen[1].split(","))) if seen is not None else 0
    if visible > command.processes:
        extra, why = visible - command.processes, "those that the trainer sees besides"
    elif served:
        extra, why = max(served), "those that its server is shown"
    else:
        extra, why = max(_number(said, "vllm_tensor_parallel_size"), 1), "one unless told otherwise"
    count = min(command.processes + extra, max(USUAL_NODE, command.processes))
    words = f"`{run.shown}` starts {command.processes} processes, and the engine takes {extra} more: {why}"
    return [Finding(_FIELD, str(count), words, Confidence.MEDIUM, run.evidence)]
