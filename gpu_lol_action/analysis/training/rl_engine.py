"""Reinforcement learning of a language model with an engine that generates beside the trainer: verl, slime, OpenRLHF, TRL, ms-swift, oat.

Findings: ``rl.engine`` (``colocated`` on the trainer's cards, ``separate`` on its own), for a colocated one ``rl.engine_share``,
``rl.engine_parts``, ``rl.engine_sleeps``, ``rl.engine_weights`` (``shared`` with the trainer), ``rl.trainer_moved``, ``rl.group``; ``rl.critic`` and ``rl.reward``, the models beside
the actor (``same`` for a critic of the actor's model), and ``rl.teacher``, a frozen model that the trained one learns from.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.models.beside_policy import REWARD as REWARDS
from gpu_lol_action.analysis.models.beside_policy import VALUE
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import as_number
from gpu_lol_action.analysis.training.given_models import given_models
from gpu_lol_action.analysis.training.said_settings import Said, said_of
from gpu_lol_action.analysis.training.trl_release import COLOCATES, is_since
from gpu_lol_action.analysis.training.trl_settings import said_to_trl
from gpu_lol_action.analysis.training.unsloth_engine import InnerEngine, inner_engine
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding

FIELD, SHARE, PARTS = "rl.engine", "rl.engine_share", "rl.engine_parts"
SLEEPS, MOVED, GROUP = "rl.engine_sleeps", "rl.trainer_moved", "rl.group"
WEIGHTS = "rl.engine_weights"
CRITIC, REWARD, TEACHER = "rl.critic", "rl.reward", "rl.teacher"
# What the libraries start with: verl's rollout configuration, TRL's and ms-swift's colocated engine, OpenRLHF's, SGLang's own.
_VERL_SHARE, _TRL_SHARE, _OPENRLHF_SHARE = "0.5", "0.3", "0.95"
_TRL_GROUP = "8"
_MODE, _MODE_OF_ITS_OWN = "is colocate", "starts as colocate from TRL 1.0 on"
_SLIME_SHARE = "0.8"
_NEMO_RL_SHARE = "0.6"


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return the engine beside the trainer and the models beside the actor; nothing for any other run."""
    if run is None or run.behavior is not Behavior.TRAINS:
        return []
    said = said_of(checkout, run)
    facts = _of_verl(said) or _of_nemo_rl(said) or _of_slime(said) or _of_openrlhf(said) or _of_oat(said)
    if facts:
        return _findings(facts, run.evidence)
    told = said_to_trl(checkout, run, said)
    engine = _findings(_of_trl(checkout, run, told), run.evidence, told.surely)
    return [*engine, *_findings([*_of_ppo(run), *_of_swift(said)], run.evidence)]


def _findings(
    facts: Iterable[tuple[str, str, str]], where: Evidence, surely: Confidence = Confidence.HIGH
) -> list[Finding]:
    return [Finding(field, value, why, surely, where) for field, value, why in facts if value]


def is_verl(said: Said) -> bool:
    """Whether the run is configured in verl's words."""
    return said.has("actor_rollout_ref_")


def _of_verl(said: Said) -> list[tuple[str, str, str]]:
    """Return verl's hybrid engine: trainer and engine take turns on all cards."""
    if not is_verl(said):
        return []
    rollout, actor = "actor_rollout_ref_rollout_", "actor_rollout_ref_actor_"
    share = _share(said.text(f"{rollout}gpu_memory_utilization", default=_VERL_SHARE))
    parts = said.text(f"{rollout}tensor_model_parallel_size", default="1")
    is_awake = said.text(f"{rollout}free_cache_engine").lower() in {"false", "0"}
    offloads = [
        said.is_on(f"{actor}fsdp_config_{what}_offload", f"{actor}megatron_{what}_offload")
        for what in ("param", "optimizer")
    ]
    found = [
        (FIELD, "colocated", "verl's trainer and its engine take turns on the same cards"),
        (SHARE, share, f"the engine's share of a card is {share}"),
        (PARTS, _whole(parts), "`tensor_model_parallel_size` of the engine"),
        (SLEEPS, "no" if is_awake else "yes", "`free_cache_engine`"),
        (MOVED, "yes" if all(offloads) else "", "`param_offload` and `optimizer_offload` while the engine generates"),
        (GROUP, _whole(said.text(f"{rollout}n")), "`rollout.n` answers to a prompt"),
    ]
    if said.text("algorithm_adv_estimator", default="gae").lower() == "gae":
        model = said.text("critic_model_path", default="same")
        found.append((CRITIC, model, "PPO trains a critic beside the actor"))
    return found


