"""How many tokens one sample of a language model has: what says it, the prompt and answer of reinforcement learning together."""

from __future__ import annotations

from gpu_lol_action.analysis.settings import Found, Scope, as_number, look_up_number
from gpu_lol_action.domain.finding import Finding

# What is generated in a step, and what it answers: TRL's names, verl's and OpenRLHF's.
_ANSWER = ("max_completion_length", "max_response_length", "response_length", "generate_max_len")
_PROMPT = ("max_prompt_length", "prompt_max_len")
DEFAULT_PROMPT = 512  # TRL's, for its trainers that generate
_MOST = 2_000_000


def answered_length(scope: Scope, whole: Found | None) -> Finding | None:
    """Return the tokens of a prompt with its answer, where the run generates what it learns from.

    ``whole``: the length of a sample that something else says; it stands where it is said nearer to the run.
    """
    answer = look_up_number(scope, _ANSWER, 16, _MOST)
    if answer is None or (whole is not None and whole.confidence > answer.confidence):
        return None
    prompt = look_up_number(scope, _PROMPT, 1, _MOST)
    tokens = (as_number(answer.text) or 0) + (as_number(prompt.text) or 0 if prompt is not None else DEFAULT_PROMPT)
    why = f"`{answer.setting.key}` is {answer.text}, beside a prompt of {prompt.text if prompt else DEFAULT_PROMPT}"
    return Finding("training.sequence_length", str(tokens), why, answer.confidence, answer.evidence)
