"""The model that the run loads: its id where one is named, else the shape that the code builds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gpu_lol_action.analysis.checkout import Checkout, Source
from gpu_lol_action.analysis.configuration import Setting, read_settings
from gpu_lol_action.analysis.effort import remembered
from gpu_lol_action.analysis.entry_points import Run, import_closure
from gpu_lol_action.analysis.launch_commands import launch_commands
from gpu_lol_action.analysis.model_families import guess_family
from gpu_lol_action.analysis.paths import Form
from gpu_lol_action.analysis.python_code import Call
from gpu_lol_action.analysis.settings import Scope, look_up_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.estimation.model_facts import find_model, is_known_model

MODEL_KEYS = (
    "model_name_or_path", "base_model", "pretrained_model_name_or_path", "model_id", "model_name", "base_model_name_or_path",
    "pretrained_model_name", "pretrained_model", "model_path", "hf_model_id", "base_model_id", "base_model_name", "model",
    "checkpoint", "ckpt_dir", "llama_model", "backbone", "model_type", "arch", "init_from", "repo_id",
)  # fmt: skip
_LOADERS = frozenset({"from_pretrained", "LLM", "SentenceTransformer", "create_model", "load_model", "snapshot_download", "pipeline",
                      "AsyncEngineArgs", "EngineArgs", "WhisperModel", "from_single_file", "YOLO"})  # fmt: skip
_OWNED = re.compile(r"(?:models|timm)\.[\w.]+\s*[(\[]")
_NOT_MODELS = re.compile(r"okeniz|rocessor|xtractor|dataset|scheduler|vae|Config$|LoraModel|PeftModel", re.IGNORECASE)
_MODEL_KEY = re.compile(
    r"(?:\w{1,40}_)?(?:model|llm|checkpoint|ckpt)(?:_(?:name|id|path|dir|type|name_or_path))?|name_or_path"
)
# Models beside the one that the run is about.
_HELPER_KEY = re.compile(
    r"tokeni|teacher|reward|draft|judge|eval|embed|vae|clip|text_encoder|ref(?:erence)?_|critic|assistant"
)
_HELPER_PLACE = re.compile(r"condition|metric|eval|lpips|percep|loss|vae|clip|safety|caption|annotat|embed|tokeni|judge|reward")
# Models that look at what another model makes.
_GUARD = re.compile(r"safety|nsfw|watermark", re.IGNORECASE)
Tiers = tuple[tuple[Confidence, tuple[Setting, ...]], ...]

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
# What looks like an id of the Hub and is a path of this machine.
_NOT_THE_HUB = re.compile(
    r"\.(?:json|bin|pth?|ckpt|safetensors|txt)$|^(?:data|outputs?|out|models?|ckpts?|checkpoints?)/"
)
_SERVED = re.compile(r"vllm serve|sglang|text-generation-launcher")
_SHAPES = {
    "model.layers": (
        ("n_layer", "num_layers", "num_hidden_layers", "n_layers", "num_blocks", "n_blocks", "depth"),
        1,
        400,
    ),
    "model.hidden_size": (
        (
            "n_embd",
            "hidden_size",
            "d_model",
            "model_dim",
            "embed_dim",
            "emb_dim",
            "embedding_dim",
            "dim_model",
            "n_embed",
            "dim",
        ),
        16,
        65536,
    ),
    "model.vocabulary": (("vocab_size", "n_vocab", "padded_vocab_size"), 100, 2_000_000),
    "model.attention_heads": (("n_head", "num_attention_heads", "n_heads", "num_heads"), 1, 512),
}


def detect(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return models by how near the run they are named, then the shape that the run builds."""
    found = [*_from_options(checkout, run), *_from_commands(checkout, run), *_from_run(checkout, run),
             *_from_code(checkout, run), *_from_config_json(checkout)]  # fmt: skip
    found += _unsized(checkout, run)
    unique: dict[str, Finding] = {}
    for finding in found:
        unique.setdefault(finding.value, finding)
    is_named = any(finding.confidence is Confidence.HIGH for finding in unique.values())
    guessed = [] if is_named else guess_family(checkout, run)
    return [*unique.values(), *guessed, *_shape(checkout, run)]


