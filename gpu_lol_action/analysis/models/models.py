"""The model that the run loads: its id where one is named, else the shape that the code builds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from gpu_lol_action.analysis.commands.launch_commands import launch_commands
from gpu_lol_action.analysis.documents.shown_programs import is_shown
from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.formats.paths import Form
from gpu_lol_action.analysis.models import ollama_models
from gpu_lol_action.analysis.models.beside_hosted import embeds_on_a_card
from gpu_lol_action.analysis.models.model_families import guess_family
from gpu_lol_action.analysis.models.model_loads import (
    HELPER_KEY,
    HUB_ID,
    MODEL_KEYS,
    NOT_MODELS,
    is_helper_place,
    is_placeholder,
    loaded_texts,
    loads_of,
    model_name,
)
from gpu_lol_action.analysis.models.model_shapes import shape_of_config, shape_of_run
from gpu_lol_action.analysis.models.models_beside import largest_first
from gpu_lol_action.analysis.models.quantized_names import quantized
from gpu_lol_action.analysis.models.referred_models import referred_models
from gpu_lol_action.analysis.models.served_models import (
    fetched_to,
    file_width,
    served_words,
    told_as_variable,
    told_to_a_tool,
)
from gpu_lol_action.analysis.networks.sources import runs_without_gradients
from gpu_lol_action.analysis.programs.behavior import Behavior
from gpu_lol_action.analysis.runs.entry_points import Run, import_closure
from gpu_lol_action.analysis.runs.run_labels import labelled_model
from gpu_lol_action.analysis.runs.settings import said_of_lightning, scope_of
from gpu_lol_action.analysis.runs.told_choices import unreached
from gpu_lol_action.analysis.runs.torchtune_recipes import recipe_model
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.model_facts import find_model, shape_in_name

_MODEL_KEY = regex(
    r"(?:\w{1,40}_)?(?:model|llm|checkpoint|ckpt)(?:_(?:name|id|path|dir|type|size|variant|name_or_path))?|name_or_path|lm_(?:name|path|name_or_path)|(?:wav2vec2?|whisper|wavlm|hubert|mbart|bert|gpt)_hub"
)
# A section on the model with a word for which one it is: `model.name`, `llm.path`.
_MODEL_PATH = regex(
    r"(?:^|\.)(?:\w{1,40}_)?(?:model|llm|network|policy|student|actor|base|checkpoint_repository)(?:_config|_args|_cfg)?"
    r"\.(?:name|path|id|pretrained|checkpoint|ckpt|hf_id|repo|base|version|variant|size|name_or_path|hf_name)$"
)
# A configuration's part that is about the model.
_MODELS_CONFIG = regex(r"(?:^|\.)(?:(?:Model|LLM|Policy|Actor|BaseModel)Config|model_loading_config)$")
# Models that look at what another model makes.
_GUARD = regex(r"safety|nsfw|watermark", re.IGNORECASE)
Tiers = tuple[tuple[Confidence, tuple[Setting, ...]], ...]

# What looks like an id of the Hub and is a path of this machine.
_NOT_THE_HUB = regex(r"\.(?:json|bin|pth?|ckpt|safetensors|txt)$|^(?:data|outputs?|out|models?|ckpts?|checkpoints?)/")
_TOWER = regex(r"^(?:vit|vision|image|clip|siglip|audio)_|_(?:tower|encoder)_")
# Files of encoders alone: parts that lie beside a model.
_ENCODERS = regex(r"text[_-]?encoders?(?:$|[-_/])", re.IGNORECASE)
# A network's name, not a path, a variable or a place to fill in.
_OWN_NAME = regex(r"[A-Za-z][\w.-]{1,40}(?<!\.json)(?<!\.bin)(?<!\.pt)(?<!\.pth)(?<!\.ckpt)")
_SIZED_FOLDER = regex(r"[A-Za-z](?:[\w.]{0,30}-){1,6}\d{1,3}(?:\.\d{1,2})?B(?:-[\w.]{1,30}){0,4}")
# `<model>`, `path`, `/path/to/model`: the reader's copy of what the program starts with, or of something like it.
_TO_FILL_IN = regex(r"(?i)[\"']?(?:<[^<>]{1,80}>|(?:model[_-])?path|/?path[/_-]to[/_-][\w./-]{1,80})[\"']?")


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return models by how near the run they are named, then the shape that the run builds."""
    found = [*_from_options(checkout, run), *_from_commands(checkout, run), *_from_run(checkout, run),
             *_from_code(checkout, run), *ollama_models.detect(checkout, run), *shape_of_config(checkout, run)]  # fmt: skip
    infers = run is not None and run.behavior is Behavior.INFERS
    found = [f for f in found if not (is_placeholder(checkout, f, infers=infers) or _ENCODERS.search(f.value))]
    if embeds_on_a_card(checkout, run):
        found = [finding for finding in found if not _is_language_model(finding.value)]
    found += _unsized(checkout, run)
    if all(f.confidence is Confidence.LOW for f in found):
        found = [*labelled_model(run), *found]
    unique: dict[str, Finding] = {}
    for finding in found:
        known = unique.setdefault(finding.value, finding)
        if finding.confidence > known.confidence:
            unique[finding.value] = finding
    # An id whose size nothing tells leaves its class as the only hint.
    is_named = any(f.confidence is Confidence.HIGH and f.field == "model.id" for f in unique.values())
    guessed = [] if is_named else guess_family(checkout, run)
    # Beside a model that the run surely names, a shape that some module starts with is that of a part or of another.
    shapes = (each for each in shape_of_run(checkout, run) if not is_named or each.confidence is Confidence.HIGH)
    named = largest_first(unique.values(), run) if infers else unique.values()
    wide = file_width(scope_of(checkout, run)) if infers else None
    return [*named, *([wide] if wide is not None else quantized(unique.values(), infers=infers)), *guessed, *shapes]


