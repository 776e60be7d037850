"""Findings to the question that the memory model is asked: method, numbers, batch, length, sharding."""

from __future__ import annotations

from dataclasses import replace

from gpu_lol_action.analysis.formats.surest import best, value_of_best
from gpu_lol_action.analysis.gpu_counts.whole_copies import FIELD as COPIES
from gpu_lol_action.analysis.media.question import positions_of, with_media
from gpu_lol_action.analysis.memory.padded_texts import padded_length
from gpu_lol_action.analysis.models import full_width_loads
from gpu_lol_action.analysis.models.model_parallel import EXPERT, PIPELINE, RUNTIME, TENSOR, WHOLE_NORMS
from gpu_lol_action.analysis.stated.documented_counts import counts_for_training
from gpu_lol_action.analysis.training import attention_kind
from gpu_lol_action.analysis.training.picture_lengths import PIXELS, with_pictures
from gpu_lol_action.analysis.training.training_precision import TOLD_OFF, UNTOLD, UNTOLD_OF_AXOLOTL
from gpu_lol_action.analysis.training.training_state import HEAD
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.spec import WorkloadType
from gpu_lol_action.estimation.context_lengths import context_length
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.media import OWN
from gpu_lol_action.estimation.ollama_names import scheme_of_tag
from gpu_lol_action.estimation.quantized_names import scheme_in_name
from gpu_lol_action.estimation.vram import Method, Sharding, VramQuestion
from gpu_lol_action.estimation.vram_activations import COMPOSED
from gpu_lol_action.estimation.vram_states import bits_of

DEFAULT_BATCH = 8  # what Hugging Face's Trainer starts with
DEFAULT_LENGTHS = {"vision": 197, "vision-text": 257, "encoder": 512, "embedding": 512, "seq2seq": 512, "asr": 448}
DEFAULT_TRAINING_LENGTH = 1024
LEAST_BATCH_OF_TOKENS = 2048
_OF_SAMPLES = ("per_device_train_batch_size", "per_gpu_train_batch_size")
MOST_TOKENS_AT_ONCE = 65_536  # of a small model that is trained from scratch, on a card of 80 GB
DEFAULT_INFERENCE_LENGTH = 2048
LONGEST_READ = 8192  # of any encoder's published weights (ModernBERT, BGE-M3); a longer one is a server's bound
LONGEST_REQUEST = 32_768  # that a server keeps room for, where the model's family is not known


