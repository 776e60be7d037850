"""Models that programs load by a key of a configuration, or by a name that something else tells; an embedder where nothing answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpu_lol_action.analysis.files.checkout import Checkout, Source
from gpu_lol_action.analysis.models import clip_names
from gpu_lol_action.analysis.models.model_loads import (
    HELPER_KEY,
    LOADERS,
    MODEL_KEYS,
    NOT_MODELS,
    is_helper_place,
    model_name,
)
from gpu_lol_action.analysis.programs.followed_values import Follower
from gpu_lol_action.analysis.programs.local_values import is_chosen, is_handed_on, is_of_environment
from gpu_lol_action.analysis.python.code import Call
from gpu_lol_action.analysis.python.values import Value
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.settings import Scope, find_path
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex

MAX_LOADING = 20  # modules of a run that are asked what they load by a key of its configuration
_EMBEDDERS = frozenset({"SentenceTransformer", "CrossEncoder", "SparseEncoder"})
_ASKS = (
    "ChatOpenAI",
    "OpenAI",
    "AsyncOpenAI",
    "ChatOllama",
    "Ollama",
    "Anthropic",
    "ChatAnthropic",
    "Llama",
    "completion",
)
# What hears for a network that draws or speaks; followed from afar, a recipe's own encoder is named where it is loaded.
_HEARS = regex(r"wav2vec|audio_")


def referred_models(checkout: Checkout, run: Run, scope: Scope) -> Iterator[Finding]:
    """Yield models that the program loads by a key of its configuration, whatever that is called (``cfg.llm.base``)."""
    closure = import_closure(checkout, run.script)[:MAX_LOADING] if run.script is not None else ()
    beside: list[Finding] = []
    found: list[Finding] = []
    for finding, is_beside in _referred(closure, run, scope):
        (beside if is_beside else found).append(finding)
    # What turns texts into vectors is beside a model that answers, and all there is where none does.
    is_all = bool(beside) and not found and not any(_answers(source) for source in closure)
    yield from beside if is_all else found


def _answers(source: Source) -> bool:
    """Whether a program loads, or asks, a model that is no embedder."""
    if source.code is None:
        return False
    loads = source.code.calls_named(*sorted(LOADERS - _EMBEDDERS), *_ASKS)
    return any(not NOT_MODELS.search(call.name) for call in loads)


def _referred(closure: tuple[Source, ...], run: Run, scope: Scope) -> Iterator[tuple[Finding, bool]]:
    """Yield models that programs load by a key or a name, each with whether it is beside another: named for it, or in a module that is."""
    follower = Follower(scope.tiers[0][1], scope.tiers[1][1], closure)
    yield from ((clip, False) for clip in clip_names.named_clips(run, scope, closure))
    for source in closure:
        if source.code is None:
            continue
        is_aside = source is not run.script and is_helper_place(source.path)
        for call in source.code.calls_named(*sorted(LOADERS)):
            embeds = call.last in _EMBEDDERS
            if NOT_MODELS.search(call.name) or (is_aside and not embeds):
                continue
            for value in (*call.arguments[:1], *(value for key, value in call.keywords if key in MODEL_KEYS)):
                path = source.code.names().path_of(value)
                setting = find_path(scope, path) if path is not None else None
                name = model_name(setting.text) if setting is not None else None
                if setting is not None and name is not None:
                    why = f"`{call.last}` loads `{setting.path}`, which is `{name}`"
                    is_beside = is_aside or HELPER_KEY.search(setting.path) is not None
                    if embeds or not is_beside:
                        yield Finding("model.id", name, why, Confidence.HIGH, setting.evidence), is_beside
                elif setting is None and _is_asked(source, call, value):
                    known = source.code.resolve(value, call.owner)
                    told = follower.value(source, value, call.owner)
                    name = model_name(told[0]) if told is not None else None
                    called = value.path or value.reference or value.table or ""
                    where = told[1] if told is not None and told[1] is not None else Evidence(source.path, call.line)
                    words = [each.lower() for each in (called, call.owner, *_set_at(closure, where))]
                    is_beside = is_aside or any(HELPER_KEY.search(w) or _HEARS.search(w) for w in words)
                    is_said = bool(value.parts) or is_chosen(value) or is_of_environment(source, call.owner, value)
                    is_news = is_said or where == run.evidence or any(where.path == each.path for each in closure)
                    start = model_name(known) if known is not None else None
                    # What the command says counts beside what else it says, also where the program would start with it.
                    is_other = (
                        known is None
                        or (is_news and start not in {None, name})
                        or (where == run.evidence and start == name)
                    )
                    if name is not None and is_other and (embeds or not is_beside):
                        why = f"`{call.last}` loads `{called or name}`" + (f", which is `{name}`" if called else "")
                        # Before what it starts with, which the program loads where nobody says otherwise.
                        is_before = known is not None and where != run.evidence and source is run.script
                        sure = Confidence.HIGH if is_before else Confidence.MEDIUM
                        yield Finding("model.id", name, why, sure, where), is_beside


def _is_asked(source: Source, call: Call, value: Value) -> bool:
    """Whether more than the program's own lines may tell what a call loads."""
    if source.code is None or source.code.resolve(value, call.owner) is None or value.parts:
        return True
    is_others = is_of_environment(source, call.owner, value) or is_handed_on(source, call.owner, value)
    return is_others or is_chosen(value) or bool(source.code.names().keys_of(value))


def _set_at(programs: Iterable[Source], where: Evidence) -> list[str]:
    """Return the names that are set on a line (``teacher = load("a/b")``)."""
    codes = (source.code for source in programs if source.path == where.path and source.code is not None)
    return [each.name for code in codes for each in code.given if each.line == where.line]
