"""Findings of pictures, video and sound to the question for the estimator; pure, for whoever asks it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gpu_lol_action.analysis.media import quantized_parts
from gpu_lol_action.analysis.media.cropped_volumes import PARTS
from gpu_lol_action.analysis.media.sizes import image_size
from gpu_lol_action.analysis.networks.repeated_blocks import is_one_layer
from gpu_lol_action.analysis.networks.values import A_ROW
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.media import OWN, PICTURE_KINDS
from gpu_lol_action.estimation.media_facts import find_network, find_pipeline
from gpu_lol_action.estimation.media_pipelines import NUMBERS_PER_POINT, SCENE
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.vram_question import VramQuestion

SMALL_PICTURE = 64
# Networks for pictures this small begin without the stem that shrinks a large picture fourfold (He et al. 2016, section 4.2).
STEM = 4
WHOLE = 1.3
# Of the weights of a transformer's block per square of its width four are in attention, eight in its two dense layers.
FAR, BLOCK = 8, 12
LONGEST_SOUND, POSITIONS_PER_SECOND = 60, 50
"""Seconds of a sound, and how many positions per second encoders and codecs make of it (wav2vec 2.0 and HuBERT 50, EnCodec 75, Conformers 25)."""
PART = 0.9  # of a backbone's weights: the head for its classes is left off
DEFAULT_POSITIONS = 256
LONGEST_PADDED = 512  # a longer limit cuts off what hardly ever comes, where texts are padded to the longest of a batch
OWN_POSITIONS = "media.own_positions"
PADDED_POSITIONS = 64  # the longest of a batch of sentences, which are 20 to 30 words long in corpora for translation
# Modules that look at a picture, to draw another after it.
_ENCODER = regex(
    r"(?:^|[/_])(?:(?:eva_?|open_?)?clip|siglip|dino(?:v2)?|arcface|insightface|facexlib|iresnet|vit)(?:[/_.]|$)",
    re.IGNORECASE,
)
LARGEST_AT_32_BIT = 1.5  # billion parameters of a pipeline: Stable Diffusion 2 has 1.3
MOST_PICTURES = 32  # longer clips are made piece by piece
# What ultralytics' trainer trains with autocast by default (``amp=True``); programs of one's own do what they say.
MIXED_UNLESS_TOLD = ("yolo", "rtdetr")
# Before PyTorch 2 attention was fused only by a package beside it.
_BEFORE_FUSED_ATTENTION = regex(r"(?:==|<=?|~=)\s*[01]\.\d|<\s*2(?:\.0)*\s*(?:,|$)")


def whole_network(
    findings: tuple[Finding, ...], named: Finding | None, sizes: Mapping[str, ModelFacts]
) -> ModelFacts | None:
    """Return the network for pictures of which a named model is only the backbone: a counted detector, or the program's own if surely read."""
    if (detector := _detector_around(findings, named, sizes)) is not None:
        return detector
    own = _best(findings, "media.own_parameters")
    if own is None or own.confidence is not Confidence.HIGH:
        return None
    if named is not None and named.value == _text(findings, "media.own_known_as"):
        return _own_model(findings, int(own.value) / 1e9)
    if named is not None and named.confidence is Confidence.HIGH:
        return None
    if _text(findings, "media.own_file") and named is not None:
        # What the run's own file lists, whatever a program starts with.
        return _own_model(findings, int(own.value) / 1e9)
    if named is None and _is_said_larger(findings, int(own.value)):
        return None
    if named is None and is_part_of_pipeline(findings, FAR * int(own.value)):
        return None
    if named is None:
        is_language = _best(findings, "model.vocabulary") is not None or _is_of_family(findings)
        return None if is_language else media_model(findings)
    model = sizes.get(named.value) or find_model(named.value)
    if model is None:  # of a size that nobody knows, and named somewhere besides
        return media_model(findings) if named.confidence is Confidence.LOW else None
    parameters_b = int(own.value) / 1e9
    if model.kind in PICTURE_KINDS:
        return media_model(findings) if parameters_b >= PART * model.parameters_b else None
    # Of a network that takes pictures and is far larger than a language model, that is the part that reads the text.
    is_beside_text = _best(findings, "media.image_size") is not None and parameters_b >= WHOLE * model.parameters_b
    return media_model(findings) if is_beside_text else None


