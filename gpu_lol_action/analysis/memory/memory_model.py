"""Which model a run is about, and how large it is: named, looked up, built by the code, or the usual one of its family."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from gpu_lol_action.analysis.documents.wordless import WORDLESS
from gpu_lol_action.analysis.formats.surest import best, value_of_best
from gpu_lol_action.analysis.media.question import built_instead, is_part_of_pipeline, media_model, whole_network
from gpu_lol_action.analysis.models.model_loads import is_helper_place
from gpu_lol_action.analysis.stated.documented_sizes import documented_model, is_linked, is_titled
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.media_facts import find_pipeline
from gpu_lol_action.estimation.megatron import Flags, model_of_flags
from gpu_lol_action.estimation.model_facts import find_model, shape_model

# A published figure over so many times the estimate is not explained by the model that was recognized.
EXPLAINS = 4
FAR_LARGER = 8
WORD_PIECES = 50_304  # GPT-2's vocabulary, padded: where a program does not say its own
CHARACTERS = 256  # what models of a few hundred kilobytes learn is spelled, not read in word pieces
NARROW = 128
FEWEST_BLOCKS = 4
LEAST_ADAPTED_B = 0.05
"""Billions of parameters of the smallest models that adapters are published for (distilled encoders have 66 M)."""
_LIBRARY_FILE = regex(r"(?:^|/)(?:configuration|modeling|config)(?:_\w+)?\.py$")
_ANY = "`AutoModelForCausalLM"
_CONFIGURATION_FILE = regex(r"(?:^|/)configuration_\w+\.py$")
_TEXT_ENCODER_PLACE = regex(r"(?:^|/)text_?encoders?/", re.IGNORECASE)
_FOR_ANY = regex(r"`(?:\w+\.)*Auto\w*\.|the (?:file|program)'s name")
_CHATS = regex(r"`Auto\w*` loads a model with code of its own")
_SERVES_ANY = regex(r"`\w+` serves a language model that nothing names")
_TEXT_ENCODERS = frozenset({"seq2seq", "encoder", "embedding", "vision-text"})  # which read a diffusion model's prompt


def model_of(findings: tuple[Finding, ...], known: Mapping[str, ModelFacts]) -> ModelFacts | None:
    """Return the facts of the model that is surest; a shape that the code builds wins over a name that is only a hint.

    A model that only some other program of the checkout loads is no evidence where it is known what is started.
    """
    named = _not_only_hearing(findings, best(findings, "model.id"))
    method = best(findings, "training.method")
    builds = method is not None and method.value == "pretrain"
    trains = method is not None
    unsized = best(findings, "model.unsized_id")
    if unsized is not None and (named is None or unsized.confidence > named.confidence):
        # Of a server of any model the README says more than what its users mostly serve.
        told = documented_model(findings) if best(findings, "serving.engine") is not None else None
        return known.get(unsized.value) or _told_by_its_class(findings) or told or _usual_of_its_class(findings)
    hinted = None
    if named is not None and named.confidence is Confidence.LOW:
        named, hinted = None, _only_one(findings) if trains and not builds else None
    if (own := whole_network(findings, named, known)) is not None and (
        named is not None or not _is_told_larger(findings, own)
    ):
        return own
    shape = _shape(findings)
    if shape is not None and (
        _is_beside_adapters(findings, shape)
        or _is_of_a_part(findings)
        or _is_of_denoiser(findings, shape)
        or _is_of_text_encoder(findings)
        or (not trains and named is None and _is_copied(findings))
    ):
        shape = None
    if shape is not None and named is None and (built := built_instead(findings, shape)) is not None:
        return built
    layers, vocabulary = best(findings, "model.layers"), best(findings, "model.vocabulary")
    # Numbers in a library's code are many models' numbers: without training, one file must name the whole language model.
    is_whole = layers is not None and vocabulary is not None and layers.evidence.path == vocabulary.evidence.path
    is_meant = trains or is_whole or _is_of_command(findings)
    is_nearer = named is None or (builds and (layers is None or layers.confidence >= named.confidence))
    if shape is not None and is_meant and is_nearer and not (trains and not builds and _is_of_library(findings)):
        return shape
    if named is None and trains and not builds and (configured := _configured(findings)) is not None:
        return known.get(configured) or find_model(configured)
    if named is None and not builds and (elsewhere := _of_other_programs(findings)) is not None:
        return known.get(elsewhere) or find_model(elsewhere)
    if named is None or _is_only_a_helper(findings, named):
        family = best(findings, "model.family")
        if family is not None and not (builds and named is None and _is_of_a_part(findings)):
            is_told = not trains and (
                _FOR_ANY.match(family.why)
                or _CHATS.match(family.why)
                or _SERVES_ANY.match(family.why)
                or is_titled(findings)
                or _is_copied(findings)
            )
            told = documented_model(findings) if is_told else None
            return told or (None if trains else _own_instead(findings, family)) or find_model(family.value)
    if named is None:
        own = media_model(findings) or (find_model(hinted) if hinted is not None else None)
        return documented_model(findings) if own is None or _is_told_larger(findings, own) else own
    return known.get(named.value) or find_model(named.value) or find_model(named.value.rsplit("/", 1)[-1])


def _not_only_hearing(findings: tuple[Finding, ...], named: Finding | None) -> Finding | None:
    """Return the named model, but for one that writes down what is said, beside a run that sees pictures or makes clips: it is not what that is for."""
    sees = best(findings, "media.image_size") is not None or best(findings, "media.frames") is not None
    if named is None or not sees or best(findings, "media.audio_seconds") is not None:
        return named
    model = find_model(named.value) or find_model(named.value.rsplit("/", 1)[-1])
    return None if model is not None and model.kind == "asr" else named


def _is_of_command(findings: tuple[Finding, ...]) -> bool:
    """Whether the command that runs a model says itself of how many layers it is, how wide, and of how many heads."""
    fields = ("model.layers", "model.hidden_size", "model.attention_heads")
    said, entry = [best(findings, field) for field in fields], best(findings, "entry_point")
    return entry is not None and all(
        each is not None and each.confidence is Confidence.HIGH and each.evidence == entry.evidence for each in said
    )


def _own_instead(findings: tuple[Finding, ...], family: Finding) -> ModelFacts | None:
    """Return the network that the run's own programs surely build, where a class that loads anything says only that a language model may be beside it."""
    own = best(findings, "media.own_parameters")
    is_sure = own is not None and own.confidence is Confidence.HIGH
    return media_model(findings) if is_sure and _FOR_ANY.match(family.why) else None


