"""What the containers of Docker Compose and Kubernetes start: a ``command`` with its ``args``, or the server that an image is.

A container's variables are put where its command names them: Compose's own (``${MODEL}``) from the file beside it, the container's
(``$$MODEL``, Kubernetes' ``$(MODEL)``) from its ``environment``, ``env`` or ``env_file``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field

from gpu_lol_action.analysis.command_lines.container_words import is_secret
from gpu_lol_action.analysis.command_lines.server_images import entry_point
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import MAX_CONFIG_BYTES, MAX_SETTINGS
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import joined
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record

MAX_VARIABLES, MAX_GIVEN = 20, 100
"""Variables that stand in front of a command, and that one container is given."""
MAX_TEXT, MAX_LINES = 4000, 60  # characters of one value; lines of a script that a container is handed
_ASSIGNED = regex(r"([A-Za-z_]\w{0,40})=([\w./:-]{1,200})")
_VALUE = regex(r"[\w./:@+-]{1,200}")
_NAME = regex(r"[A-Za-z_]\w{0,60}")
# What a model is called by: ports, keys and addresses are many, and say nothing of it.
_TELLS = regex(
    r"MODEL|CKPT|CHECKPOINT|WEIGHT|LLM|DTYPE|PRECISION|QUANT|BATCH|LENGTH|TOKENS|SHARD|PARALLEL|NUM_GPUS|REPO_ID|^LLAMA_ARG_"
    r"|HEIGHT|WIDTH|RESOLUTION|IMAGE_SIZE|FRAMES",
    re.IGNORECASE,
)
_INNER = regex(r"(?<!^services)\.(?:environment|env|env_file|modelformat|build)$")
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
    build: str | None = None
    dockerfile: str = "Dockerfile"
    served: tuple[str, ...] = ()
    words: dict[str, list[str]] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    variable: str = ""
    told: set[str] = field(default_factory=set)

    def all_given(self, read: Read) -> dict[str, str]:
        """Return its variables with those of its files, before which its own go."""
        of_files = (read(name).items() for name in self.files)
        found = {name: value for pairs in (*of_files, self.given.items()) for name, value in pairs}
        telling = sorted(found, key=lambda name: _TELLS.search(name) is None)[:MAX_GIVEN]
        return {name: found[name] for name in telling}

    def give(self, name: str, value: str) -> None:
        """Keep a variable that may say something of what runs."""
        if _NAME.fullmatch(name) and value and not is_secret(name, value):
            self.given[name] = value


def container_lines(source: Source, put: Put, read: Read) -> Iterator[tuple[int, str, str]]:
    """Yield what each container of a file starts, with the variables that it is given in front."""
    beside = read(".env") if "${" in source.text and "services:" in source.text else {}
    # Nobody commits that file: what stands there is an example's, and what Compose falls back to is meant.
    beside = {
        name: value
        for name, value in beside.items()
        if f"${{{name}:-" not in source.text and f"${{{name}-" not in source.text
    }
    found = _containers(source)
    # Compose's own fragments, which services take in: `<<: *server`.
    shared = {each.image for place, each in found if place.startswith("x_") and each.image}
    for place, container in found:
        if place.startswith("x_") or not container.line:
            continue
        of_image = container.image or (next(iter(shared)) if len(shared) == 1 and container.build is None else "")
        given = {name: put(value, beside) for name, value in container.all_given(read).items()}
        known = {name: value for name, value in given.items() if _VALUE.fullmatch(value)}
        words = [
            put(word, beside).replace("$$", "$")
            for kind in ("entrypoint", "command", "args")
            for word in container.words.get(kind, ())
        ]
        image = entry_point(put(of_image, beside))
        # A server's image that is told nothing at all serves what its variables say.
        served = (image or container.served) if words or image else ()
        if served and (not words or words[0].startswith("-")):
            words[:0] = [*served]
        if not words:
            continue
        is_shell = len(words) > 2 and words[0] in _SHELLS
        in_front = [f"{name}={value}" for name, value in known.items()]
        for started in _lines(words[2:] if is_shell else [" ".join(words).replace("\n", " ")]):
            yield container.line, with_variables(in_front, put(started, known)), ""


def given_to_image(source: Source, put: Put, read: Read, image: Source, started: Sequence[str]) -> dict[str, str]:
    """Return the variables that a file gives the one container that is built by that image's file, and that starts what the image does.

    ``started``: the words of the image's own command. Of several such containers one that is given no command is the image's own.
    """
    beside = read(".env") if "${" in source.text else {}
    built = [each for _, each in _containers(source) if each.build is not None]
    of_image = [
        each
        for each in built
        if joined(joined(source.folder, each.build or ""), each.dockerfile).lower() == image.path.lower()
    ]
    alike = [each for each in of_image if _starts_as(each, started)]
    given = [each.all_given(read) for each in [each for each in alike if not each.words] or alike]
    return {name: put(value, beside) for name, value in given[0].items()} if len(given) == 1 else {}


def given_to_pod(source: Source, tags: AbstractSet[str]) -> dict[str, str]:
    """Return the variables of the one container of a file that is built elsewhere, and that starts what its image does.

    ``tags``: what that image is called; where nothing says it, any that is no known server.
    """
    bare = [each for _, each in _containers(source) if each.image and each.given and not each.words]
    bare = [each for each in bare if not tags or each.image.rpartition("/")[2].partition(":")[0] in tags]
    return dict(bare[0].given) if len(bare) == 1 and not entry_point(bare[0].image) else {}


def _starts_as(container: _Container, started: Sequence[str]) -> bool:
    """Whether a container starts what its image does by itself: it is given no command, or the image's own once more."""
    kinds = ("entrypoint", "command", "args")
    words = [word for kind in kinds for text in container.words.get(kind, ()) for word in text.split()]
    return not words or words == [*started][-len(words) :]


