"""Commands that programs start themselves, as lists of words or as texts: servers, launchers, and programs beside them with their options."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

from gpu_lol_action.analysis.command_lines.launch_tools import COUNT_FLAGS, SERVERS, SERVING_TOOLS
from gpu_lol_action.analysis.command_lines.model_tools import MODEL_TOOLS
from gpu_lol_action.analysis.commands.started_words import StartedWords
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.python.code import PythonCode
from gpu_lol_action.analysis.python.defaults import Call, Given
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.domain.patterns import regex

MAX_STARTED = 10
MAX_PROGRAMS = 200
_STARTERS = (
    "subprocess",
    "os.system",
    "Popen",
    "execvp",
    "azure.ai.ml",
    "invoke",
    "execute_shell_command",
    "launch_server_cmd",
)
_RUNS = ("run", "Popen", "call", "check_call", "check_output", "system")
_TRAINING_TOOLS = ("llamafactory-cli", "axolotl", "litgpt", "lm_eval", "lm-eval")
_STARTED = (*SERVING_TOOLS, *COUNT_FLAGS, *_TRAINING_TOOLS)
_MODELS = frozenset({*MODEL_TOOLS, "yolo"})
_TOOLS = "|".join(sorted({*_STARTED} - {"tune"}))
_FIRST = regex(rf"(?:{_TOOLS})\b|python3?\s+-m\s+(?:{'|'.join(map(re.escape, SERVERS))})")
_STARTS = regex(rf"(?:{_TOOLS}|python3?)\b")
# How a literal begins that may be such a command, or the first word of a list: also on the line behind `"""\`. `"accelerate>=1.0"` is
# a package.
_WRITTEN = regex(rf"[\"'](?:\\\n|\n[ ]{{0,20}})?(?:{_TOOLS})\b(?![ ]?[=<>~!]=)")
_PYTHON_WRITTEN = regex(r"[\"'](?:\\\n|\n[ ]{0,20})?python3?\b|\bsys\.executable\b")
# A program that is started with options of its own; without any it is as likely a step before the work as the work.
_WITH_OPTIONS = regex(r"python3?\s+(?:-u\s+)?[\w./-]{1,120}\.py\s(?:[^\n]{0,400}\s)?--?[A-Za-z]")
# A job's command, as far as it is written out: `command=("torchrun train.py" + …)`.
_SUBMITTED = regex(r"\bcommand[ ]{0,2}=[ ]{0,2}\(?\s{0,80}f?\"([a-z][\w-]{1,30} [^\"\n\\]{1,600})")


def submits_job(source: Source) -> bool:
    """Whether a program hands a command to a cluster (Azure's ``command(command="torchrun …")``): it is started for that command."""
    return source.mentions("azure.ai.ml") and source.code is not None and bool(source.code.calls_named("command"))


def started_lines(checkout: Checkout, source: Source) -> Iterator[tuple[int, str]]:
    """Yield the commands that a program starts, as lines of a shell with the line where they stand; at most ten."""
    if source.code is None or not any(source.mentions(word) for word in _STARTERS):
        return
    yield from itertools.islice(
        itertools.chain(_of_tools(checkout, source, source.code), _of_launchers(checkout, source, source.code)),
        MAX_STARTED,
    )


def _of_tools(checkout: Checkout, source: Source, code: PythonCode) -> Iterator[tuple[int, str]]:
    """Yield the commands of tools that run a model (``subprocess.run(["whisper", path, "--model", "large-v3"])``): their names are ordinary words, so only what a process is started with counts."""
    if not any(source.mentions(tool) for tool in _MODELS):
        return
    words = StartedWords(checkout, source, code)
    kept = {item.name: item for item in reversed(code.given)}
    for call in code.calls_named(*_RUNS):
        for value in call.arguments[:1]:
            text = _told(words, kept, value, call)
            if text is not None and text.partition(" ")[0] in _MODELS:
                yield call.line, text


def _of_launchers(checkout: Checkout, source: Source, code: PythonCode) -> Iterator[tuple[int, str]]:
    if not any(source.mentions(tool) for tool in _STARTED) or not _may_start(source.text):
        return
    words, count = StartedWords(checkout, source, code), 0
    for value, line, owner, name in _values(code):
        if (value.items or value.parts) and not _begins(code, value):
            continue
        text = words.line(value, owner, name, line)
        text = text.strip() if text is not None else None
        if text is not None and _FIRST.match(text):
            yield line, text.replace("\n", " ")
            count += 1
            if count >= MAX_STARTED:
                return
    written = _SUBMITTED.search(source.text) if not count and submits_job(source) else None
    if written is not None and _FIRST.match(written[1]):
        yield source.text.count("\n", 0, written.start(1)) + 1, written[1]


def _told(
    words: StartedWords, kept: Mapping[str, Given], value: Value, call: Call, *, with_holes: bool = False
) -> str | None:
    """Return the line that a process is started with, also where a variable keeps it."""
    given = kept.get(value.reference or "")
    if given is not None:
        return words.line(given.value, given.owner, given.name, given.line, with_holes=with_holes)
    return words.line(value, call.owner, "", call.line, with_holes=with_holes)


def _begins(code: PythonCode, value: Value) -> bool:
    """Whether the first of a list's words, or of a text's parts, may start something: of any other no word is followed."""
    first = (*value.items, *value.parts)[0]
    told = "python" if first.path == "sys.executable" else (code.resolve(first) or "").lstrip()
    # Of what Python starts only a server's module counts here, and that is written as one: `["python3", path]` is a program.
    is_program = told in {"python", "python3"} and bool(value.items[1:]) and value.items[1].text != "-m"
    return not is_program and _STARTS.match(told) is not None


def programs_started(checkout: Checkout, source: Source) -> Iterator[tuple[int, str]]:
    """Yield the programs that a program starts with options (``subprocess.run([sys.executable, "train.py", "--lr", "1e-4"])``); at most ten."""
    if source.code is None or not any(source.mentions(word) for word in _STARTERS):
        return
    yield from itertools.islice(_with_options(checkout, source, source.code), MAX_STARTED)


def _with_options(checkout: Checkout, source: Source, code: PythonCode) -> Iterator[tuple[int, str]]:
    if not source.mentions(".py") or not (source.mentions("python") or source.mentions("sys.executable")):
        return
    words = StartedWords(checkout, source, code)
    kept = {item.name: item for item in reversed(code.given)}
    for call in code.calls_named(*_RUNS):
        for value in call.arguments[:1]:
            text = _told(words, kept, value, call, with_holes=True)
            if text is not None and _WITH_OPTIONS.match(text):
                yield call.line, text


def _may_start(text: str) -> bool:
    """Whether a literal of a program may begin such a command: a look at its text, before it is parsed for all its values."""
    if _WRITTEN.search(text):
        return True
    return _PYTHON_WRITTEN.search(text) is not None and any(server in text for server in SERVERS)


def _values(code: PythonCode) -> Iterator[tuple[Value, int, str, str]]:
    """Yield what may be a command: its value and line, the function that it stands in, and the name that keeps it."""
    for item in code.given:
        yield item.value, item.line, item.owner, item.name
    for call in code.calls:
        for argument in call.arguments[:1]:
            yield argument, call.line, call.owner, ""
        if call.last == "command" and (given := call.keyword("command")) is not None:
            yield given, call.line, call.owner, ""
