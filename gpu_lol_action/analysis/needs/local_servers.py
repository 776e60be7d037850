"""Language models that a small application has Ollama serve on its own machine, and no model that a company hosts beside them.

Ollama computes on the card where there is one, and chats on cores at a reader's pace; a library that can ask it among others needs none.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form, Role
from gpu_lol_action.analysis.models.ollama_models import asked_of_ollama
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_PROGRAMS, MAX_DOCUMENTS = 12, 10
# A model that a company hosts, its client, or the key that it asks for; Ollama's own company hosts some, too.
_HOSTED = regex(
    r"\b(?:OPENAI|ANTHROPIC|GEMINI|GOOGLE|AZURE_OPENAI|COHERE|GROQ|MISTRAL|DEEPSEEK|OPENROUTER|TOGETHER|SAMBANOVA|NVIDIA|HUGGINGFACE(?:HUB)?|XAI|OLLAMA|FIREWORKS|DASHSCOPE|ZHIPUAI|REPLICATE|CEREBRAS|PERPLEXITY)_API_(?:KEY|TOKEN)\b"
    r"|[\"'](?:openai/|azure/)?(?:(?:chat)?gpt-?[345]|o[134]-|claude-|gemini[-/])|\bChat(?:OpenAI|Anthropic|Groq|Bedrock\w{0,9}|VertexAI|GoogleGenerativeAI|MistralAI|Cohere)\("
    r"|\b(?:Async)?(?:Azure)?(?:OpenAI|Anthropic|Groq)\((?![^()]{0,200}\bbase_url)|[\"']bedrock(?:-runtime|/)|\bollama\.com/?[\"']"
)
# `base_url="https://models.ours.example"`, `Client(host="http://192.168.1.20:11434")`: a server elsewhere computes.
_AWAY = regex(
    r"https?://(?!(?:localhost|127\.|0\.0\.0\.0|\[::1\]|host\.docker\.internal|[\w-]{0,30}ollama[\w-]{0,30}(?::|/|$))|[{<$])",
    re.IGNORECASE,
)


@remembered
def served_here(checkout: Checkout) -> Finding | None:
    """Return that a model is served on the machine itself; None for libraries of many programs, and where a hosted one would do as well."""
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    if not 0 < len(programs) <= MAX_PROGRAMS:
        return None
    asking = [source for source in programs if source.mentions("llama") or source.mentions(":11434")]
    told = next(
        ((source, asked[0]) for source in asking if (asked := asked_of_ollama(checkout, source)) is not None), None
    )
    if told is None:
        return None
    pages = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))[:MAX_DOCUMENTS]
    if any(_HOSTED.search(source.text) for source in (*programs, *pages)):
        return None
    source, line = told
    if any(map(_asks_another_machine, asking)):
        return None
    why = f"`{source.name}` asks a model that Ollama serves on the same machine"
    return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(source.path, line))


def _asks_another_machine(source: Source) -> bool:
    code = source.code
    given = [(call.keyword("base_url", "host", "api_base"), call.owner) for call in code.calls] if code else []
    return code is not None and any(
        _AWAY.match(code.resolve(value, owner) or "") for value, owner in given if value is not None
    )
