"""Models that a program asks somebody else's server for: what it is told beside a far address is loaded there, not on the run's machine."""

from __future__ import annotations

from collections.abc import Iterable

from gpu_lol_action.analysis.configuration import Setting
from gpu_lol_action.domain.patterns import regex

_MODELS = frozenset({"model", "model_name", "model_id"})
_ADDRESSES = frozenset({"base_url", "api_base", "openai_api_base", "azure_endpoint", "endpoint_url", "api_url"})
# A server on the run's own machine, or in its own network, serves what the run's cards hold.
_FAR = regex(r"https://(?!localhost|127\.|0\.0\.0\.0|10\.|192\.168\.)[\w-]{1,80}(?:\.[\w-]{1,60}){1,6}(?:[:/]|$)")
_NEAR = regex(r"https?://(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.)")
# How clients are asked: `client.chat.completions.create(model=...)`, LiteLLM's `completion(model=...)`.
_ASKING = regex(r"(?:create|parse|a?completion|a?responses)\.(?:model|model_name|model_id)$")


def without_asked(settings: Iterable[Setting]) -> tuple[Setting, ...]:
    """Return a program's settings without models that it asks a far server for; all where it speaks to a near one, too."""
    told = tuple(settings)
    far = [s for s in told if s.key in _ADDRESSES and _FAR.match(s.text)]
    if not far or any(_NEAR.match(s.text) for s in told):
        return told
    beside = {_section(s) for s in far if s.owner or "." in s.path}
    return tuple(s for s in told if s.key not in _MODELS or not (_ASKING.match(s.path) or _section(s) in beside))


def _section(setting: Setting) -> tuple[str, str, int]:
    """Return what tells a call's arguments, or a table's entries, from those of others: words before the key, owner and line."""
    return setting.path.rpartition(".")[0], setting.owner, setting.evidence.line if "." in setting.path else 0
