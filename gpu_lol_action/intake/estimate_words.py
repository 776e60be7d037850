"""Words of a run's description: readers for each kind of cell, None where a text is not one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from gpu_lol_action.estimation.vram_question import Method, Sharding
from gpu_lol_action.estimation.vram_states import QUANTIZATIONS

METHODS: Mapping[str, Method] = {
    "inference": Method.INFERENCE, "infer": Method.INFERENCE, "generate": Method.INFERENCE, "serve": Method.INFERENCE,
    "full_ft": Method.FULL, "full": Method.FULL, "finetune": Method.FULL, "sft": Method.FULL, "full-ft": Method.FULL,
    "lora": Method.LORA, "dora": Method.LORA, "freeze": Method.LORA, "peft": Method.LORA,
    "qlora": Method.QLORA, "qdora": Method.QLORA,
    "pretrain": Method.PRETRAIN, "pretraining": Method.PRETRAIN,
}  # fmt: skip
SHARDINGS: Mapping[str, Sharding] = {
    "0": Sharding.NONE, "none": Sharding.NONE, "ddp": Sharding.NONE, "1": Sharding.ZERO1, "2": Sharding.ZERO2,
    "3": Sharding.ZERO3, "fsdp": Sharding.FSDP, "tp": Sharding.TENSOR, "pp": Sharding.PIPELINE,
}  # fmt: skip
PRECISIONS = ("fp32", "bf16", "fp16", "bf16-mixed", "fp16-mixed", *QUANTIZATIONS)
OFFLOADS = ("none", "optimizer", "parameters", "activations")
_ALIASES = {
    "float32": "fp32", "32": "fp32", "tf32": "fp32", "float16": "fp16", "half": "fp16", "16": "bf16", "bfloat16": "bf16",
    "amp": "bf16-mixed", "mixed": "bf16-mixed", "pure_bf16": "bf16", "bf16-true": "bf16", "fp16-true": "fp16",
    "4bit": "int4", "8bit": "int8", "4": "int4", "8": "int8", "2bit": "int2", "2": "int2", "3bit": "int3", "3": "int3",
    "gptq-int4": "gptq", "gptq-int8": "gptq-8bit", "gptq-4bit": "gptq", "bnb-4bit": "nf4", "bnb-8bit": "int8", "w8a8": "int8",
    "nf4_dq": "nf4-dq", "nf4+dq": "nf4-dq", "nf4-double": "nf4-dq", "fp8-e4m3": "fp8",
}  # fmt: skip
TRUTHS: Mapping[str, bool] = {
    "1": True, "1.0": True, "true": True, "yes": True, "on": True,
    "0": False, "0.0": False, "false": False, "no": False, "off": False,
}  # fmt: skip


def read_whole(text: str, least: int, most: int) -> int | None:
    """Return a whole number within bounds; `8.0` is one."""
    number = _number(text)
    return int(number) if number is not None and number.is_integer() and least <= number <= most else None


def read_size(text: str) -> float | None:
    """Return a number of billions, with or without a b behind it."""
    number = _number(text.removesuffix("b").strip())
    return number if number is not None and 0 < number <= 100_000 else None


def _number(text: str) -> float | None:
    if not re.fullmatch(r"[0-9]{1,15}(?:\.[0-9]{0,15})?(?:e[+-]?[0-9]{1,2})?", text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def read_precision(text: str) -> str | None:
    """Return a precision, or a quantization's name, in the one spelling that we use."""
    folded = _ALIASES.get(text.replace(" ", ""), text.replace(" ", ""))
    if folded.removesuffix("-mixed") in {"fp32", "bf16", "fp16"}:
        return "fp32" if folded == "fp32-mixed" else folded
    return read_scheme(folded)


def read_scheme(text: str) -> str | None:
    """Return a quantization by any of its usual names."""
    folded = _ALIASES.get(text, text)
    if folded in QUANTIZATIONS:
        return folded
    found = re.match(r"i?(q\d_[k\d])", folded)
    return found[1] if found and found[1] in QUANTIZATIONS else None


def read_sharding(text: str) -> Sharding | None:
    """Return what is divided, from a stage's number or a word."""
    folded = re.sub(r"\.0$", "", text.replace("deepspeed", "").replace("zero", "").strip(" -_"))
    first = re.match(r"[a-z]+|\d", folded)
    return SHARDINGS.get(first[0]) if first else None


def read_offload(text: str) -> str | None:
    """Return what is offloaded, as it was written; `none` where nothing is."""
    if text in {"none", "0", "no", "false"}:
        return "none"
    return text if re.search("optim|param|activ|weight|cpu|all|true|1|yes", text) else None


def read_attention(text: str) -> str | None:
    """Return whether attention is fused or eager."""
    folded = {"flash": "fused", "sdpa": "fused", "flash_attention_2": "fused", "eager": "eager", "fused": "fused"}
    return folded.get(text)