def _detector_around(
    findings: tuple[Finding, ...], named: Finding | None, sizes: Mapping[str, ModelFacts]
) -> ModelFacts | None:
    """Return the counted detector that the program builds around the backbone that is named; None where it builds none."""
    built = _best(findings, "media.network")
    network = find_network(built.value) if built is not None else None
    if named is None or built is None or network is None or network.family != "detection":
        return None
    backbone = sizes.get(named.value) or find_model(named.value)
    is_part = backbone is not None and backbone.kind == "vision" and backbone.parameters_b < network.parameters_m / 1000
    return find_model(built.value) if is_part else None


def _is_said_larger(findings: tuple[Finding, ...], parameters: int) -> bool:
    """Whether the run's own numbers make a transformer far larger than the network that was followed: it is a wrapper, or a part."""
    layers, width = _best(findings, "model.layers"), _best(findings, "model.hidden_size")
    if layers is None or width is None or _best(findings, "model.attention_heads") is None:
        return False
    if min(layers.confidence, width.confidence) is not Confidence.HIGH:
        return False
    return BLOCK * int(layers.value) * int(width.value) ** 2 > FAR * parameters


def is_part_of_pipeline(findings: tuple[Finding, ...], parameters: float) -> bool:
    """Whether classes of a published diffusion model are loaded whose denoiser has more parameters than what was read: its sizes stand beside its weights."""
    family = _best(findings, "model.family")
    pipeline = find_pipeline(family.value) if family is not None else None
    return pipeline is not None and 1e6 * pipeline.denoiser_m > parameters


def _is_of_family(findings: tuple[Finding, ...]) -> bool:
    """Whether a family of language models is named and nothing speaks of pictures: little of it may have been followed. What is built to be trained from scratch may only sound like one."""
    family, is_built = _best(findings, "model.family"), _text(findings, "training.method") == "pretrain"
    is_alike = family is None or (is_built and family.confidence is Confidence.LOW)
    return not is_alike and _best(findings, "media.image_size") is None


def media_model(findings: Iterable[Finding]) -> ModelFacts | None:
    """Return the model where nothing else names one: a counted network, else the program's own; None without either.

    A network of one's own that is larger than a counted one is the whole of which that is the backbone.
    """
    known = tuple(findings)
    named, own = _best(known, "media.network"), _best(known, "media.own_parameters")
    counted = (
        find_model(named.value) if named is not None and named.value != _text(known, "media.own_known_as") else None
    )
    if own is None or own.confidence is Confidence.LOW:  # too many of its layers could not be sized
        return counted
    parameters_b = int(own.value) / 1e9
    # A network that was read to its last layer has no part that it would be: other modules than the run's build it.
    is_part = not _is_read_whole(own) or _is_head(known, named, own)
    if counted is not None and counted.parameters_b >= parameters_b and is_part:
        return counted
    return _own_model(known, parameters_b)


def built_instead(findings: tuple[Finding, ...], shape: ModelFacts) -> ModelFacts | None:
    """Return the network that the program builds and trains, where it is read to its last layer and far from the numbers that were found.

    Those are then of another run of the same class: a preset, a published size. None where they agree, or weights are loaded.
    """
    own, layers = _best(findings, "media.own_parameters"), _best(findings, "model.layers")
    is_trained = _text(findings, "training.method") in {"full", "pretrain"}
    is_said = layers is not None and layers.confidence is Confidence.HIGH  # by the command or its configuration
    if own is None or is_said or not is_trained or not _is_read_whole(own):
        return None
    own_b = int(own.value) / 1e9
    is_far = not 1 / FAR < own_b / max(shape.parameters_b, 1e-9) < FAR
    return _own_model(findings, own_b) if is_far and not is_one_layer(own_b, shape) else None


def _is_read_whole(own: Finding) -> bool:
    """Whether every layer of the program's own network was sized."""
    return own.confidence is Confidence.HIGH and "could not be sized" not in own.why