def _is_of_denoiser(findings: tuple[Finding, ...], shape: ModelFacts) -> bool:
    """Whether the numbers are of a published diffusion model's denoiser, whose blocks hold more than a language model's: none has a vocabulary."""
    layers = best(findings, "model.layers")
    is_said = layers is not None and layers.confidence is Confidence.HIGH
    is_text = best(findings, "model.vocabulary") is not None
    return not (is_said or is_text) and is_part_of_pipeline(findings, 1e9 * shape.parameters_b)


def _is_of_text_encoder(findings: tuple[Finding, ...]) -> bool:
    """Whether the numbers stand in a folder for what reads the prompts, beside a pipeline that makes pictures or clips of them."""
    layers, family = best(findings, "model.layers"), best(findings, "model.family")
    if layers is None or family is None or find_pipeline(family.value) is None:
        return False
    return _TEXT_ENCODER_PLACE.search(layers.evidence.path) is not None


def _told_by_its_class(findings: tuple[Finding, ...]) -> ModelFacts | None:
    """Return what the checkout tells of a model whose size is not known: the shape that its own configuration's class starts with.

    Weights that authors publish beside their code are mostly of the numbers that this code has by default.
    """
    layers = best(findings, "model.layers")
    others = [best(findings, f"model.{name}") for name in ("hidden_size", "vocabulary", "attention_heads")]
    if layers is None or _CONFIGURATION_FILE.search(layers.evidence.path) is None:
        return None
    is_whole = all(other is not None and other.evidence.path == layers.evidence.path for other in others)
    return _shape(findings) if is_whole else None


