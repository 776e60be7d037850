"""Models that programs have Ollama serve, by its own names for them: ``ollama.chat(model="llama3.1:70b")``."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_lol_action.analysis.commands.program_configs import own_configs
from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.analysis.files.effort import remembered
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.programs.import_graph import import_closure
from gpu_lol_action.analysis.runs.entry_points import Run
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.ollama_names import published_names, scheme_of_tag, with_size
from gpu_lol_action.estimation.vram_states import bits_of

MAX_PROGRAMS = 50
# `LLM(model="ollama/deepseek-r1:7b")`, `ChatOllama(model="llama3.2")`, `ollama.chat(model="mistral")`.
_ROUTED = regex(r"(?:ollama|ollama_chat)/([a-z][\w.:/-]{1,60})")
_NAME = regex(r"[a-z][\w.:/-]{1,100}")
_CLIENTS, _ASKED = frozenset({"ChatOllama", "OllamaLLM", "Ollama"}), frozenset({"chat", "generate"})
# OpenAI's client, where it is told the port on which Ollama listens.
_CREATED, _PORT = frozenset({"create"}), ":11434"
_OLLAMAS = ("ollama", "langchain_ollama", "langchain_community", "langchain", "llama_index")
_EMBEDS = regex(r"(?i)embed|minilm|bge-")
_CLOUD = regex(r"[:-]cloud$")


@remembered
def asked_of_ollama(checkout: Checkout, source: Source) -> tuple[int, str] | None:
    """Return the line on which a program names a chat model of Ollama's to what asks it, and the name; None where it names none."""
    code = source.code
    is_near = source.mentions(_PORT)
    if code is None or not (is_near or source.mentions("llama")):
        return None
    follower: list[Follower] = []
    is_plain = "ollama" in code.imported()
    has_clients = not code.imported().isdisjoint(_OLLAMAS)
    for call in code.calls:
        first = (
            call.arguments[0] if call.arguments and (call.last in _CLIENTS or call.name.startswith("ollama.")) else None
        )
        named = call.keyword("model", "model_name") or first
        model = code.resolve(named, call.owner)
        if model is None and named is not None and call.last in (_CLIENTS | _ASKED | _CREATED):
            follower = follower or [_follower(checkout, source)]
            told = follower[0].value(source, named, call.owner)
            model = told[0] if told is not None else None
        if model is None or _EMBEDS.search(model) or _CLOUD.search(model):
            continue
        is_asked = (call.last in _CLIENTS and has_clients) or (call.last in _ASKED and is_plain)
        is_asked = is_asked or (call.last in _CREATED and is_near)
        routed = _ROUTED.fullmatch(model)
        if routed is not None or (is_asked and _NAME.fullmatch(model)):
            return call.line, routed[1] if routed is not None else model
    return None


def _follower(checkout: Checkout, source: Source) -> Follower:
    configs = [setting for each in own_configs(checkout, source) for setting in read_settings(each)]
    return Follower((), configs, import_closure(checkout, source))


def detect(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield the model that the run's program asks of Ollama, and how wide its weights lie; of any program where nothing is known to run."""
    own = [run.script] if run is not None and run.script is not None else []
    programs = checkout.of(Form.PYTHON, Form.NOTEBOOK)[:MAX_PROGRAMS] if run is None else ()
    for source in (*own, *programs):
        asked = asked_of_ollama(checkout, source)
        if asked is None:
            continue
        line, name = asked
        sized = with_size(name)
        if not any(published_names(sized)) or find_model(sized) is None:
            continue
        why = f"Ollama is asked for `{name}`" + ("" if sized == name else f", which is `{sized}`")
        sure, where = Confidence.HIGH if source in own else Confidence.MEDIUM, Evidence(source.path, line)
        yield Finding("model.id", sized, why, sure, where)
        if (scheme := scheme_of_tag(sized)) is not None:
            how = f"Ollama has `{sized}` in {scheme} unless its tag says otherwise"
            yield Finding("model.weight_bits", str(bits_of(scheme)), how, sure, where)
        return
