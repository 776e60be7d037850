"""Where a server or another tool is told its model: in the words behind its name, or as a variable of the file that describes the service."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_lol_action.analysis.command_lines.model_tools import model_of_tool
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models.model_loads import model_name
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.analysis.runs.settings import Scope, look_up
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.quantized_names import scheme_in_name
from gpu_lol_action.estimation.vram_states import bits_of

_SERVED = regex(r"vllm serve|sglang|text-generation-launcher|aphrodite run|mlc_llm serve")
_OF_CONTAINERS = regex(r"^(?:services:|[ \t]+containers:)", re.MULTILINE)
_MODEL_VARIABLE = regex(
    r"\b(?:HF_)?MODEL(?:_ID|_NAME)?[\"']?\s{0,3}[=:]\s{0,3}[\"']?([A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})"
)
_NAMES = frozenset({"model", "model_id", "model_path", "model_name_or_path"})
_FETCHED = regex(
    r"(?:huggingface-cli|hf|modelscope) download (?:--model )?[\"']?([\w.-]{1,95}/[\w.-]{1,95})[\"']?(?:[ \t]|\\\n)[^\n|;&]{0,200}?(?:\\\n[ \t]{0,20})?--local[-_]dir[ =]([\w./~$\"'{}-]{1,200})"
)
MAX_SERVICE = 64 * 1024  # characters of a file that describes one


def served_words(run: Run | None) -> tuple[str, ...]:
    """Return the words among which a server is told its model (``vllm serve a/b``)."""
    command = run.command if run is not None else None
    return command.words[1:3] if command is not None and _SERVED.match(command.target) is not None else ()


def file_width(scope: Scope) -> Finding | None:
    """Return how wide the weights lie of the one file that is taken of a repository which has several (``filename="*Q5_K_M.gguf"``)."""
    file = look_up(scope, ("filename",))
    is_weights = file is not None and file.confidence is Confidence.HIGH and file.text.endswith(".gguf")
    scheme = scheme_in_name(f"-{file.text.rpartition('*')[2].removesuffix('.gguf')}") if file and is_weights else None
    if file is None or scheme is None:
        return None
    why = f"of several the file in {scheme} is taken"
    return Finding("model.weight_bits", str(bits_of(scheme)), why, file.confidence, file.evidence)


def fetched_to(run: Run) -> Iterator[Finding]:
    """Yield the model that lies where a server is told to look, by the line of the same file that fetches it there."""
    command = run.command
    if command is None or _SERVED.match(command.target) is None:
        return
    text = command.source.text[:MAX_SERVICE]
    told = {word.rstrip("/") for word in (*command.words[1:3], *(command.options.get(name, "") for name in _NAMES))}
    for found in _FETCHED.finditer(text) if "download" in text else ():
        name = model_name(found[1])
        if name is not None and found[2].strip("\"'").rstrip("/") in told:
            where = Evidence(command.source.path, text.count("\n", 0, found.start(1)) + 1)
            yield Finding("model.id", name, f"it is fetched to where `{run.shown}` looks", Confidence.HIGH, where)
            return


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
