"""Any OpenAI-compatible endpoint, asked once: rules and data in, the text of the answer out, in a time box.

Shape of the API: ``POST BASE/chat/completions`` with ``model`` and ``messages``; the answer's text is
``choices[0].message.content``, a refusal stands in ``message.refusal``. Some servers refuse options that others need:
then the question is asked once more without them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gpu_lol_action.adapters.boxed_http import Ask, Reply, address_problem, as_json, exchange
from gpu_lol_action.adapters.heard import Heard
from gpu_lol_action.domain.lookup import Question, Unanswered
from gpu_lol_action.domain.redaction import redact

BOX = timedelta(seconds=45)
MAX_TOKENS = 4000
"""Of an answer, and of the thoughts that some models count with it."""

MOST_CHARACTERS_PER_TOKEN = 8
"""Of code and English a token is three to five characters; a server that counts far fewer has cut the question."""

_PATH = "/chat/completions"


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """Where, as whom, and which model. A local server may need no key."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    box: timedelta = BOX


@dataclass(slots=True)
class ChatEndpoint:
    """Fulfils the ``LanguageModel`` port. A subject is asked about once in a run: head and base may be alike."""

    settings: LlmSettings
    now: Callable[[], datetime]
    _heard: Heard = field(default_factory=Heard)

    @property
    def name(self) -> str:
        """The model's name, as the operator gave it."""
        return self.settings.model

    def ask(self, question: Question) -> str | Unanswered:
        """Return the text of the model's answer, without the key even where the server repeats it."""
        return self._heard.answer(question, self._ask)

    def _ask(self, question: Question) -> str | Unanswered:
        settings = self.settings
        if not settings.url or not settings.model:
            return Unanswered("GPU_LOL_LLM_URL and GPU_LOL_LLM_MODEL are not both set")
        problem = address_problem(settings.url, is_secret_sent=bool(settings.key))
        if problem is None and not (settings.key.isascii() and settings.key.isprintable()):
            problem = "its key holds characters that no key has"
        if problem is not None:
            return Unanswered(problem)
        until = self.now() + settings.box
        plain = {
            "model": settings.model,
            "messages": [
                {"role": "system", "content": question.rules},
                {"role": "user", "content": question.data},
            ],
        }
        # The same words for the same question, as far as a server can: no chance, and nothing but JSON.
        exact = {"temperature": 0, "seed": 0, "max_tokens": MAX_TOKENS, "response_format": {"type": "json_object"}}
        reply = self._post({**plain, **exact}, until)
        if isinstance(reply, Reply) and reply.status in (400, 422):
            reply = self._post(plain, until)
        if isinstance(reply, Reply) and reply.status != 200:
            reply = Unanswered(_refusal(reply.status, len(question.rules) + len(question.data)))
        if isinstance(reply, Unanswered):
            return reply
        answer = as_json(reply.body)
        # Some servers cut what does not fit, the rules first, and answer what is left.
        text = _cut(answer, len(question.rules) + len(question.data)) or _content(answer)
        return redact(text, [settings.key]) if isinstance(text, str) else text

    def _post(self, body: dict[str, Any], until: datetime) -> Reply | Unanswered:
        settings = self.settings
        base = settings.url.rstrip("/")
        ask = Ask(
            "POST",
            base if base.endswith(_PATH) else base + _PATH,
            headers={"Content-Type": "application/json", "Accept": "application/json"},
            secret_headers={"Authorization": f"Bearer {settings.key}"} if settings.key else {},
            body=json.dumps(body).encode(),
        )
        return exchange(ask, max(until - self.now(), timedelta(0)), self.now)


def _cut(answer: Any, asked: int) -> Unanswered | None:
    """Return why an answer is none to the whole question, by the number of tokens that the server read; None where it may be one."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    read = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    if not isinstance(read, int) or isinstance(read, bool) or read <= 0 or read * MOST_CHARACTERS_PER_TOKEN >= asked:
        return None
    return Unanswered(f"it read {read} tokens of a question of {asked} characters: its context is too short for it")


def _refusal(status: int, asked: int) -> str:
    if status in (401, 403):
        return "it refused the key"
    if status == 404:
        return "it knows no such path or model"
    if status == 429:
        return "it takes no more requests for now"
    if status in (400, 413, 422):
        return f"it answered with status {status}; a question of {asked} characters may be longer than its context"
    return f"it answered with status {status}"


def _content(answer: Any) -> str | Unanswered:
    """Return the text of the first choice of a chat completion."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return Unanswered("its answer is no chat completion")
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        return Unanswered("the model refused to answer")
    if choice.get("finish_reason") == "length":
        return Unanswered("the model's answer was cut off")
    content = message.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str) or not content.strip():
        return Unanswered("the model said nothing")
    return content