def _is_head(known: tuple[Finding, ...], named: Finding | None, own: Finding) -> bool:
    """Whether what was read is a row of layers beside the network that the same program builds (``Dense(702)(base.output)``): its head."""
    is_row = _text(known, "media.own_network") == A_ROW
    return is_row and named is not None and named.evidence.path == own.evidence.path


def _own_model(known: tuple[Finding, ...], parameters_b: float) -> ModelFacts:
    name = _best(known, "media.own_network")
    return ModelFacts(name.value if name is not None else "own network", OWN, parameters_b, source="layers")


def _is_of_an_encoder(finding: Finding) -> bool:
    """Whether a size of pictures is what a module beside a pipeline looks at (``eva_clip/model.py``: 224), and not what is drawn."""
    is_guess = finding.field == "media.image_size" and finding.confidence is not Confidence.HIGH
    return is_guess and _ENCODER.search(finding.evidence.path) is not None


def with_media(question: VramQuestion, findings: Iterable[Finding]) -> VramQuestion:
    """Return the question with what the findings say of pictures, clips, sounds and a network's own layers."""
    trains = question.method.trains
    is_made = question.model.kind.startswith("diffusion") and not trains
    known = tuple(finding for finding in findings if not (is_made and _is_of_an_encoder(finding)))
    size = image_size(known) or (0, 0)
    if "x" not in _text(known, "media.image_size"):
        size = (size[0], 0)  # one side: the other follows from the model's usual shape
    network = find_network(question.model.name)
    if network is not None and network.family == "vision" and 0 < size[0] <= SMALL_PICTURE:
        size = (size[0] * STEM, size[1] * STEM)
    is_picture = question.model.kind == OWN or question.model.kind in PICTURE_KINDS
    views = float(_text(known, "media.views") or 1) if is_picture and question.method.trains_everything else 1.0
    views *= (_whole(known, PARTS) or 1) if is_picture and trains else 1
    is_pair = _best(known, "training.pairs") is not None  # of answers, which are counted as such
    views *= (_whole(known, "media.passes") or 1) if trains and not is_pair else 1
    is_clip = question.model.kind in {"diffusion-video", "video"} or (network is not None and network.is_volume)
    trained_part = _text(known, "media.trained_part") if trains else ""
    is_guided = trained_part == SCENE
    is_ultralytics = any(f.value.startswith("ultralytics") for f in known if f.field == "dependencies.requirements")
    is_mixed = network is not None and network.name.startswith(MIXED_UNLESS_TOLD) and is_ultralytics and trains
    return replace(
        question,
        precision=_precision(question, known, is_mixed=is_mixed),
        weight_bits=32 if _is_built_to_infer(question, known) and question.weight_bits == 16 else question.weight_bits,
        batch_size=math.ceil(question.batch_size * views * _pictures(question, known) * _tubes(question, known)),
        image_height=0 if is_guided else size[0],  # a guide looks at pictures of its own size
        image_width=0 if is_guided else size[1],
        frames=_whole(known, "media.frames") if is_clip else 0,
        audio_seconds=_seconds(known, question),
        trained_part=trained_part,
        is_one_part_at_a_time=(_text(known, "media.offload") == "parts" or bool(_text(known, "memory.managed")))
        and not question.method.trains,
        is_parameters_offloaded=question.is_parameters_offloaded
        or (_text(known, "media.offload") == "layers" and not question.method.trains),
        is_text_encoder_elsewhere=_text(known, "media.text_encoder") == "elsewhere",
        is_denoiser_quantized_alone=_text(known, quantized_parts.FIELD) == quantized_parts.DENOISER,
        are_latents_cached=_text(known, "media.latents") == "cached",
        runtime=_text(known, "media.runtime") or question.runtime,
        is_attention_fused=not _BEFORE_FUSED_ATTENTION.search(_text(known, "framework.torch")),
        output_classes=_whole(known, "media.classes"),
        sample_elements=_whole(known, "media.scene_points") * NUMBERS_PER_POINT
        if is_guided
        else _elements(known, question, "media.own_outputs"),
        sample_at_work=_elements(known, question, "media.own_at_work"),
    )