def _usual_of_its_class(findings: tuple[Finding, ...]) -> ModelFacts | None:
    """Return the usual model of the class that weights of an unknown size are loaded into; a class for any model says nothing."""
    family = best(findings, "model.family")
    is_any = family is None or _FOR_ANY.match(family.why) is not None
    return find_model(family.value) if family is not None and not is_any else None


def _only_one(findings: tuple[Finding, ...]) -> str | None:
    """Return the only model that other programs of the checkout load: what a fine-tuning script takes from a path of its user's."""
    named = {f.value for f in findings if f.field == "model.id" and not is_helper_place(f.evidence.path)}
    return next(iter(named)) if len(named) == 1 else None


def _of_other_programs(findings: tuple[Finding, ...]) -> str | None:
    """Return the only language model that other programs load, under whichever names, where the run's own says no more than that it loads one."""
    family = best(findings, "model.family")
    if family is None or not family.why.startswith(_ANY):
        return None
    loaded = [f.value for f in findings if f.field == "model.id" and not is_helper_place(f.evidence.path)]
    models = {name: model for name in loaded if (model := find_model(name)) is not None}
    sizes = {model.parameters_b for model in models.values() if model.kind.startswith("llm")}
    is_one = len(sizes) == 1 and all(name in models for name in loaded)
    return next((n for n, model in models.items() if model.kind.startswith("llm")), None) if is_one else None


def _configured(findings: tuple[Finding, ...]) -> str | None:
    """Return the model that a configuration beside the program names, though nothing says that the run reads it: nearer than a family's usual one."""
    named = (
        f for f in findings if f.field == "model.id" and f.evidence.path.endswith((".yaml", ".yml", ".json", ".toml"))
    )
    return next((finding.value for finding in named), None)


def _is_only_a_helper(findings: tuple[Finding, ...], named: Finding) -> bool:
    """Whether the named model is an encoder beside the main one: named in an imported file, far smaller than the family."""
    family = best(findings, "model.family")
    if family is None or named.confidence is Confidence.HIGH:
        return False
    model, usual = find_model(named.value), find_model(family.value)
    if model is None or usual is None:
        return False
    if usual.kind.startswith("diffusion") and model.kind in _TEXT_ENCODERS:
        return True
    if model.kind.startswith("llm") and usual.kind in _TEXT_ENCODERS:
        return False  # what writes is beside nothing that reads
    if model.kind == usual.kind and named.evidence.path == family.evidence.path:
        return False  # where the class stands, the same program names what it loads
    if model.kind.startswith("llm") and family.why.startswith(_ANY):
        return False  # a class that loads whatever it is told says no size
    far = EXPLAINS if model.kind == usual.kind else 1.5
    return usual.parameters_b > far * model.parameters_b


def _is_of_library(findings: tuple[Finding, ...]) -> bool:
    """Whether the shape is what a library's configuration starts with, while the run loads weights of a family that is known.

    Such a class has the numbers of one of its models (ALBERT's those of the largest); a local folder's ``config.json`` says others.
    """
    layers, family = best(findings, "model.layers"), best(findings, "model.family")
    if layers is None or family is None or layers.confidence is Confidence.HIGH:
        return False
    return _LIBRARY_FILE.search(layers.evidence.path) is not None


def _is_copied(findings: tuple[Finding, ...]) -> bool:
    """Whether the shape is a copied library's, whose numbers are those of the family's largest, beside weights that the documentation links to."""
    return is_linked(findings) and _is_of_library(findings)


def _is_beside_adapters(findings: tuple[Finding, ...], shape: ModelFacts) -> bool:
    """Whether a small shape is of a part beside the loaded model that gets the adapters: nobody adapts a few million weights."""
    method = best(findings, "training.method")
    is_adapted = method is not None and method.value in {"lora", "qlora"}
    return is_adapted and shape.parameters_b < LEAST_ADAPTED_B and best(findings, "model.family") is not None


