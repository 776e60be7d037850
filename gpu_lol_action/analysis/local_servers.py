"""Language models that a small application has Ollama serve on its own machine, and no model that a company hosts beside them.

Ollama computes on the card where there is one, and chats on cores at a reader's pace; a library that can ask it among others needs none.
"""

from __future__ import annotations

import re

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.paths import Form, Role
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_PROGRAMS, MAX_DOCUMENTS = 12, 10
# `LLM(model="ollama/deepseek-r1:7b")`, `ChatOllama(model="llama3.2")`, `ollama.chat(model="mistral")`.
_SERVED = regex(
    r"[\"'](?:ollama|ollama_chat)/[a-z][\w.:-]{1,60}[\"']"
    r"|\b(?:ChatOllama|OllamaLLM|Ollama|ollama\.(?:chat|generate))\(\s{0,60}(?:[a-z_]{1,20}=[^,()\n]{1,60},\s{0,60}){0,3}model(?:_name)?\s?=\s?[\"'][a-z][\w.:/-]{1,60}[\"']"
)
_NAMED = regex(r"\bmodel\s?=\s?[\"'][a-z][\w.:/-]{1,60}[\"']")
_EMBEDS = regex(r"embed|minilm|bge-", re.IGNORECASE)
# A model that a company hosts, or the key that it asks for.
_HOSTED = regex(
    r"\b(?:OPENAI|ANTHROPIC|GEMINI|GOOGLE|AZURE_OPENAI|COHERE|GROQ|MISTRAL|DEEPSEEK|OPENROUTER|TOGETHER|SAMBANOVA|NVIDIA|HUGGINGFACE(?:HUB)?|XAI)_API_(?:KEY|TOKEN)\b"
    r"|[\"'](?:openai/|azure/)?(?:gpt-?[345]|o[134]-|claude-|gemini[-/])|\bChat(?:OpenAI|Anthropic|Groq)\("
)


@remembered
def served_here(checkout: Checkout) -> Finding | None:
    """Return that a model is served on the machine itself; None for libraries of many programs, and where a hosted one would do as well."""
    programs = [source for source in checkout.of(Form.PYTHON, Form.NOTEBOOK) if source.code is not None]
    if not 0 < len(programs) <= MAX_PROGRAMS:
        return None
    asking = [source for source in programs if source.mentions("llama")]
    told = next(((source, line) for source in asking if (line := _line(source))), None)
    if told is None:
        return None
    pages = checkout.of(Form.MARKDOWN, roles=(Role.DOCUMENTATION,))[:MAX_DOCUMENTS]
    if any(_HOSTED.search(source.text) for source in (*programs, *pages)):
        return None
    source, line = told
    why = f"`{source.name}` asks a model that Ollama serves on the same machine"
    return Finding("gpu.use", "yes", why, Confidence.LOW, Evidence(source.path, line))


def _line(source: Source) -> int | None:
    """Return the line on which a program names a chat model of Ollama's."""
    is_bare = source.code is not None and "ollama" in source.code.imported()
    named = _NAMED if is_bare else _SERVED
    found: re.Match[str] | None = next((m for m in named.finditer(source.text) if not _EMBEDS.search(m[0])), None)
    if found is None:
        return None
    line = source.text.count("\n", 0, found.start()) + 1
    return source.code.line_of_file(line) if source.code is not None else line
