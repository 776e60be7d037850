"""Configuration files as flat settings: YAML (axolotl, LLaMA-Factory, torchtune, Hugging Face), JSON, TOML and shell variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.files.setting import BROKEN, MAX_KEY, TOO_DEEP, Setting, fold_key
from gpu_lol_action.analysis.files.spacy_pipelines import pipeline_settings
from gpu_lol_action.analysis.files.variable_files import variable_settings
from gpu_lol_action.analysis.formats.gin_text import read_gin
from gpu_lol_action.analysis.formats.json_text import parse_json
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.formats.toml_reading import read_toml
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex

MAX_CONFIG_BYTES = 256 * 1024
MAX_SETTINGS = 2000
MAX_DIGITS = 30
MOST_LISTS = 20  # numbers of a list in a list, and such lists
TOO_LARGE = f"over {MAX_CONFIG_BYTES // 1024} KiB, so not read as configuration"
BROKEN_TABLE = "not valid TOML, so not understood"
_TABLE = regex(r"\s*\[{1,2}\s*([\w.\"' -]{1,200}?)\s*\]{1,2}\s*(?:#.*)?$")
_KEY = regex(r"\s*[\"']?([\w.-]{1,100})[\"']?\s*=")
_NUMBER = regex(r"\d{1,12}(?:\.\d{1,12})?")
_SWITCH = ".enabled"
_LEARNING = frozenset({"train", "training"})
_JUDGING = ("test", "val", "eval", "valid", "validation", "testing", "dev", "infer", "inference", "evaluation")
_QUOTED = regex(r'"((?:[^"\\]|\\.)*)"')


def read_settings(source: Source) -> tuple[Setting, ...]:
    """Return the settings of a YAML, JSON or TOML file; none where it is no configuration. What is broken is noted."""
    return _read(source) if source.form in _READERS else ()


@remembered
def _read(source: Source) -> tuple[Setting, ...]:
    if len(source.text) > MAX_CONFIG_BYTES:
        source.effort.failures.setdefault(source.path, TOO_LARGE)
        return ()
    if not source.effort.take_settings(source.path, len(source.text)):
        return ()
    return _with_learned(_in_force(tuple(_bounded(_READERS[source.form](source)))))


def _in_force(settings: tuple[Setting, ...]) -> tuple[Setting, ...]:
    """Return the settings without those of sections that say of themselves that they are off (``lora: {enabled: false, rank: 8}``)."""
    switches = [setting for setting in settings if setting.path.endswith(_SWITCH)]
    off = {setting.path.removesuffix(_SWITCH) for setting in switches if setting.text.lower() == "false"}
    # Of a list's entries, which have one path, one may be on and another off.
    off -= {setting.path.removesuffix(_SWITCH) for setting in switches if setting.text.lower() != "false"}
    if not off:
        return settings
    return tuple(s for s in settings if s.key == _SWITCH[1:] or not any(above in off for above in _sections_of(s.path)))


def _sections_of(path: str) -> Iterator[str]:
    """Yield the paths of the sections that a setting stands in."""
    place = path.find(".")
    while place >= 0:
        yield path[:place]
        place = path.find(".", place + 1)


def _with_learned(settings: tuple[Setting, ...]) -> tuple[Setting, ...]:
    """Return the settings, and what stands under a key for training beside another number for testing, under that key itself.

    ``BATCH_SIZE: {TRAIN: 5, TEST: 1}`` is a batch of 5.
    """
    learned = [s for s in settings if s.key in _LEARNING and "." in s.path and _NUMBER.fullmatch(s.text)]
    paths = {s.path for s in settings} if learned else set()
    above = {s: s.path.rpartition(".")[0] for s in learned}
    said = [
        replace(s, key=path.rpartition(".")[2], path=path)
        for s, path in above.items()
        if path not in paths and any(f"{path}.{other}" in paths for other in _JUDGING)
    ]
    return (*settings, *said)


def _bounded(settings: Iterator[Setting]) -> Iterator[Setting]:
    for count, setting in enumerate(settings):
        if count >= MAX_SETTINGS:
            return
        yield setting


def _json(source: Source) -> Iterator[Setting]:
    try:
        document = parse_json(source.text, _whole)
    except ValueError:
        source.effort.failures.setdefault(source.path, BROKEN)
        return
    except RecursionError:
        source.effort.failures.setdefault(source.path, TOO_DEEP)
        return
    yield from _of_object(document, source.text, source.path, 1)


def json_settings(text: str, path: str, first: int) -> tuple[Setting, ...]:
    """Return the settings of a JSON object that stands in another file, from that line on; none where it is broken."""
    try:
        document = parse_json(text[:MAX_CONFIG_BYTES], _whole)
    except (ValueError, RecursionError):
        return ()
    return tuple(_bounded(_of_object(document, text, path, first)))


def _of_object(document: object, text: str, path: str, first: int) -> Iterator[Setting]:
    if not isinstance(document, dict):
        return
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), first):
        for name in _QUOTED.findall(line):
            lines.setdefault(fold_key(name), number)
    yield from _flat(document, lambda key: lines.get(key.rpartition(".")[2], 0), path)


def _toml(source: Source) -> Iterator[Setting]:
    document = read_toml(source.text)
    if document is None:
        source.effort.failures.setdefault(source.path, BROKEN_TABLE)
        return
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(source.text.split("\n"), 1):
        if (found := _TABLE.match(line)) is not None:
            table = fold_key(found[1])
        elif (found := _KEY.match(line)) is not None:
            lines.setdefault(f"{table}.{fold_key(found[1])}".lstrip("."), number)
    yield from _flat(document, lambda path: lines.get(path, 0), source.path)


def _flat(document: dict[str, Any], line_of: Callable[[str], int], file: str) -> Iterator[Setting]:
    """Yield a document's values by their dotted paths, shallow ones first; lists of plain values as one."""
    pending: deque[tuple[str, Any]] = deque([("", document)])
    while pending:
        prefix, node = pending.popleft()
        for whole, value in node.items():
            key = whole[:MAX_KEY]
            path = f"{prefix}.{fold_key(key)}" if prefix else fold_key(key)
            if isinstance(value, dict) and path.count(".") < 6:
                pending.append((path, value))
            where = Evidence(file, line_of(path))
            if isinstance(value, list) and path.count(".") < 6:
                pending.extend((path, item) for item in value[:20] if isinstance(item, dict))
            if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:  # a hexadecimal one may be any long
                continue
            if isinstance(value, (str, int, float, bool)):
                yield Setting(fold_key(key), path, str(value)[:300], where)
            elif isinstance(value, list) and value and (text := _listed(value[:40])) is not None:
                yield Setting(fold_key(key), path, text[:300], where)


