"""The memory question behind named cells of text: options of a command, or a row of a table; both use the table's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.estimation.known_models import ModelFacts
from gpu_lol_action.estimation.model_facts import find_model
from gpu_lol_action.estimation.quantized_names import scheme_in_name
from gpu_lol_action.estimation.vram_question import Method, Sharding, VramQuestion
from gpu_lol_action.estimation.vram_shape import model_of_shape, typical_model
from gpu_lol_action.estimation.vram_states import QUANTIZATIONS, bits_of
from gpu_lol_action.intake.estimate_words import (
    METHODS,
    PRECISIONS,
    TRUTHS,
    read_attention,
    read_offload,
    read_precision,
    read_scheme,
    read_sharding,
    read_size,
    read_whole,
)

ASSUMED_TRAINING_TOKENS = 1024
ASSUMED_INFERENCE_TOKENS = 2048
MOST_CARDS = 100_000
LARGEST_WHOLE = 1_000_000_000
_DIFFUSION = re.compile(
    r"diffusion|controlnet|\bsd[-_]?\d|sdxl|flux|dreambooth|unet|pixart|kandinsky|cogvideo", re.IGNORECASE
)
_SPEECH = re.compile(r"whisper|wav2vec|conformer|seamless", re.IGNORECASE)
_VISION = re.compile(r"resnet|efficientnet|convnext|\bvit\b|vit-|swin|yolo|detr|mask.?rcnn|segment", re.IGNORECASE)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CellProblem:
    """A cell that cannot be read: its name, its text, what it may be; or, with no text, one that is missing."""

    column: str
    text: str
    what: str


@dataclass(frozen=True, slots=True)
class Estimated:
    """A question that can be asked, what was assumed for it, and the cells that were passed over."""

    question: VramQuestion
    assumed: tuple[str, ...]
    problems: tuple[CellProblem, ...] = ()


@dataclass(slots=True)
class _Reader:
    """Reads cells by name and keeps the problems and assumptions it meets."""

    cells: Mapping[str, str]
    problems: list[CellProblem] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)

    def text(self, column: str) -> str:
        return self.cells.get(column, "").strip().lower()

    def read(self, column: str, reader: Callable[[str], _T | None], what: str) -> _T | None:
        """Return the cell's value; None where it is empty or, with a problem, where it cannot be read."""
        raw = self.cells.get(column, "").strip()
        if not raw:
            return None
        value = reader(raw.lower())
        if value is None:
            self.problems.append(CellProblem(column, raw, what))
        return value

    def whole(self, column: str, least: int = 0, most: int = LARGEST_WHOLE) -> int | None:
        """Return a whole number; `8.0` is one."""
        return self.read(column, lambda text: read_whole(text, least, most), f"a whole number from {least} on")


_OF_ATTENTION = regex(
    r"attention|(?:.{0,40}\.)?(?:to_add_|to_|add_)?(?:q|k|v|qv|qkv|out|o)(?:_proj|\.0)?|(?:.{0,40}\.)?attn\d?"
)


def question_from_cells(cells: Mapping[str, str]) -> Estimated | CellProblem:
    """Return the question that the cells ask, or the one cell without which there is none: the model's size."""
    reader = _Reader(cells)
    method = reader.read("method", METHODS.get, "inference, full_ft, lora, qlora or pretrain")
    if method is None:
        method = Method.INFERENCE
        reader.assumed.append("inference")
    model = _model(reader)
    if isinstance(model, CellProblem):
        return model
    question = _with_precision(reader, VramQuestion(model, method))
    question = _with_size(reader, question)
    question = _with_cards(reader, question)
    question = _with_savings(reader, question)
    return Estimated(question, tuple(reader.assumed), tuple(reader.problems))


def check_cell(column: str, text: str) -> CellProblem | None:
    """Return what is wrong with one cell by itself."""
    sized = {"hidden": "64", "layers": "1"} if column == "params_B" else {"params_B": "1"}
    found = question_from_cells({**sized, column: text})
    problems = found.problems if isinstance(found, Estimated) else ()
    return next((problem for problem in problems if problem.column == column), None)


