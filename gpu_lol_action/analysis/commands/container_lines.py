"""What the containers of Docker Compose and Kubernetes start: a ``command`` with its ``args``, or the server that an image is.

A container's variables are put where its command names them: Compose's own (``${MODEL}``) from the file beside it, the container's
(``$$MODEL``, Kubernetes' ``$(MODEL)``) from its ``environment``, ``env`` or ``env_file``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field

from gpu_lol_action.analysis.command_lines.container_words import is_secret
from gpu_lol_action.analysis.command_lines.server_images import entry_point
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.yaml_reading import yaml_settings
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_VARIABLES = 20
MAX_TEXT, MAX_LINES = 4000, 60  # characters of one value; lines of a script that a container is handed
_ASSIGNED = regex(r"([A-Za-z_]\w{0,40})=([\w./:-]{1,200})")
_VALUE = regex(r"[\w./:@+-]{1,200}")
_NAME = regex(r"[A-Za-z_]\w{0,60}")
# What a model is called by: ports, keys and addresses are many, and say nothing of it.
_TELLS = regex(
    r"MODEL|CKPT|CHECKPOINT|WEIGHT|LLM|DTYPE|PRECISION|QUANT|BATCH|LENGTH|TOKENS|SHARD|PARALLEL|NUM_GPUS|REPO_ID|^LLAMA_ARG_",
    re.IGNORECASE,
)
_SETS = regex(r"\s*(?:export\s|[A-Za-z_]\w*=)")
_SHELLS = ("bash", "sh", "/bin/bash", "/bin/sh")
# Servers, which ask for no variables but those that tell.
_SERVES = regex(r"(?:\S{0,80}/)?(?:vllm|text-generation-launcher|text-embeddings-router|llama-server)\b")
# KServe's runtime for Hugging Face's models is vLLM with words of its own in front.
_HUGGING_FACE = ("vllm", "serve")
_FETCHED = "hf://"
Put = Callable[[str, Mapping[str, str]], str]
"""What puts variables into a text, and its fallbacks for those that are not known."""
Read = Callable[[str], Mapping[str, str]]
"""What a file of variables beside this one sets, by its name."""


@record(slots=True)
class _Container:
    """One container while the lines of its file go by. A mutable cursor, private to the reader."""

    line: int = 0
    image: str = ""
    served: tuple[str, ...] = ()
    words: dict[str, list[str]] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    variable: str = ""
    told: set[str] = field(default_factory=set)

    def give(self, name: str, value: str) -> None:
        """Keep a variable that may say something of what runs."""
        if _NAME.fullmatch(name) and value and not is_secret(name, value):
            self.given[name] = value


def container_lines(source: Source, put: Put, read: Read) -> Iterator[tuple[int, str, str]]:
    """Yield what each container of a file starts, with the variables that it is given in front."""
    beside = read(".env") if "${" in source.text and "services:" in source.text else {}
    found = _containers(source, read)
    # Compose's own fragments, which services take in: `<<: *server`.
    shared = {each.image for place, each in found if place.startswith("x_") and each.image}
    for place, container in found:
        if place.startswith("x_"):
            continue
        if not container.image and len(shared) == 1:
            (container.image,) = shared
        given = {name: put(value, beside) for name, value in container.given.items()}
        known = {name: value for name, value in given.items() if _VALUE.fullmatch(value)}
        words = [
            put(word, beside).replace("$$", "$")
            for kind in ("entrypoint", "command", "args")
            for word in container.words.get(kind, ())
        ]
        image = entry_point(put(container.image, beside))
        # A server's image that is told nothing at all serves what its variables say.
        served = (image or container.served) if words or image else ()
        if served and (not words or words[0].startswith("-")):
            words[:0] = [*served]
        if not words:
            continue
        is_shell = len(words) > 2 and words[0] in _SHELLS
        for started in _lines(words[2:] if is_shell else [" ".join(words).replace("\n", " ")]):
            in_front = [f"{name}={value}" for name, value in known.items()]
            yield container.line, with_variables(in_front, put(started, known)), ""


def _lines(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from text.replace("\\\n", " ").split("\n")[:MAX_LINES]


def _containers(source: Source, read: Read) -> list[tuple[str, _Container]]:
    """Return the containers of a file in its order, each with its place: a list's next one says again what the one before it has said."""
    open_ones: dict[str, _Container] = {}
    found: list[tuple[str, _Container]] = []
    for setting in yaml_settings(source, MAX_TEXT):
        owner, _, key = setting.path.rpartition(".")
        place = owner.removesuffix(".environment").removesuffix(".env").removesuffix(".modelformat")
        container = open_ones.get(place)
        if container is None or (place == owner and key in {"name", "image"} and key in container.told):
            container = open_ones[place] = _Container()
            found.append((place, container))
        if place == owner:
            container.told.add(key)
            _take(container, key, setting.text, setting.evidence.line, read)
        elif owner.endswith(".modelformat"):
            container.served = _HUGGING_FACE if setting.text.lower() == "huggingface" else ()
        elif owner.endswith(".environment"):
            container.give(key.upper(), setting.text)
        elif key == "name":
            container.variable = setting.text
        elif key == "value":
            container.give(container.variable, setting.text)
    return [(place, each) for place, each in found if each.line]


def _take(container: _Container, key: str, text: str, line: int, read: Read) -> None:
    if key in {"command", "args", "entrypoint"}:
        container.words.setdefault(key, []).append(text)
        container.line = container.line or line
    elif key == "image":
        container.image, container.line = text, container.line or line
    elif key == "storageuri" and text.startswith(_FETCHED):
        container.words.setdefault("args", []).extend(("--model", text.removeprefix(_FETCHED)))
        container.line = container.line or line
    elif key == "environment":
        name, _, value = text.partition("=")
        container.give(name, value)
    elif key == "env_file":
        for name, value in read(text).items():
            container.give(name, value)


def with_variables(assigned: Iterable[str], started: str) -> str:
    """Return a command with those of its container's variables in front of it that tell of a model (``MODEL_PATH=a/b``).

    A program may ask for any: those that tell come first.
    """
    if _SETS.match(started):
        return started
    given = [text for text in assigned if _ASSIGNED.fullmatch(text)]
    telling = [text for text in given if _TELLS.search(text.partition("=")[0])]
    others = [text for text in given if text not in telling] if not _SERVES.match(started) else []
    return " ".join((*[*telling, *others][:MAX_VARIABLES], started))


def given_variables(command: str) -> dict[str, str]:
    """Return the variables that stand in front of a command, by their names (``MODEL=a/b python serve.py``)."""
    found: dict[str, str] = {}
    rest = command.lstrip()
    while (assigned := _ASSIGNED.match(rest)) is not None and rest[assigned.end() : assigned.end() + 1] == " ":
        found[assigned[1]] = assigned[2]
        rest = rest[assigned.end() :].lstrip()
    return found