def _is_told_larger(findings: tuple[Finding, ...], own: ModelFacts) -> bool:
    """Whether a document says that the model has far more parameters: a class starts with small sides where a checkpoint brings its own."""
    told = documented_model(findings)
    return told is not None and told.parameters_b > FAR_LARGER * own.parameters_b


def _is_of_a_part(findings: tuple[Finding, ...]) -> bool:
    """Whether layers and widths are those of a part: no vocabulary is told, and the network that the program builds is another.

    A program that builds a network of its own which could not be sized is not known by the numbers of some module of it (an
    encoder of sounds, a predictor of pitch).
    """
    own, layers = best(findings, "media.own_network"), best(findings, "model.layers")
    is_open = own is not None and own.confidence is Confidence.LOW and layers is not None
    family = best(findings, "model.family")
    is_told = best(findings, "model.vocabulary") is not None or (
        family is not None and family.confidence > Confidence.LOW
    )
    return is_open and not is_told and layers is not None and layers.confidence is not Confidence.HIGH


def _shape(findings: tuple[Finding, ...]) -> ModelFacts | None:
    numbers = {}
    for field in ("model.layers", "model.hidden_size", "model.vocabulary", "model.attention_heads"):
        found = best(findings, field)
        numbers[field] = int(float(found.value)) if found else 0
    if not numbers["model.layers"] or not numbers["model.hidden_size"]:
        return None
    if numbers["model.layers"] == 1 and not numbers["model.vocabulary"] and not numbers["model.attention_heads"]:
        return None  # one block of a perceptron (an agent's `n_blocks = 1`): no text model is made of one
    if not numbers["model.vocabulary"] and best(findings, "media.image_size") is not None:
        if numbers["model.layers"] < FEWEST_BLOCKS and not numbers["model.attention_heads"]:
            return None  # a recurrent part's layers
        facts = shape_model("own vision transformer", layers=numbers["model.layers"], hidden_size=numbers["model.hidden_size"],
                            vocabulary=0, heads=numbers["model.attention_heads"])  # fmt: skip
        return replace(facts, kind="vision")
    family = best(findings, "model.family")
    usual = find_model(family.value) if family is not None else None
    if not numbers["model.vocabulary"] and usual is not None and usual.kind == "encoder":
        facts = shape_model("own transformer", layers=numbers["model.layers"], hidden_size=numbers["model.hidden_size"],
                            vocabulary=usual.vocabulary, heads=numbers["model.attention_heads"])  # fmt: skip
        return replace(facts, kind="encoder")
    layers, experts = best(findings, "model.layers"), best(findings, "model.experts")
    is_mixture = layers is not None and experts is not None and experts.evidence.path == layers.evidence.path
    if (is_mixture or best(findings, "training.runtime") is not None) and (
        built := _of_flags(findings, numbers)
    ) is not None:
        return built
    usual_words = CHARACTERS if numbers["model.hidden_size"] <= NARROW else WORD_PIECES
    vocabulary = numbers["model.vocabulary"] or (0 if best(findings, WORDLESS) is not None else usual_words)
    return shape_model("own transformer", layers=numbers["model.layers"], hidden_size=numbers["model.hidden_size"],
                       vocabulary=vocabulary, heads=numbers["model.attention_heads"])  # fmt: skip


def _of_flags(findings: tuple[Finding, ...], numbers: Mapping[str, int]) -> ModelFacts | None:
    """Return the model that Megatron-LM's flags build; None where they say no more than any trainer's."""

    def number(field: str) -> int:
        return int(value_of_best(findings, field) or 0)

    flags = Flags(
        numbers["model.layers"], numbers["model.hidden_size"], numbers["model.vocabulary"] or WORD_PIECES, numbers["model.attention_heads"],
        number("model.kv_heads"), number("model.feed_forward"), number("model.experts"), number("model.experts_used"),
        is_gated=value_of_best(findings, "model.is_gated") == "yes", is_untied=value_of_best(findings, "model.is_untied") == "yes",
    )  # fmt: skip
    return model_of_flags(flags) if flags.feed_forward or flags.experts or flags.is_gated or flags.is_untied else None