def _of_nemo_rl(said: Said) -> list[tuple[str, str, str]]:
    """Return NeMo-RL's engine: ``policy.generation.colocated`` says whose cards it has; trainer and engine leave shared ones to each other."""
    generation = "policy_generation_"
    backend = said.text(f"{generation}backend").lower()
    if backend not in {"vllm", "sglang"} or not said.has(f"{generation}colocated_"):
        return []
    if not said.is_on(f"{generation}colocated_enabled"):
        return [(FIELD, "separate", "`policy.generation.colocated` is off: the engine has cards of its own")]
    cfg = f"{generation}{backend}_cfg_"
    share = _share(said.text(f"{cfg}gpu_memory_utilization", f"{cfg}mem_fraction_static", default=_NEMO_RL_SHARE))
    return [
        (FIELD, "colocated", "`policy.generation.colocated`: trainer and engine take turns on the same cards"),
        (SHARE, share, f"the engine's share of a card is {share}"),
        (PARTS, _whole(said.text(f"{cfg}tensor_parallel_size", default="1")), "`tensor_parallel_size` of the engine"),
        (SLEEPS, "yes", "the engine sleeps while the trainer works"),
        (MOVED, "yes", "the trainer waits in main memory while the engine generates"),
        (GROUP, _whole(said.text("grpo_num_generations_per_prompt")), "`num_generations_per_prompt`"),
        (TEACHER, said.text("teacher_model_name"), "`teacher.model_name` is what it learns from"),
    ]


def _of_openrlhf(said: Said) -> list[tuple[str, str, str]]:
    """Return OpenRLHF's engines: on the trainer's cards with `colocate_all`, on their own without."""
    if not said.has("vllm_num_engines"):
        return []
    found = []
    if said.is_on("colocate_all_models", "train_colocate_all", "train_colocate_all_models", "colocate_all"):
        share = _share(said.text("vllm_gpu_memory_utilization", default=_OPENRLHF_SHARE))
        is_moved = said.is_on("deepspeed_enable_sleep", "ds_enable_sleep")
        found = [
            (FIELD, "colocated", "all models share the same cards"),
            (SHARE, share, f"the engine's share of a card is {share}"),
            (PARTS, _whole(said.text("vllm_tensor_parallel_size", default="1")), "`vllm_tensor_parallel_size`"),
            (SLEEPS, "yes" if said.is_on("vllm_enable_sleep") else "no", "`vllm_enable_sleep`"),
            (MOVED, "yes" if is_moved else "", "the trainer sleeps while the engine generates"),
            (GROUP, _whole(said.text("n_samples_per_prompt", "rollout_n_samples_per_prompt")), "samples per prompt"),
        ]
    else:
        found = [(FIELD, "separate", "the engines have cards of their own")]
    estimator = said.text("advantage_estimator", "algo_advantage_estimator", "algo_advantage", default="gae").lower()
    is_apart = found[0][1] == "separate"  # then every model has cards of its own
    if estimator == "gae" and not is_apart:
        name = said.text("critic_pretrain", "critic_model_name_or_path", default="same")
        found.append((CRITIC, name, "PPO trains a critic beside the actor"))
    reward = said.text("reward_pretrain", "reward_model_name_or_path")
    if reward and not is_apart and not said.text("remote_rm_url", "reward_remote_url"):
        found.append((REWARD, reward, "a reward model judges the answers"))
    return found


def is_slime(said: Said) -> bool:
    """Whether the run is configured in slime's words; its supervised fine-tuning has no engine (``--debug-train-only``)."""
    is_openrlhf = "vllm_num_engines" in said.texts  # which names its parts by dots, to the same words
    return "actor_num_gpus_per_node" in said.texts and said.has("rollout_") and not is_openrlhf


def _of_slime(said: Said) -> list[tuple[str, str, str]]:
    """Return slime's engine: with ``--colocate`` on the trainer's cards, which both leave to each other by default; else on its own."""
    if not is_slime(said) or said.is_on("debug_train_only"):
        return []
    if not said.is_on("colocate"):
        return [(FIELD, "separate", "the engine has cards of its own: no `--colocate`")]
    share = _share(said.text("sglang_mem_fraction_static", default=_SLIME_SHARE))
    return [
        (FIELD, "colocated", "`--colocate`: trainer and engine take turns on the same cards"),
        (SHARE, share, f"the engine's share of a card is {share}"),
        (PARTS, _whole(said.text("rollout_num_gpus_per_engine", default="1")), "`--rollout-num-gpus-per-engine`"),
        (SLEEPS, "yes", "`--colocate` puts the engine to sleep while the trainer works"),
        (MOVED, "yes", "`--colocate` moves the trainer to main memory while the engine generates"),
        (GROUP, _whole(said.text("n_samples_per_prompt")), "samples per prompt"),
    ]


