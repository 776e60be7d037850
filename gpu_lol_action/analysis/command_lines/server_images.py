"""Container images that serve a model by themselves, and the command that each of them starts."""

from __future__ import annotations

import re

from gpu_lol_action.domain.patterns import regex

# What stands behind an image's name is handed to its entry point (each image's own documentation or Dockerfile).
_IMAGES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (regex(r"vllm/vllm-openai(?:[:@]|$)|rocm/vllm(?:[:@-]|$)|vllm-openai-rocm(?:[:@]|$)"), ("vllm", "serve")),
    (regex(r"(?:huggingface/text-generation-inference|predibase/lorax)(?:[:@]|$)"), ("text-generation-launcher",)),
    (regex(r"huggingface/text-embeddings-inference(?::(?!cpu)|@|$)"), ("text-embeddings-router",)),
    (regex(r"(?:ggml-org|ggerganov)/llama\.cpp:server-(?:cuda|rocm)"), ("llama-server",)),
    (regex(r"openmmlab/lmdeploy(?:[:@]|$)"), ()),
    (regex(r"lmsysorg/sglang(?:[:@]|$)"), ()),
)


def is_server_image(image: str) -> bool:
    """Whether an image is made to serve a model on a GPU."""
    return any(pattern.search(image.strip()) for pattern, _ in _IMAGES)


def entry_point(image: str) -> tuple[str, ...] | None:
    """Return the words that an image starts before those handed to it; none where it starts what it is handed; None: no server."""
    return next((words for pattern, words in _IMAGES if pattern.search(image.strip())), None)


def put_entry_points(words: list[str]) -> list[str]:
    """Return a command's words with the server that an image starts in the image's place (``docker run … vllm/vllm-openai --model x``)."""
    for index, word in enumerate(words):
        entry = entry_point(word) if "/" in word else None
        if entry is not None and not word.startswith("-"):
            return [*words[:index], *entry, *words[index + 1 :]]
    return words