def _is_language_model(name: str) -> bool:
    model = find_model(name)
    return model is not None and model.kind == "llm"


def _from_options(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield models that the run's own options and configuration name."""
    if run is None:
        return
    for word in served_words(run):
        # A folder of the reader's own, named for what lies in it (`vllm serve Kimi-Dev-72B`).
        if (name := model_name(word) or (f"./{word}" if _SIZED_FOLDER.fullmatch(word) else None)) is not None:
            yield Finding("model.id", name, f"`{run.shown}` serves it", Confidence.HIGH, run.evidence)
    yield from told_as_variable(run)
    yield from fetched_to(run)
    if (tuned := recipe_model(run)) is not None:
        yield tuned
    yield from told_to_a_tool(run)
    scope = scope_of(checkout, run)
    yield from referred_models(checkout, run, scope)
    yield from _settings(scope.tiers[:2])
    for word in _handed(run):
        if HUB_ID.fullmatch(word) and checkout.find(word) is None and (name := model_name(word)) is not None:
            yield Finding("model.id", name, f"`{run.shown}` is handed it", Confidence.HIGH, run.evidence)


def _handed(run: Run) -> Iterator[str]:
    """Yield the words that a program is handed by their place, behind no option (``python train.py a/b --lr 1e-4``)."""
    words = run.command.words if run.command is not None else ()
    yield from (word for before, word in itertools.pairwise(words) if not before.startswith("-"))


def _settings(tiers: Tiers) -> Iterator[Finding]:
    for confidence, settings in tiers:
        for key in MODEL_KEYS:
            for setting in settings:
                if setting.key != key:
                    continue
                owner = setting.path.rpartition(".")[0]
                if NOT_MODELS.search(owner) and not _MODELS_CONFIG.search(owner):
                    continue
                name = model_name(setting.text)
                if name is not None:
                    # A backbone is one part of the model.
                    sure = min(confidence, Confidence.MEDIUM) if key == "backbone" else confidence
                    yield Finding("model.id", name, f"`{key}` is `{name}`", sure, setting.evidence)
        yield from _likely(confidence, settings)
        yield from _named_by_shape(confidence, settings)


def _named_by_shape(confidence: Confidence, settings: tuple[Setting, ...]) -> Iterator[Finding]:
    """Yield what any path of the run says in its folder's name, as BERT's authors do (``uncased_L-12_H-768_A-12``)."""
    for setting in settings:
        name = shape_in_name(setting.text) if "_H-" in setting.text else None
        if name is not None:
            # Modules that a run imports try themselves on some model: only what the run says is its own.
            sure = confidence if confidence is Confidence.HIGH else Confidence.LOW
            yield Finding("model.id", name, f"`{setting.key}` is in `{name}`", sure, setting.evidence)


def _likely(confidence: Confidence, settings: tuple[Setting, ...]) -> Iterator[Finding]:
    """Yield models under keys of a program's own making (``DEFAULT_INPUT_MODEL``, ``actor_model_name_or_path``).

    Where one key names a vision tower and another a language model, the tower is a part beside it.
    """
    for setting in sorted(settings, key=lambda each: bool(_TOWER.search(each.key))):
        is_likely = _MODEL_KEY.fullmatch(setting.key) or _MODEL_PATH.search(setting.path)
        if setting.key in MODEL_KEYS or not is_likely or HELPER_KEY.search(setting.path):
            continue
        name = model_name(setting.text)
        if name is not None:
            why = f"`{setting.key}` is `{name}`"
            yield Finding("model.id", name, why, min(confidence, Confidence.MEDIUM), setting.evidence)


def _from_run(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield models that the run's program starts with or loads."""
    if run is None:
        return
    scope = scope_of(checkout, run)
    tiers = scope.tiers
    told = {s.key for _, settings in tiers[:2] for s in settings if s.key in MODEL_KEYS and HUB_ID.fullmatch(s.text)}
    # What a configuration names goes before what the program starts with, also where nobody knows its size.
    left = [(sure, tuple(s for s in settings if s.key not in told)) for sure, settings in tiers[2:]]
    for found in _settings(tuple(left)):
        is_own = run.script is not None and found.evidence.path == run.script.path
        is_beside = not is_own and is_helper_place(found.evidence.path)
        yield replace(found, confidence=Confidence.LOW) if is_beside else found
    if run.script is not None:
        for source in import_closure(checkout, run.script):
            confidence = Confidence.HIGH if source is run.script else Confidence.MEDIUM
            # A module about something beside the model loads what is beside the model.
            is_frozen = run.behavior is Behavior.TRAINS and runs_without_gradients(source)
            if source is not run.script and (is_helper_place(source.path) or is_frozen):
                confidence = Confidence.LOW
            given = _given(run) | said_of_lightning(scope, source) if source is run.script else frozenset[str]()
            left_out = unreached(checkout, run, source)
            for found in loads_of(source, confidence, given):
                is_reached = not any(found.evidence.line in block for block in left_out)
                yield found if is_reached else replace(found, confidence=Confidence.LOW)


def _given(run: Run) -> frozenset[str]:
    """Return the options that the run says; a place to fill in (``<model>``) leaves what the program starts with as the best example."""
    return frozenset(
        key.rpartition(".")[2] for key, value in run.options.items() if not _TO_FILL_IN.fullmatch(value.strip())
    )


def _unsized(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield ids of the Hub that the run names and whose size nothing here tells: a look-up may."""
    if run is None:
        return
    for name in served_words(run):
        if HUB_ID.fullmatch(name) and model_name(name) is None and checkout.find_named(name) is None:
            why = f"`{name}` is served, whose size is not known"
            yield Finding("model.unsized_id", name, why, Confidence.MEDIUM, run.evidence)
    for confidence, settings in scope_of(checkout, run).tiers[:3]:
        for setting in settings:
            name = setting.text.strip()
            if setting.key not in MODEL_KEYS[:4] or not HUB_ID.fullmatch(name) or _NOT_THE_HUB.search(name):
                continue
            if model_name(name) is None and checkout.find_named(name) is None:
                why = f"`{setting.key}` is `{name}`, whose size is not known"
                yield Finding("model.unsized_id", name, why, confidence, setting.evidence)


def _from_commands(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield models that other documented commands of the same program name: said to a reader, so surer than a default."""
    if run is not None and is_shown(run.script):
        return  # no command starts it
    # What starts another program says less of one that nothing starts.
    is_bare = run is not None and run.command is None and run.script is not None
    own = run.script.path if run is not None and run.script is not None else ""
    for command in launch_commands(checkout):
        if run is not None and run.command is not None and command.target != run.command.target:
            continue
        for key in MODEL_KEYS:
            if run is not None and _OWN_NAME.fullmatch(run.options.get(key, "")):
                continue  # the run says itself what the others say otherwise; a place to fill in says nothing
            name = model_name(command.options.get(key, ""))
            if name is not None:
                sure = Confidence.MEDIUM if is_bare and command.target != own else Confidence.HIGH
                yield Finding("model.id", name, f"`--{key} {name}` is documented", sure, command.evidence)


def _from_code(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield models that any program of the checkout loads; with a run, they are only a hint."""
    confidence = Confidence.LOW if run is not None else Confidence.MEDIUM
    # Without its ending, so that `demo.py` comes before `demo-large.py`.
    programs = sorted(checkout.of(Form.PYTHON, Form.NOTEBOOK), key=lambda s: (s.depth, s.path.rpartition(".")[0]))
    for source in programs[:200]:
        # Of a path of the user's what the program starts with is the best example; another model's name says which it is not.
        own = run if run is not None and source is run.script else None
        told = (
            frozenset(key for key in _given(own) if "/" not in own.options.get(key, "/")) if own else frozenset[str]()
        )
        yield from loads_of(source, confidence, told)


def unknown_ids(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return ids of the Hub that the run names or loads and that are in no table: what only a look-up can size.

    They count as findings only where a look-up has sized them, and then for no more than what the table knows as well.
    """
    found: dict[str, Finding] = {}
    for confidence, settings in scope_of(checkout, run).tiers:
        for setting in settings:
            if setting.key in MODEL_KEYS and not NOT_MODELS.search(setting.path.rpartition(".")[0]):
                why = f"`{setting.key}` is `{setting.text.strip()}`"
                hint = Finding("model.id", setting.text.strip(), why, confidence, setting.evidence)
                found.setdefault(hint.value, hint)
    # The program itself, and no module that it imports: there stand encoders and checkers, and what nobody calls.
    scripts = () if run is None or run.script is None else (run.script,)
    for script in scripts:
        for call in script.code.calls if script.code is not None else ():
            for text in loaded_texts(call, script) if not NOT_MODELS.search(call.name) else ():
                why = f"`{call.last}` loads `{text.strip()}`"
                hint = Finding("model.id", text.strip(), why, Confidence.MEDIUM, Evidence(script.path, call.line))
                found.setdefault(hint.value, hint)
    return [
        replace(hint, confidence=min(hint.confidence, Confidence.MEDIUM))
        for hint in found.values()
        if HUB_ID.fullmatch(hint.value)
        and not (HELPER_KEY.search(hint.value) or _GUARD.search(hint.value))
        and not _NOT_THE_HUB.search(hint.value)
        and model_name(hint.value) is None
        and checkout.find_named(hint.value) is None
    ]