def question_of(findings: tuple[Finding, ...], workload: WorkloadType, model: ModelFacts) -> VramQuestion:
    """Return what is asked: what the findings say, and the usual where they say nothing."""
    trains = workload is WorkloadType.TRAINING
    method = Method.INFERENCE
    if trains:
        named = best(findings, "training.method")
        method = Method(named.value) if named else Method.FULL
    # A program's own loop computes as its layers were made, where nothing turns them to 16 bit.
    is_own = method is Method.LORA and model.source == "shape"
    is_wide = is_own or method in {Method.FULL, Method.PRETRAIN} or (not trains and full_width_loads.is_wide(findings))
    precision = value_of_best(findings, "training.precision") or ("fp32" if is_wide else "bf16")
    bits = int(
        value_of_best(findings, "model.weight_bits")
        or (4 if method is Method.QLORA else 32 if precision == "fp32" else 16)
    )
    told = best(findings, "training.precision")
    is_untold = told is not None and told.why in {TOLD_OFF, UNTOLD, UNTOLD_OF_AXOLOTL}
    lies_wide = is_untold or value_of_best(findings, "model.weight_bits") == "32"
    if method is Method.LORA and bits == 4:
        method = Method.QLORA
    default = DEFAULT_LENGTHS.get(model.kind, DEFAULT_TRAINING_LENGTH if trains else DEFAULT_INFERENCE_LENGTH)
    engine = value_of_best(findings, "serving.engine")
    if engine is not None:
        default = context_length(model.name) or LONGEST_REQUEST
    said = best(findings, "training.sequence_length")
    length = (
        with_pictures(model, said, default, best(findings, PIXELS)) if trains else int(said.value if said else default)
    )
    if engine is not None and (model.source == "name" or not model.has_shape):
        length = min(
            length, LONGEST_REQUEST
        )  # how much a token of it takes is a guess, and of long contexts a wild one
    if model.kind in {"vision", "vision-text"}:
        length = default  # a number of tokens in code is a text's, not an image's
    if model.kind in {"encoder", "embedding", "reranker"}:
        length = min(length, LONGEST_READ)
    length = padded_length(findings, model, length) if trains else length
    sharding = _sharding(findings)
    checkpointing = value_of_best(findings, "training.gradient_checkpointing")
    batch = (
        _in_samples(
            _batch_size(findings, positions_of(findings) if model.kind == OWN else length), length, model, findings
        )
        if trains
        else 1  # an engine takes as many requests as its card has room for
        if engine is not None
        else _asked_at_once(findings)
    )
    is_sharded = trains or (sharding is not None and Sharding(sharding) is Sharding.ZERO3)  # ZeRO-Inference

    def ways(field: str) -> int:
        return int(value_of_best(findings, field) or 1) if trains else 1

    question = VramQuestion(
        model=model,
        method=method,
        precision=precision,
        weight_bits=16 if bits == 32 and method is Method.LORA and not lies_wide else bits,
        quantization="" if trains else _scheme(findings, bits),
        optimizer=value_of_best(findings, "training.optimizer") or "adamw",
        optimizer_rank=int(value_of_best(findings, "training.optimizer_rank") or 0),
        is_gradient_freed=value_of_best(findings, "training.gradients") == "freed",
        batch_size=batch * (2 if trains and best(findings, "training.pairs") is not None else 1),
        sequence_length=max(1, length // int(value_of_best(findings, "training.sequence_parallel") or 1)),
        is_checkpointing=checkpointing == "on" or (checkpointing is None and method is Method.QLORA),
        gpu_count=int(value_of_best(findings, "hardware.least_count") or 1) if trains else 1,
        sharding=Sharding(sharding) if sharding and trains else Sharding.NONE,
        is_loss_chunked=(chunked := best(findings, "training.chunked_loss")) is not None,
        may_hold_logits=chunked is not None and chunked.confidence is Confidence.LOW,
        has_small_head=best(findings, HEAD) is not None,
        is_pure_low_precision=method is Method.FULL and value_of_best(findings, "training.weights") in {"bf16", "fp16"},
        has_reference=method.trains_everything and best(findings, "training.reference_model") is not None,
        runtime=engine or (value_of_best(findings, RUNTIME) or "" if trains else ""),
        tensor_parallel=ways(TENSOR),
        pipeline_parallel=ways(PIPELINE),
        expert_parallel=ways(EXPERT),
        is_sequence_parallel=best(findings, WHOLE_NORMS) is None,
        lora_rank=int(value_of_best(findings, "training.lora_rank") or 16),
        saved_embeddings=int(value_of_best(findings, "training.saved_embeddings") or 0),
        is_optimizer_offloaded=trains and value_of_best(findings, "training.offload") in {"optimizer", "parameters"},
        is_copied=not trains and best(findings, COPIES) is not None,
        is_parameters_offloaded=is_sharded and value_of_best(findings, "training.offload") == "parameters",
    )
    # Published models are loaded with the kernels of today; a program's own layers compute as they are written.
    attention = value_of_best(findings, attention_kind.FIELD)
    is_composed = trains and attention == COMPOSED
    is_kept = trains and attention == attention_kind.KEPT
    is_eager = is_composed or is_kept or (model.source == "shape" and attention == "eager")
    runtime = COMPOSED if is_composed else question.runtime
    return with_media(replace(question, is_attention_eager=is_eager, runtime=runtime), findings)


def _in_samples(batch: int, length: int, model: ModelFacts, findings: tuple[Finding, ...]) -> int:
    is_of_tokens = batch >= LEAST_BATCH_OF_TOKENS and tokens_taken_for_samples(findings, model) is not None
    return max(1, batch // length) if is_of_tokens else batch


def tokens_taken_for_samples(findings: tuple[Finding, ...], model: ModelFacts) -> Finding | None:
    """Return the batch that is taken as counted in tokens: one of thousands of texts (OpenNMT, fairseq), unless its name counts samples; else None."""
    said = best(findings, "training.batch_size")
    is_text = model.has_shape and model.kind not in {"vision", "vision-text"}
    if said is None or not is_text or int(said.value) < LEAST_BATCH_OF_TOKENS:
        return None
    return None if any(name in said.why for name in _OF_SAMPLES) else said


def _asked_at_once(findings: tuple[Finding, ...]) -> int:
    """Return the samples that a run without training takes at a time; thousands are something else's (clusters, tokens, rows).

    What only stands somewhere in the checkout is a training's.
    """
    said = best(findings, "training.batch_size")
    batch = int(said.value) if said is not None and said.confidence > Confidence.LOW else 1
    return batch if batch < LEAST_BATCH_OF_TOKENS else 1


def _batch_size(findings: tuple[Finding, ...], length: int) -> int:
    """Return the samples that a card holds at a time: what is said, a step's tokens over the cards, or the usual number.

    Steps of more tokens than a card holds are taken in several passes.
    """
    if (at_once := value_of_best(findings, "training.card_tokens")) is not None:
        # Cards that share each text among them are given theirs together.
        ways = int(value_of_best(findings, "training.sequence_parallel") or 1)
        return max(1, int(at_once) * ways // length)
    said, tokens = value_of_best(findings, "training.batch_size"), value_of_best(findings, "training.batch_tokens")
    if said is not None or tokens is None:
        return int(said or DEFAULT_BATCH)
    each = int(tokens) / (stated_count(findings) or 1)
    while each > MOST_TOKENS_AT_ONCE:
        each /= 2
    return max(1, round(each / length))


def _sharding(findings: tuple[Finding, ...]) -> str | None:
    """Return how the run divides its states; a configuration that only lies beside a run on one card is another run's."""
    found = best(findings, "training.sharding")
    if found is None or (found.confidence is Confidence.LOW and stated_count(findings) in {None, 1}):
        return None
    return found.value


def has_batch(findings: tuple[Finding, ...]) -> bool:
    """Return whether anything says how much a card holds at a time."""
    fields = ("training.batch_size", "training.batch_tokens", "training.card_tokens")
    return any(best(findings, field) is not None for field in fields)


def stated_count(findings: tuple[Finding, ...]) -> int | None:
    """Return the GPU count that something says: the run itself, or the documentation where a training shards over an unsaid number."""
    found = best(findings, "hardware.gpu_count")
    if found is not None:
        return max(1, int(found.value))
    sharding, workload = best(findings, "training.sharding"), best(findings, "workload")
    is_training = workload is None or workload.value == "training"
    told = counts_for_training(findings) if is_training else findings
    documented = best(tuple(told), "documented.gpu_count")
    # A batch for all cards was chosen for as many as its authors had.
    is_for_all = sharding is not None or best(findings, "training.batch_spread") is not None
    if documented is None or not is_for_all:
        return None
    if is_training:
        return min(int(documented.value), 8)
    # How a training beside it is sharded, and on how many cards it ran, says nothing of what uses the model; that one does, does.
    return 1 if documented.value == "1" else None


def _scheme(findings: tuple[Finding, ...], bits: int) -> str:
    """Return llama.cpp's scheme where the model's name says it, and says the same width: it lays embeddings out as the rest."""
    name = value_of_best(findings, "model.id") or ""
    scheme = scheme_of_tag(name) or scheme_in_name(name) or ""
    return scheme if scheme.startswith("q") and bits_of(scheme) == bits else ""