def _of_oat(said: Said) -> list[tuple[str, str, str]]:
    """Return oat's engine on the trainer's cards."""
    if not said.is_on("collocate") or "vllm_gpu_ratio" not in said.texts:
        return []
    share = _share(said.text("vllm_gpu_ratio"))
    return [
        (FIELD, "colocated", "`collocate`: trainer and engine share the same cards"),
        (SHARE, share, f"the engine's share of a card is {share}"),
        (SLEEPS, "yes" if said.is_on("vllm_sleep") else "no", "`vllm_sleep`"),
        (GROUP, _whole(said.text("num_samples")), "samples per prompt"),
    ]


def is_beside_its_engine(checkout: Checkout, run: Run, said: Said) -> bool:
    """Whether TRL's trainer and its engine share their cards: as ``vllm_mode`` says, else as the release that runs starts with.

    Who starts a server for it means that, and a longest prompt is told to releases before these.
    """
    if inner_engine(checkout, run) is not None:
        return True
    mode = said.text("vllm_mode").lower()
    is_command = run.script is None and run.command is not None and run.command.tool == "trl"
    if mode or not (is_command or (run.script is not None and run.script.mentions("trl"))):
        return mode == "colocate"
    has_server = run.command is not None and run.command.source.mentions("vllm-serve")
    is_older = has_server or "max_prompt_length" in said.texts
    return not is_older and is_since(checkout, run.script, COLOCATES)


def _of_trl(checkout: Checkout, run: Run, said: Said) -> list[tuple[str, str, str]]:
    """Return the engine of TRL's and ms-swift's trainers that generate: colocated where they say so, else a server's."""
    if (inner := inner_engine(checkout, run)) is not None:
        return _of_unsloth(inner, said)
    if not said.is_on("use_vllm"):
        return []
    if not is_beside_its_engine(checkout, run, said):
        return [(FIELD, "separate", "`use_vllm` asks an engine on cards of its own")]
    share = _share(said.text("vllm_gpu_memory_utilization", default=_TRL_SHARE))
    level = as_number(said.text("sleep_level"))
    is_asleep = said.is_on("vllm_enable_sleep_mode") or bool(level)
    is_moved = said.is_on("offload_model") and said.is_on("offload_optimizer")
    return [
        (
            FIELD,
            "colocated",
            f"`vllm_mode` {_MODE if said.text('vllm_mode') else _MODE_OF_ITS_OWN}: trainer and engine share the same cards",
        ),
        (SHARE, share, f"the engine's share of a card is {share}"),
        (PARTS, _whole(said.text("vllm_tensor_parallel_size", default="1")), "`vllm_tensor_parallel_size`"),
        (SLEEPS, "yes" if is_asleep else "no", "the engine's sleep mode"),
        (MOVED, "yes" if is_moved else "", "`offload_model` and `offload_optimizer` while the engine generates"),
        (GROUP, _whole(said.text("num_generations", default=_TRL_GROUP)), "`num_generations` answers to a prompt"),
    ]


def _of_unsloth(inner: InnerEngine, said: Said) -> list[tuple[str, str, str]]:
    """Return Unsloth's engine, which lies in the trainer's process and reads the trainer's weights."""
    share = _share(inner.share)
    return [
        (FIELD, "colocated", "`fast_inference` starts an engine on the trainer's card"),
        (SHARE, share, f"the engine's share of a card is {share}"),
        (WEIGHTS, "shared", "Unsloth's engine and trainer read the same weights"),
        (SLEEPS, "yes" if inner.sleeps else "no", "Unsloth's standby"),
        (GROUP, _whole(said.text("num_generations", default=_TRL_GROUP)), "`num_generations` answers to a prompt"),
    ]


def _of_ppo(run: Run) -> list[tuple[str, str, str]]:
    """Return the models that TRL's PPO is given beside the policy."""
    fields = {VALUE: CRITIC, REWARDS: REWARD}
    return [
        (fields[role], name, f"`PPOTrainer` is given it as {role} model") for role, name in given_models(run.script)
    ]


def _of_swift(said: Said) -> list[tuple[str, str, str]]:
    """Return the models that ms-swift's ways of feedback keep beside the trained one: PPO's critic and reward model, a teacher."""
    kind = said.text("rlhf_type").lower()
    found = []
    if kind == "ppo":
        reward = said.text("reward_model", default="same")
        found = [
            (CRITIC, reward, "PPO trains a critic that starts as the reward model"),
            (REWARD, reward, "PPO's judge"),
        ]
    if kind == "gkd":
        found = [(TEACHER, said.text("teacher_model"), "the trained model learns from a teacher's answers")]
    return found


def _share(text: str) -> str:
    try:
        share = float(text)
    except ValueError:
        return ""
    return f"{share:g}" if 0.05 <= share <= 1 else ""


def _whole(text: str) -> str:
    number = as_number(text)
    return str(number) if number is not None and 1 <= number <= 4096 else ""