def _model(reader: _Reader) -> ModelFacts | CellProblem:
    """Return the model: what the cells say of it over what is known by its name, over usual proportions."""
    name = reader.cells.get("model", "").strip()
    size = reader.read("params_B", read_size, "parameters in billions, as 7 or 0.125")
    shape = {
        "hidden_size": reader.whole("hidden", 1) or 0,
        "layers": reader.whole("layers", 1, 100_000) or 0,
        "attention_heads": reader.whole("heads", 1) or 0,
        "kv_heads": reader.whole("kv_heads", 1) or 0,
        "vocabulary": reader.whole("vocab", 1) or 0,
        "feed_forward": reader.whole("ffn", 1) or 0,
    }
    active = reader.read("active_params_B", read_size, "parameters in billions that a token uses")
    known = find_model(name) if name else None
    if known is not None and size is not None and not 0.5 <= known.parameters_b / size <= 2:
        known = None  # another model of that name
    stated = {key: value for key, value in shape.items() if value}
    has_shape = bool(shape["hidden_size"] and shape["layers"])
    if known is not None:
        base = known
    elif has_shape:
        base = model_of_shape(name or "a transformer", shape["hidden_size"], shape["layers"],
                              shape["vocabulary"], shape["feed_forward"])  # fmt: skip
    elif size is not None:
        base = _of_size(name or "a transformer", size)
        if base.has_shape:
            reader.assumed.append(f"the usual proportions of {size:g} B parameters")
    elif name:
        return CellProblem("model", name, "not in our table, and its name says no size")
    else:
        return CellProblem("model", "", "neither a model nor its parameters are given")
    changed = {**stated, **({"parameters_b": size} if size is not None else {})}
    if active is not None:
        changed["active_parameters_b"] = active
    if has_shape and "kv_heads" not in stated:
        changed["kv_heads"] = shape["attention_heads"]
    return replace(base, **changed)  # type: ignore[arg-type]  # the keys are field names, their values numbers


def _of_size(name: str, size: float) -> ModelFacts:
    """Return a model of which only the size is known; its kind is read off its name."""
    for pattern, kind in ((_DIFFUSION, "diffusion-image"), (_SPEECH, "asr"), (_VISION, "vision")):
        if pattern.search(name):
            return ModelFacts(name, kind, size, source="size")
    return typical_model(name, size)


def _with_precision(reader: _Reader, question: VramQuestion) -> VramQuestion:
    """Return the question with the precision of arithmetic and of the stored weights."""
    method = question.method
    text = reader.read("precision", read_precision, f"one of {', '.join(PRECISIONS)}")
    named = scheme_in_name(reader.text("model")) if text is None else None
    if text is None:
        text = {Method.QLORA: "nf4", Method.FULL: "bf16-mixed", Method.PRETRAIN: "bf16-mixed"}.get(method, "bf16")
        reader.assumed.append(f"precision {text}")
    scheme = reader.read("quantization", read_scheme, f"one of {', '.join(QUANTIZATIONS)}")
    if scheme is None and named is not None and not method.trains_everything:
        scheme = named
        reader.assumed.append(f"quantization {named} (by the model's name)")
    base = text.removesuffix("-mixed")
    if base not in {"fp32", "bf16", "fp16"}:
        scheme, base = scheme or base, "bf16"
    if method is Method.QLORA and scheme is None:
        scheme = "nf4"
    if method is Method.LORA and scheme is not None:
        method = Method.QLORA
    is_trained = method.trains_everything
    bits = 32 if base == "fp32" else 16
    if scheme is not None and not is_trained:
        bits = bits_of(scheme)
    is_pure = is_trained and base != "fp32" and not text.endswith("-mixed")
    return replace(question, method=method, precision=base, weight_bits=bits, is_pure_low_precision=is_pure,
                   quantization=scheme if scheme is not None and not is_trained else "")  # fmt: skip