def _listed(values: list[Any]) -> str | None:
    """Return a list of texts or of numbers as one text, and a list of lists of numbers as Python writes it; None for others."""
    if all(isinstance(item, str) for item in values):
        return ",".join(values)
    if all(_is_small(item) for item in values):
        # A list of one is no number: with its comma it stays a list.
        return ",".join(str(item) for item in values) + ("," if len(values) == 1 else "")
    is_nested = len(values) <= MOST_LISTS and all(
        isinstance(item, list) and 0 < len(item) <= MOST_LISTS and all(_is_small(inner) for inner in item)
        for item in values
    )
    return str(values) if is_nested else None


def _is_small(item: object) -> bool:
    return isinstance(item, (int, float)) and not isinstance(item, bool) and abs(item) < 10**MAX_DIGITS


def _whole(digits: str) -> int | str:
    """Return an integer, or its digits where Python would refuse, or take long over, a number of thousands of them."""
    return int(digits) if len(digits) <= MAX_DIGITS else digits


def _gin(source: Source) -> Iterator[Setting]:
    """Yield what gin-config is told, by the name of what takes it: ``train.batch_size``, and a macro by its own."""
    bindings = read_gin(source.text).bindings
    everywhere = {binding.name for binding in bindings if not binding.scope}
    document: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for binding in bindings:
        words = [*binding.scope.split("/"), *binding.name.split(".")] if binding.scope else binding.name.split(".")
        # A scope's own holds there alone: of a judging one nothing is said of the training, and what holds everywhere is said first.
        if binding.scope and (binding.name in everywhere or any(word in _JUDGING for word in words)):
            continue
        node = document
        for word in words[:-1]:
            below = node.setdefault(fold_key(word), {})
            node = below if isinstance(below, dict) else {}
        node[fold_key(words[-1])] = binding.value
        lines[".".join(fold_key(word) for word in words)] = binding.line
    yield from _flat(document, lambda path: lines.get(path, 0), source.path)


def _yaml(source: Source) -> Iterator[Setting]:
    # Late: the reader's library takes as long to load as a small repository to read, and many have no such file.
    from gpu_lol_action.analysis.files.yaml_reading import yaml_settings

    yield from yaml_settings(source)


_READERS: Mapping[Form, Callable[[Source], Iterator[Setting]]] = {
    Form.JSON: _json, Form.YAML: _yaml, Form.TOML: _toml, Form.GIN: _gin, Form.INI: pipeline_settings, Form.SHELL: variable_settings
}  # fmt: skip
