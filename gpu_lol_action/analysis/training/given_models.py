"""The value and reward models that a program loads and gives to TRL's PPO beside the policy."""

from __future__ import annotations

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.models.beside_policy import beside_policy
from gpu_lol_action.analysis.models.model_loads import loaded_texts, model_name


def given_models(source: Source | None) -> list[tuple[str, str]]:
    """Return the roles and names of the models that ``PPOTrainer`` is given beside its policy, as far as the program says their names."""
    if source is None or source.code is None or not source.code.calls_named("PPOTrainer"):
        return []
    roles = {line: role for role, line in beside_policy(source)}
    found = []
    for call in source.code.calls_named("from_pretrained") if roles else ():
        names = [name for text in loaded_texts(call, source) if (name := model_name(text)) is not None]
        if call.line in roles and names:
            found.append((roles[call.line], names[0]))
    return found
