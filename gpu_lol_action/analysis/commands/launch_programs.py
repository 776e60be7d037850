"""Commands that programs start themselves, as lists of words or as texts: servers, launchers, and programs beside them with their options."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator

from gpu_lol_action.analysis.command_lines.launch_tools import COUNT_FLAGS, SERVERS, SERVING_TOOLS
from gpu_lol_action.analysis.command_lines.model_tools import MODEL_TOOLS
from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.domain.patterns import regex

MAX_STARTED = 10
MAX_PROGRAMS = 200
_STARTERS = ("subprocess", "os.system", "Popen", "execvp", "azure.ai.ml", "invoke")
_RUNS = ("run", "Popen", "call", "check_call", "check_output", "system")
_TRAINING_TOOLS = ("llamafactory-cli", "axolotl", "litgpt")
_STARTED = (*SERVING_TOOLS, *COUNT_FLAGS, *_TRAINING_TOOLS)
_MODELS = frozenset({*MODEL_TOOLS, "yolo"})
_TOOLS = "|".join(sorted({*_STARTED} - {"tune"}))
_FIRST = regex(rf"(?:{_TOOLS})\b|python3?\s+-m\s+(?:{'|'.join(map(re.escape, SERVERS))})")
# How a literal begins that may be such a command, or the first word of a list: also on the line behind `"""\`. `"accelerate>=1.0"` is
# a package.
_WRITTEN = regex(rf"[\"'](?:\\\n)?(?:{_TOOLS})\b(?![ ]?[=<>~!]=)")
_PYTHON_WRITTEN = regex(r"[\"'](?:\\\n)?python3?\b")
# A program that is started with options of its own; without any it is as likely a step before the work as the work.
_WITH_OPTIONS = regex(r"python3?\s+(?:-u\s+)?[\w./-]{1,120}\.py\s(?:[^\n]{0,400}\s)?--?[A-Za-z]")
# A job's command, as far as it is written out: `command=("torchrun train.py" + …)`.
_SUBMITTED = regex(r"\bcommand[ ]{0,2}=[ ]{0,2}\(?\s{0,80}f?\"([a-z][\w-]{1,30} [^\"\n\\]{1,600})")


def submits_job(source: Source) -> bool:
    """Whether a program hands a command to a cluster (Azure's ``command(command="torchrun …")``): it is started for that command."""
    return source.mentions("azure.ai.ml") and source.code is not None and bool(source.code.calls_named("command"))


def started_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the commands that a program starts, as lines of a shell with the line where they stand; at most ten."""
    if source.code is None or not any(source.mentions(word) for word in _STARTERS):
        return
    yield from itertools.islice(
        itertools.chain(_of_tools(source, source.code), _of_launchers(source, source.code)), MAX_STARTED
    )


def _of_tools(source: Source, code: PythonCode) -> Iterator[tuple[int, str]]:
    """Yield the commands of tools that run a model (``subprocess.run(["whisper", path, "--model", "large-v3"])``): their names are ordinary words, so only what a process is started with counts."""
    if not any(source.mentions(tool) for tool in _MODELS):
        return
    kept = {item.name: item.value for item in reversed(code.given)}
    for call in code.calls_named(*_RUNS):
        for value in call.arguments[:1]:
            text = _line(code, kept.get(value.reference or "", value))
            if text is not None and text.partition(" ")[0] in _MODELS:
                yield call.line, text


def _of_launchers(source: Source, code: PythonCode) -> Iterator[tuple[int, str]]:
    if not any(source.mentions(tool) for tool in _STARTED) or not _may_start(source.text):
        return
    count = 0
    for value, line in _values(code):
        text = _line(code, value)
        if text is not None and _FIRST.match(text):
            yield line, text
            count += 1
            if count >= MAX_STARTED:
                return
    written = _SUBMITTED.search(source.text) if not count and submits_job(source) else None
    if written is not None and _FIRST.match(written[1]):
        yield source.text.count("\n", 0, written.start(1)) + 1, written[1]


def programs_started(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the programs that a program starts with options (``subprocess.run([sys.executable, "train.py", "--lr", "1e-4"])``); at most ten."""
    if source.code is None or not any(source.mentions(word) for word in _STARTERS):
        return
    yield from itertools.islice(_with_options(source, source.code), MAX_STARTED)


def _with_options(source: Source, code: PythonCode) -> Iterator[tuple[int, str]]:
    if not source.mentions(".py") or not (source.mentions("python") or source.mentions("sys.executable")):
        return
    kept = {item.name: item.value for item in reversed(code.given)}
    for call in code.calls_named(*_RUNS):
        for value in call.arguments[:1]:
            given = kept.get(value.reference or "", value)
            text = _line(code, given)
            if text is None and given.parts:
                text = "".join(code.resolve(part) or "$UNKNOWN" for part in given.parts)
            if text is not None and _WITH_OPTIONS.match(text):
                yield call.line, text


def _may_start(text: str) -> bool:
    """Whether a literal of a program may begin such a command: a look at its text, before it is parsed for all its values."""
    if _WRITTEN.search(text):
        return True
    return _PYTHON_WRITTEN.search(text) is not None and any(server in text for server in SERVERS)


def _values(code: PythonCode) -> Iterator[tuple[Value, int]]:
    for item in code.given:
        yield item.value, item.line
    for call in code.calls:
        for argument in call.arguments[:1]:
            yield argument, call.line
        if call.last == "command" and (given := call.keyword("command")) is not None:
            yield given, call.line


def _line(code: PythonCode, value: Value) -> str | None:
    """Return a list of words, or a text, as a line; a word that is not known stands as a variable."""
    if value.items:
        words = ["python" if item.path == "sys.executable" else code.resolve(item) for item in value.items]
        return " ".join(shlex.quote(word) if word is not None else "$UNKNOWN" for word in words)
    return code.resolve(value)
