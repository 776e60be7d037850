"""What stays on the CPU until a program tells it how many cards it takes: boosted trees, the agents of Ray's RLlib.

Source of RLlib's: ``AlgorithmConfig.resources(num_gpus=0)`` and ``.learners(num_learners=0, num_gpus_per_learner=0)``; a local
learner (``num_learners=0``) takes the cards of one.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.domain.patterns import regex

BOOSTING = frozenset({"xgboost", "lightgbm", "catboost"})
_BOOSTS = ("fit", "train", "cv", "cross_val_score", "cross_validate", "cross_val_predict", "fit_predict", "update")
_ON_GPU = regex(r"(?:device|device_type|task_type)=(?:cuda|gpu)(?::\d+)?|(?:tree_method|predictor)=gpu_\w+")
_LEARNS = ("train", "fit", "run", "run_experiments", "run_rllib_example_script_experiment")
AGENTS_CARDS = ("num_gpus_per_learner", "num_gpus", "num_gpus_per_learner_worker")
"""RLlib's words for a learner's cards, in the newer way and the older ones."""
_POSITIVE = regex(r"0?\.\d{0,9}[1-9]\d{0,9}|[1-9]\d{0,2}(?:\.\d{0,9})?")
_ALGORITHM = regex(
    r"(?:APPO|PPO|IMPALA|DQN|SAC|APEX(?:_DDPG)?|A2C|A3C|DDPG|TD3|PG|CQL|MARWIL|BC|Dreamer(?:V3)?|R2D2|QMIX|ES|ARS)"
)


def learns_on_told_card(code: PythonCode) -> bool:
    """Whether a program trains what it has put on a GPU by such a word."""
    if boosting_on_gpu(code) is not None and code.calls_named(*_BOOSTS):
        return True
    return agents_on_gpu(code) is not None and bool(code.calls_named(*_LEARNS))


def card_by_word(code: PythonCode) -> tuple[str, int] | None:
    """Return why a program computes on a GPU that it is told of by such a word, with the line; None for all others."""
    if (boosted := boosting_on_gpu(code)) is not None:
        return f"`{boosted[0]}` puts boosted trees on the GPU", boosted[1]
    agents = agents_on_gpu(code)
    return (f"`{agents[0]}` puts RLlib's learner on the GPU", agents[1]) if agents is not None else None


def boosting_on_gpu(code: PythonCode) -> tuple[str, int] | None:
    """Return the setting that puts XGBoost, LightGBM or CatBoost on a GPU, with its line; by default they stay on the CPU."""
    if not code.imported() & BOOSTING:
        return None
    settings = [(default.name, default.text, default.line) for default in code.defaults]
    settings += [(key, value.text, call.line) for call in code.calls for key, value in call.keywords if value.text]
    return next(
        ((f"{name}={text}", line) for name, text, line in settings if _ON_GPU.fullmatch(f"{name}={text}".lower())), None
    )


def agents_on_gpu(code: PythonCode) -> tuple[str, int] | None:
    """Return the setting that gives RLlib's learner a GPU, with its line; by default it stays on the CPU."""
    if not uses_rllib(code):
        return None
    return next(((f"{name}={text}", line) for name, text, line in _told(code) if _POSITIVE.fullmatch(text)), None)


def uses_rllib(code: PythonCode) -> bool:
    """Whether a program takes RLlib's agents: it imports them, or names one to Ray Tune (``tune.Tuner("PPO", ...)``)."""
    if "ray" not in code.imported():
        return False
    if any(item.module.startswith("ray.rllib") or "rllib" in item.names for item in code.imports):
        return True
    given = (call.arguments[0] for call in code.calls_named("Tuner", "run") if call.arguments)
    return any(_ALGORITHM.fullmatch(value.text or "") for value in given)


def _told(code: PythonCode) -> Iterator[tuple[str, str, int]]:
    """Yield what is told of the learner's cards: in calls (not of Ray itself, nor of a worker's function), and in dictionaries."""
    for call in code.calls:
        if call.last in {"init", "remote", "options"}:
            continue
        for key, value in call.keywords:
            if key in AGENTS_CARDS and (text := code.resolve(value, call.owner)):
                yield key, text.strip(), call.line
    for default in code.defaults:
        if default.name in AGENTS_CARDS and not default.is_option and not default.is_parameter:
            yield default.name, default.text.strip(), default.line