def _lines(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from text.replace("\\\n", " ").split("\n")[:MAX_LINES]


@remembered
def _containers(source: Source) -> list[tuple[str, _Container]]:
    """Return the containers of a file in its order, each with its place: a list's next one says again what the one before it has said."""
    from gpu_lol_action.analysis.files.yaml_reading import yaml_settings  # the reader takes its time to load

    open_ones: dict[str, _Container] = {}
    found: list[tuple[str, _Container]] = []
    read_all = len(source.text) <= MAX_CONFIG_BYTES
    for setting in itertools.islice(yaml_settings(source, MAX_TEXT), MAX_SETTINGS) if read_all else ():
        owner, _, key = setting.path.rpartition(".")
        place = _INNER.sub("", owner)
        container = open_ones.get(place)
        if container is None or (place == owner and key in {"name", "image"} and key in container.told):
            container = open_ones[place] = _Container()
            found.append((place, container))
        if place == owner:
            container.told.add(key)
            _take(container, key, setting.text, setting.evidence.line)
        elif owner.endswith(".modelformat"):
            container.served = _HUGGING_FACE if setting.text.lower() == "huggingface" else ()
        elif owner.endswith(".environment"):
            container.give(key.upper(), setting.text)
        elif owner.endswith(".env_file"):
            container.files += [setting.text] if key == "path" else []
        elif owner.endswith(".build"):
            container.build = setting.text if key == "context" else container.build
            container.dockerfile = setting.text if key == "dockerfile" else container.dockerfile
        elif key == "name":
            container.variable = setting.text
        elif key == "value":
            container.give(container.variable, setting.text)
    return found


def _take(container: _Container, key: str, text: str, line: int) -> None:
    if key in {"command", "args", "entrypoint"}:
        container.words.setdefault(key, []).append(text)
        container.line = container.line or line
    elif key == "build":
        container.build = text
    elif key == "image":
        container.image, container.line = text, container.line or line
    elif key == "storageuri" and text.startswith(_FETCHED):
        container.words.setdefault("args", []).extend(("--model", text.removeprefix(_FETCHED)))
        container.line = container.line or line
    elif key == "environment":
        name, _, value = text.partition("=")
        container.give(name, value)
    elif key == "env_file":
        container.files.append(text)


def with_variables(assigned: Iterable[str], started: str) -> str:
    """Return a command with those of its container's variables in front of it that tell of a model (``MODEL_PATH=a/b``).

    A program may ask for any: those that tell come first.
    """
    if _SETS.match(started):
        return started
    told = ((text, _ASSIGNED.fullmatch(text)) for text in assigned)
    given = [text for text, found in told if found is not None and not is_secret(found[1], found[2])]
    telling = [text for text in given if _TELLS.search(text.partition("=")[0])]
    known = set(telling)
    others = [text for text in given if text not in known] if not _SERVES.match(started) else []
    return " ".join((*[*telling, *others][:MAX_VARIABLES], started))


def given_variables(command: str) -> dict[str, str]:
    """Return the variables that stand in front of a command, by their names (``MODEL=a/b python serve.py``)."""
    found: dict[str, str] = {}
    rest = command.lstrip()
    while (assigned := _ASSIGNED.match(rest)) is not None and rest[assigned.end() : assigned.end() + 1] == " ":
        found[assigned[1]] = assigned[2]
        rest = rest[assigned.end() :].lstrip()
    return found
