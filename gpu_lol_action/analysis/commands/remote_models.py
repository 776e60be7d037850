"""Models that a command names by the service which runs them: nothing of them lies on the machine.

Prefixes of LiteLLM's providers and of Hugging Face's, before an id that has parts of its own (``together_ai/meta-llama/Llama-3-70b``).
``openai/`` is none of them: that is also whose weights they are (``openai/gpt-oss-20b``).
"""

from __future__ import annotations

from gpu_lol_action.analysis.commands.launch_commands import LaunchCommand
from gpu_lol_action.analysis.programs.hosted_calls import MODEL_WORDS
from gpu_lol_action.domain.patterns import regex

_SERVICES = (
    "hf-inference-providers", "inference-providers", "together_ai", "openrouter", "fireworks_ai", "vertex_ai", "bedrock", "groq",
    "azure_ai", "deepinfra", "perplexity", "nvidia_nim", "litellm_proxy", "anthropic", "gemini",
)  # fmt: skip
_REMOTE = regex(
    rf"(?:model(?:_name)?=)?(?:{'|'.join(_SERVICES)})/[A-Za-z][\w./:@-]{{1,100}}(?<!\.py)(?<!\.sh)(?<!\.yml)(?<!\.yaml)(?<!\.json)"
)
_KEYS = MODEL_WORDS | {"model_name_or_path", "model_path"}
_FIRST_WORDS = 4


def asks_a_service(command: LaunchCommand) -> bool:
    """Whether a command's own words or options name the model of a service, and no other model."""
    said = [value for key, value in command.options.items() if key.rpartition(".")[2] in _KEYS]
    words = command.words[:_FIRST_WORDS] if not said else ()
    named = [text.strip("\"'") for text in (*said, *words)]
    remote = [text for text in named if _REMOTE.fullmatch(text)]
    return bool(remote) and (not said or len(remote) == len(said))