def _with_size(reader: _Reader, question: VramQuestion) -> VramQuestion:
    """Return the question with batch, length, optimizer and rank."""
    trains = question.method.trains
    batch, length = reader.whole("batch", 0, 10_000_000), reader.whole("seq_len", 1)
    if batch is None:
        batch = 1
        reader.assumed.append("batch 1")
    if length is None:
        length = ASSUMED_TRAINING_TOKENS if trains else ASSUMED_INFERENCE_TOKENS
        if question.model.has_shape and batch:
            reader.assumed.append(f"{length} tokens")
    is_formula = reader.text("kind") == "formula"  # a table that states a formula's result counts the states alone
    rank = reader.whole("lora_rank", 1, 1_000_000)
    if rank is None and question.method.has_adapters:
        reader.assumed.append("LoRA rank 16")
    targets = reader.text("lora_targets")
    return replace(
        question,
        batch_size=0 if is_formula else batch,
        sequence_length=length,
        optimizer=reader.text("optimizer") or "adamw",
        lora_rank=rank or 16,
        is_lora_everywhere=_is_everywhere(question, targets or ""),
    )


def _is_everywhere(question: VramQuestion, targets: str) -> bool:
    """Whether adapters lie on every matrix: of a language model unless it says query and value, of a denoiser where something else than attention is named."""
    if question.model.kind.startswith("diffusion"):
        return any(_OF_ATTENTION.fullmatch(each.strip()) is None for each in re.split(r"[,;\s+]+", targets) if each)
    return targets not in {"q,v", "qv", "q_proj,v_proj", "attention"}


def _with_cards(reader: _Reader, question: VramQuestion) -> VramQuestion:
    """Return the question with the cards and what is divided among them."""
    sharding = reader.read("zero_stage", read_sharding, "0, 1, 2, 3, fsdp, tp or pp")
    count = reader.whole("n_gpus", 1, MOST_CARDS) or 1
    tensor = reader.whole("tensor_parallel", 1, MOST_CARDS) or 1
    if sharding in {None, Sharding.NONE} and count > 1 and not question.method.trains:
        sharding = Sharding.TENSOR  # several cards for one model: copies of it would each be a question of one card
        reader.assumed.append(f"tensor parallel over {count} cards")
    return replace(question, sharding=sharding or Sharding.NONE, gpu_count=max(count, tensor), tensor_parallel=tensor)


def _with_savings(reader: _Reader, question: VramQuestion) -> VramQuestion:
    """Return the question with what saves memory: checkpointing, offloading, chunked loss, gradients freed early."""
    checkpointing = reader.read("grad_ckpt", TRUTHS.get, "0 or 1")
    if checkpointing is None:
        checkpointing = question.method.has_adapters and question.model.has_shape
        if checkpointing and not question.is_states_only:
            reader.assumed.append("gradient checkpointing")
    words = " ".join(reader.text(column) for column in ("offload", "zero_stage", "optimizer", "notes"))
    said = " ".join(part for part in re.split(r"[,;.()]", words) if not re.search(r"\b(?:no|not|without)\b", part))
    asked = reader.read("offload", read_offload, "optimizer, parameters, activations or none") or ""
    attention = reader.read("attention", read_attention, "fused or eager")
    is_away = "offload" in said or asked not in {"", "none"}
    of_activations = "activation" in said and is_away
    only_activations = of_activations and not re.search(r"optimi[sz]er|param|cpu|state", said)
    of_parameters = is_away and not only_activations and (
        "param" in said or (question.sharding in {Sharding.ZERO3, Sharding.FSDP} and "optimi" not in said)
    )  # fmt: skip
    return replace(
        question,
        is_checkpointing=checkpointing,
        is_optimizer_offloaded=is_away and not only_activations and question.method.trains,
        is_parameters_offloaded=of_parameters,
        is_activations_offloaded=of_activations,
        is_loss_chunked=bool(
            re.search(r"chunk\w* (?:loss|cross|output)|fused (?:loss|cross|linear)|liger|cut.?cross", said)
        ),
        is_attention_eager=attention == "eager",
        is_attention_fused=attention == "fused",
        is_gradient_freed=bool(re.search(r"in[_ -]b(?:ac)?k?wa?r?d|(?:in|into) (?:the )?backward", said)),
    )
