"""Where a server or another tool is told its model: in the words behind its name, or as a variable of the file that describes the service."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.command_lines.model_tools import model_of_tool
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models.model_loads import model_name
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model

_SERVED = regex(r"vllm serve|sglang|text-generation-launcher|aphrodite run|mlc_llm serve")
_OF_CONTAINERS = regex(r"^(?:services:|[ \t]+containers:)", re.MULTILINE)
_MODEL_VARIABLE = regex(
    r"\b(?:HF_)?MODEL(?:_ID|_NAME)?[\"']?\s{0,3}[=:]\s{0,3}[\"']?([A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})"
)
_NAMES = frozenset({"model", "model_id", "model_path", "model_name_or_path"})
MAX_SERVICE = 64 * 1024  # characters of a file that describes one


def served_words(run: Run | None) -> tuple[str, ...]:
    """Return the words among which a server is told its model (``vllm serve a/b``)."""
    command = run.command if run is not None else None
    return command.words[1:3] if command is not None and _SERVED.match(command.target) is not None else ()


def told_as_variable(run: Run) -> Iterator[Finding]:
    """Yield the models that the file of a server's command gives it as variables, as Text Generation Inference takes them (``MODEL_ID=a/b``)."""
    command = run.command
    if command is None or _SERVED.match(command.target) is None or command.source.form is not Form.YAML:
        return
    text = command.source.text[:MAX_SERVICE]
    # Of several containers each has variables of its own.
    own = set(command.environment.values()) if _OF_CONTAINERS.search(text) else None
    for found in _MODEL_VARIABLE.finditer(text) if not _NAMES.intersection(command.options) else ():
        if (own is None or found[1] in own) and (name := model_name(found[1])) is not None:
            where = Evidence(command.source.path, text.count("\n", 0, found.start(1)) + 1)
            yield Finding("model.id", name, f"`{run.shown}` is given it as a variable", Confidence.HIGH, where)
            return


def told_to_a_tool(run: Run) -> Iterator[Finding]:
    """Yield the model that a command of a tool runs or tunes, which knows it by a name of its own; a file of the checkout says itself what it tunes."""
    command = run.command
    named = model_of_tool(command.tool, run.options, command.words) if command is not None and not run.configs else None
    if named is not None and command is not None and find_model(named) is not None:
        yield Finding("model.id", named, f"`{command.tool}` is told it", Confidence.HIGH, run.evidence)