def _tubes(question: VramQuestion, known: tuple[Finding, ...]) -> int:
    """Return how many times what one picture keeps a network over clips keeps: for each picture, or for a tube of every few of a transformer."""
    if question.model.kind != "vision":
        return 1
    frames = next((f for f in known if f.field == "media.frames"), None)
    is_said = frames is not None and frames.confidence is Confidence.HIGH and question.method.trains
    tubelet = (_whole(known, "media.tubelet") if question.model.layers else 0) or int(is_said)
    return max(1, _whole(known, "media.frames") // tubelet) if tubelet else 1


def _pictures(question: VramQuestion, known: tuple[Finding, ...]) -> int:
    """Return how many pictures a denoiser for pictures makes, or is trained on, at once: those of a clip where it is taken to clips."""
    is_clip = question.model.kind == "diffusion-image" and _text(known, "media.pictures") == "clip"
    frames = max(1, _whole(known, "media.frames")) if is_clip else 1
    return frames if question.method.trains else min(frames, MOST_PICTURES)


def _precision(question: VramQuestion, known: tuple[Finding, ...], *, is_mixed: bool) -> str:
    if _is_built_to_infer(question, known):
        return "fp32"
    return "fp16" if is_mixed and _best(known, "training.precision") is None else question.precision


def _is_built_to_infer(question: VramQuestion, known: tuple[Finding, ...]) -> bool:
    """Whether what the program builds or loads infers at 32 bit, as libraries make it: nothing says otherwise.

    So do the first pipelines for pictures that it loads by name. Who runs a larger one says at how many bits.
    """
    if question.method.trains or _best(known, "training.precision") is not None:
        return False
    named = _best(known, "model.id")
    is_loaded = named is not None and named.confidence is Confidence.HIGH and named.evidence.path.endswith(".py")
    is_small = question.model.kind == "diffusion-image" and question.model.parameters_b <= LARGEST_AT_32_BIT
    return question.model.kind == OWN or (is_loaded and is_small)


def _elements(findings: tuple[Finding, ...], question: VramQuestion, field: str) -> float:
    """Return numbers per sample that a network of one's own keeps or has at work: per position of a sequence times its length."""
    if question.model.kind != OWN:
        return 0.0
    outputs = float(_text(findings, field) or 0)
    if _text(findings, "media.own_sequence") != "yes":
        return outputs
    seconds = float(_text(findings, "media.audio_seconds") or 0)
    if _best(findings, "training.sequence_length") is None and seconds:
        # Samplers of sounds count the seconds of a whole batch (lhotse's ``max_duration``); nobody learns from single sounds so long.
        samples = question.batch_size if seconds > LONGEST_SOUND else 1
        return outputs * seconds * POSITIONS_PER_SECOND / samples
    return outputs * positions_of(findings)


def _seconds(findings: tuple[Finding, ...], question: VramQuestion) -> float:
    """Return the seconds of one sample: of a whole batch's, that no single sound has, its share."""
    seconds = float(_text(findings, "media.audio_seconds") or 0)
    return seconds / question.batch_size if seconds > LONGEST_SOUND and question.method.trains else seconds


def positions_of(findings: tuple[Finding, ...]) -> int:
    """Return the positions of a sample of a network of one's own over sequences: as said, else all that it has rows for, else the usual."""
    length = _best(findings, "training.sequence_length")
    is_padded = _best(findings, "training.padding") is not None
    if length is not None and not (is_padded and int(length.value) > LONGEST_PADDED):
        return int(length.value)
    return PADDED_POSITIONS if is_padded else _whole(findings, OWN_POSITIONS) or DEFAULT_POSITIONS


def _best(findings: tuple[Finding, ...], field: str) -> Finding | None:
    found = [finding for finding in findings if finding.field == field]
    return max(found, key=lambda finding: finding.confidence, default=None)


def _text(findings: tuple[Finding, ...], field: str) -> str:
    found = _best(findings, field)
    return found.value if found is not None else ""


def _whole(findings: tuple[Finding, ...], field: str) -> int:
    return int(_text(findings, field) or 0)