def _from_options(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield models that the run's own options and configuration name."""
    if run is None:
        return
    if run.command is not None and _SERVED.match(run.command.target) is not None:
        for word in run.command.words[1:3]:
            if (name := _model_name(word)) is not None:
                yield Finding("model.id", name, f"`{run.shown}` serves it", Confidence.HIGH, run.evidence)
    yield from _settings(scope_of(checkout, run).tiers[:2])


def _settings(tiers: Tiers) -> Iterator[Finding]:
    for confidence, settings in tiers:
        for key in MODEL_KEYS:
            for setting in settings:
                if setting.key != key or _NOT_MODELS.search(setting.path.rpartition(".")[0]):
                    continue
                name = _model_name(setting.text)
                if name is not None:
                    # A backbone is one part of the model.
                    sure = min(confidence, Confidence.MEDIUM) if key == "backbone" else confidence
                    yield Finding("model.id", name, f"`{key}` is `{name}`", sure, setting.evidence)
        yield from _likely(confidence, settings)


def _likely(confidence: Confidence, settings: tuple[Setting, ...]) -> Iterator[Finding]:
    """Yield models under keys of a program's own making (``DEFAULT_INPUT_MODEL``, ``actor_model_name_or_path``)."""
    for setting in settings:
        if setting.key in MODEL_KEYS or not _MODEL_KEY.fullmatch(setting.key) or _HELPER_KEY.search(setting.key):
            continue
        name = _model_name(setting.text)
        if name is not None:
            why = f"`{setting.key}` is `{name}`"
            yield Finding("model.id", name, why, min(confidence, Confidence.MEDIUM), setting.evidence)


def _from_run(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield models that the run's program starts with or loads."""
    if run is None:
        return
    yield from _settings(scope_of(checkout, run).tiers[2:])
    if run.script is not None:
        for source in import_closure(checkout, run.script):
            confidence = Confidence.HIGH if source is run.script else Confidence.MEDIUM
            # A module about something beside the model loads what is beside the model.
            if source is not run.script and _HELPER_PLACE.search(source.name):
                confidence = Confidence.LOW
            yield from _loads(source, confidence)


def _unsized(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield ids of the Hub that the run names and whose size nothing here tells: a look-up may."""
    for confidence, settings in scope_of(checkout, run).tiers[:3]:
        for setting in settings:
            name = setting.text.strip()
            if setting.key not in MODEL_KEYS[:4] or not _HUB_ID.fullmatch(name) or _NOT_THE_HUB.search(name):
                continue
            if _model_name(name) is None and checkout.find_named(name) is None:
                why = f"`{setting.key}` is `{name}`, whose size is not known"
                yield Finding("model.unsized_id", name, why, confidence, setting.evidence)


def _from_commands(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield models that other documented commands of the same program name: said to a reader, so surer than a default."""
    for command in launch_commands(checkout):
        if run is not None and run.command is not None and command.target != run.command.target:
            continue
        for key in MODEL_KEYS:
            name = _model_name(command.options.get(key, ""))
            if name is not None:
                yield Finding("model.id", name, f"`--{key} {name}` is documented", Confidence.HIGH, command.evidence)


def _from_code(checkout: Checkout, run: Run | None) -> Iterator[Finding]:
    """Yield models that any program of the checkout loads; with a run, they are only a hint."""
    confidence = Confidence.LOW if run is not None else Confidence.MEDIUM
    # Without its ending, so that `demo.py` comes before `demo-large.py`.
    programs = sorted(checkout.of(Form.PYTHON, Form.NOTEBOOK), key=lambda s: (s.depth, s.path.rpartition(".")[0]))
    for source in programs[:200]:
        yield from _loads(source, confidence)


def unknown_ids(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return ids of the Hub that the run names or loads and that are in no table: what only a look-up can size.

    They count as findings only where a look-up has sized them, and then for no more than what the table knows as well.
    """
    found: dict[str, Finding] = {}
    for confidence, settings in scope_of(checkout, run).tiers:
        for setting in settings:
            if setting.key in MODEL_KEYS and not _NOT_MODELS.search(setting.path.rpartition(".")[0]):
                why = f"`{setting.key}` is `{setting.text.strip()}`"
                hint = Finding("model.id", setting.text.strip(), why, confidence, setting.evidence)
                found.setdefault(hint.value, hint)
    # The program itself, and no module that it imports: there stand encoders and checkers, and what nobody calls.
    scripts = () if run is None or run.script is None else (run.script,)
    for script in scripts:
        for call in script.code.calls if script.code is not None else ():
            for text in _loaded(call, script) if not _NOT_MODELS.search(call.name) else ():
                why = f"`{call.last}` loads `{text.strip()}`"
                hint = Finding("model.id", text.strip(), why, Confidence.MEDIUM, Evidence(script.path, call.line))
                found.setdefault(hint.value, hint)
    return [
        replace(hint, confidence=min(hint.confidence, Confidence.MEDIUM))
        for hint in found.values()
        if _HUB_ID.fullmatch(hint.value)
        and not (_HELPER_KEY.search(hint.value) or _GUARD.search(hint.value))
        and not _NOT_THE_HUB.search(hint.value)
        and _model_name(hint.value) is None
        and checkout.find_named(hint.value) is None
    ]


def _loads(source: Source, confidence: Confidence) -> Iterator[Finding]:
    for name, loader, line in _loaded_models(source):
        yield Finding("model.id", name, f"`{loader}` loads `{name}`", confidence, Evidence(source.path, line))


@remembered
def _loaded_models(source: Source) -> tuple[tuple[str, str, int], ...]:
    """Return the models that a program loads, by what and on which line."""
    if source.code is None:
        return ()
    found: list[tuple[str, str, int]] = []
    # Of these owners a constructor may have any name (`models.resnet50`); elsewhere only loaders are looked at.
    is_any = _OWNED.search(source.text) is not None
    for call in source.code.calls if is_any else source.code.calls_named(*sorted(_LOADERS)):
        if _NOT_MODELS.search(call.name):
            continue
        for text in _loaded(call, source):
            name = _model_name(text)
            if name is not None:
                found.append((name, call.last, call.line))
    return tuple(found)


def _loaded(call: Call, source: Source) -> list[str]:
    """Return what a call may load: its first arguments and those by name, or a constructor that is a model's name."""
    if source.code is None:
        return []
    if call.name.startswith(("models.", "torchvision.models.", "timm.")) and call.last not in _LOADERS:
        return [call.last]
    if call.last not in _LOADERS:
        return []
    values = [*call.arguments[:2], *(value for key, value in call.keywords if key in MODEL_KEYS)]
    return [text for value in values if (text := source.code.resolve(value)) is not None]


def _model_name(text: str) -> str | None:
    """Return the text where it names a model: an id of the Hub with a known size, or a name that the table has."""
    bare = text.strip().strip("\"'")
    if not 2 < len(bare) <= 120 or not bare.isprintable() or any(mark in bare for mark in "<>${} ,()"):
        return None
    if bare.startswith(("./", "../", "/", "~")) and not re.search(r"\d[bB]\b", bare):
        return None
    if is_known_model(bare) or (_HUB_ID.fullmatch(bare) and find_model(bare) is not None):
        return bare
    facts = find_model(bare.rstrip("/").rsplit("/", 1)[-1])
    return bare.strip("/") if facts is not None and re.search(r"\d[bB](?![a-z])", bare) else None


def _from_config_json(checkout: Checkout) -> Iterator[Finding]:
    """Yield the shape of a model whose config.json lies in the checkout."""
    for source in checkout.of(Form.JSON)[:50]:
        if source.name != "config.json":
            continue
        settings = {setting.key: setting for setting in read_settings(source)}
        if not {"hidden_size", "num_hidden_layers"} <= settings.keys():
            continue
        for field, (keys, _, _) in _SHAPES.items():
            setting = next((settings[key] for key in keys if key in settings), None)
            if setting is not None:
                yield Finding(
                    field, setting.text, f"`{setting.key}` in config.json", Confidence.MEDIUM, setting.evidence
                )
        return


def _shape(checkout: Checkout, run: Run | None) -> list[Finding]:
    """Return layers, width and vocabulary that the run builds a transformer with.

    Layers and width have to stand together, in what the run starts with or in one file: those of two files are two models'.
    """
    scope = scope_of(checkout, run)
    for part in _places(scope):
        found = list(_dimensions(part))
        if {"model.layers", "model.hidden_size"} <= {finding.field for finding in found}:
            known = {finding.field for finding in found}
            return [*found, *(finding for finding in _dimensions(scope) if finding.field not in known)]
    return []


def _places(scope: Scope) -> Iterator[Scope]:
    """Yield what may hold a shape: the run's own settings together, then each further file."""
    yield Scope(tuple(tier for tier in scope.tiers if tier[0] is Confidence.HIGH))
    for confidence, settings in scope.tiers:
        if confidence is not Confidence.HIGH:
            files: dict[str, list[Setting]] = {}
            for setting in settings:
                files.setdefault(setting.evidence.path, []).append(setting)
            yield from (Scope(((confidence, tuple(found)),)) for found in files.values())


def _dimensions(scope: Scope) -> Iterator[Finding]:
    for field, (keys, low, high) in _SHAPES.items():
        number = look_up_number(scope, keys, low, high)
        if number is not None:
            why = f"`{number.setting.key}` is {number.text}"
            yield Finding(field, number.text, why, number.confidence, number.evidence)
