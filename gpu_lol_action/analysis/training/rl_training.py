"""What verl's words say of a training, where they differ from other trainers' words: batches, sharding, what waits in main memory.

verl's ``train_batch_size`` is what a step learns from, over many passes; a pass on one card has ``ppo_micro_batch_size_per_gpu``
samples, or ``ppo_max_token_len_per_gpu`` tokens where batches are dynamic. Its FSDP workers keep 32-bit weights, compute at 16 bit
and divide everything; ``param_offload`` and ``optimizer_offload`` move these away while the engine generates and back for each step.
Where padding is removed, a batch has the tokens of its answers, which end where they end: half of the limit is taken.
OpenRLHF and slime have batches of tokens, too. NeMo-RL's workers divide with FSDP where Megatron-Core is off.
"""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import as_number
from gpu_lol_action.analysis.training.rl_engine import is_verl
from gpu_lol_action.analysis.training.said_settings import Said, said_of
from gpu_lol_action.domain.finding import Confidence, Finding

_VERL_TOKENS = "16384"  # what `ppo_max_token_len_per_gpu` starts with
_ACTOR = "actor_rollout_ref_actor_"


_SWIFTS_MOVE = "`offload_optimizer`"


def with_rl_words(checkout: Checkout, run: Run, found: list[Finding | None]) -> list[Finding]:
    """Return the findings on a training with those put right that such a run says in words of its own."""
    kept = [finding for finding in found if finding is not None]
    if run.behavior is not Behavior.TRAINS:
        return kept
    said = said_of(checkout, run)
    if is_verl(said):
        return _verls(said, run, kept)
    if said.is_on("policy_dtensor_cfg_enabled") and not said.is_on("policy_megatron_cfg_enabled"):
        return [*(f for f in kept if f.field != "training.sharding"), *_of_dtensor(said, run)]
    if said.text("rlhf_type"):
        # ms-swift's `offload_optimizer` moves it while the engine generates; it comes back for the step.
        kept = [f for f in kept if f.field != "training.offload" or _SWIFTS_MOVE not in f.why]
    dynamic = said.is_on("dynamic_batch_enable", "train_dynamic_batch_enable", "use_dynamic_batch_size")
    tokens = as_number(said.text("max_tokens_per_gpu", "train_max_tokens_per_gpu", "train_max_tokens_per_gpu_enable"))
    if not (dynamic and tokens):
        return kept
    # These tokens are one card's; the samples of a step, which are all cards', are taken in as many passes as they need.
    return [*(finding for finding in kept if finding.field != "training.batch_spread"), _tokens(run, str(tokens))]


def _of_dtensor(said: Said, run: Run) -> list[Finding]:
    """Return how NeMo-RL's own workers divide a model: weights of 32 bit, gradients and optimizer over all cards (FSDP2)."""
    why = "`policy.dtensor_cfg` divides weights, gradients and optimizer"
    found = [Finding("training.sharding", "fsdp", why, Confidence.HIGH, run.evidence)]
    if said.is_on("policy_dtensor_cfg_cpu_offload"):
        why = "`policy.dtensor_cfg.cpu_offload` keeps weights and optimizer in main memory"
        found.append(Finding("training.offload", "parameters", why, Confidence.HIGH, run.evidence))
    return found


def _verls(said: Said, run: Run, kept: list[Finding]) -> list[Finding]:
    stale = {"training.offload"}
    more: list[Finding] = []
    batch = next((finding for finding in kept if finding.field == "training.batch_size"), None)
    if (together := _of_all_cards(said, run)) is not None:
        batch = together[0]
        stale |= {"training.batch_size", "training.batch_spread"}
        more += together[1:] if said.is_on("actor_rollout_ref_model_use_remove_padding") else together
    if batch is not None and said.is_on("actor_rollout_ref_model_use_remove_padding"):
        # Answers end where they end: of a batch without padding the half of its longest is taken.
        half = max(1, -(-int(batch.value) // 2))
        more.append(replace(batch, value=str(half), why=f"{batch.why}; half of it, for padding is removed"))
        stale.add("training.batch_size")
    if said.is_on(f"{_ACTOR}use_dynamic_bsz"):
        more.append(_tokens(run, said.text(f"{_ACTOR}ppo_max_token_len_per_gpu", default=_VERL_TOKENS)))
    strategy = said.text(f"{_ACTOR}strategy", f"{_ACTOR}fsdp_config_strategy", default="fsdp").lower()
    if strategy != "megatron" and "megatron" not in said.text("config_name"):
        stale |= {"training.sharding", "training.precision"}
        why = "verl's FSDP workers divide weights, gradients and optimizer, and compute at 16 bit"
        more.append(Finding("training.sharding", "fsdp", why, Confidence.HIGH, run.evidence))
        more.append(Finding("training.precision", "bf16", why, Confidence.HIGH, run.evidence))
    if said.is_on(f"{_ACTOR}fsdp_config_offload_policy"):
        why = "`offload_policy` keeps weights and optimizer in main memory"
        more.append(Finding("training.offload", "parameters", why, Confidence.HIGH, run.evidence))
    return [*(finding for finding in kept if finding.field not in stale), *(f for f in more if f.value)]


def _of_all_cards(said: Said, run: Run) -> list[Finding] | None:
    """Return the samples of a pass where they are said as verl's first releases do: for all cards together (``ppo_micro_batch_size``)."""
    if as_number(said.text(f"{_ACTOR}ppo_micro_batch_size_per_gpu")) is not None:
        return None
    number = as_number(said.text(f"{_ACTOR}ppo_micro_batch_size"))
    if not number:
        return None
    why = f"`ppo_micro_batch_size` is {number}, for all cards together"
    values = (("training.batch_size", str(number)), ("training.batch_spread", "all"))
    return [Finding(field, value, why, Confidence.HIGH, run.evidence) for field, value in values]


def _tokens(run: Run, tokens: str) -> Finding:
    number = as_number(tokens)
    why = f"batches are dynamic: {number} tokens on a card at a time"
    return Finding("training.card_tokens", str(number or ""), why, Confidence.HIGH, run.evidence)
