"""What other tools' published formulas say of a run, in GB (1e9 bytes) per card; None where a formula has no answer.

Each is written from its description, so that they can be asked about the same rows as ours:

- accelerate estimate-memory (Hugging Face, `accelerate/commands/estimate.py`): inference is parameters x bytes; training with
  Adam is the largest of weights, gradients, optimizer and step: 4 x the 32-bit weights in fp32, 2 x them in mixed precision;
- calc_transformer_mem (EleutherAI cookbook, `calc/calc_transformer_mem.py`, its defaults): parameters from the shape with two
  MLP matrices; 2, 4 and 12 bytes divided by ZeRO's stage, buckets, 34 h tokens L of activations and 5 a s more without
  checkpointing; inference adds h L tokens x 2 bytes of cache and one layer's activations;
- LLaMA-Factory (its README's table "Hardware Requirement"): 18, 8, 2, 1 and 0.5 GB per billion parameters for full training in
  mixed precision, pure 16 bit, LoRA, and QLoRA at 8 and 4 bit;
- hf-mem (`hf-mem --experimental`): the stored weights and the key-value cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Peer = Callable[[Mapping[str, str]], float | None]
_QUANTIZED = {"int8": 1.0, "int4": 0.5, "nf4": 0.5, "nf4-dq": 0.5}
STORED = {"fp32": 4.0, **_QUANTIZED}


def accelerate_estimate(row: Mapping[str, str]) -> float | None:
    """Return accelerate's figure; it knows neither adapters nor several cards."""
    size = float(row["params_B"])
    if not _is_on_one_card(row):
        return None
    if row["method"] == "inference":
        return size * STORED.get(row["precision"], 2.0)
    if row["method"] != "full_ft":
        return None
    return size * (16.0 if row["precision"] == "fp32" else 8.0)


def eleuther_calc(row: Mapping[str, str]) -> float | None:
    """Return EleutherAI's figure for inference at 16 or 32 bit and full training, of a known shape."""
    is_asked = row["method"] == "full_ft" or (row["method"] == "inference" and row["precision"] not in _QUANTIZED)
    if not is_asked or not row["hidden"]:
        return None
    hidden, layers, heads = (float(row[key]) for key in ("hidden", "layers", "heads"))
    share = float(row["kv_heads"] or heads) / heads
    factor = float(row["ffn"]) / hidden if row["ffn"] else 4.0
    tokens, batch = float(row["seq_len"] or 2048), float(row["batch"] or 1)
    cards = float(row["n_gpus"] or 1)
    parameters = 2 * float(row["vocab"]) * hidden + hidden * tokens + 8 * hidden * layers + 2 * hidden
    parameters += 2 * (1 + share) * layers * hidden**2 + 2 * layers * hidden**2 * factor
    weights = parameters * (4 if row["precision"] == "fp32" else 2)
    if row["method"] == "inference":
        split = cards if row["zero_stage"] in {"tp", "pp"} else 1
        cache = 2 * hidden * layers * (tokens + 1) * batch
        return (weights / split + cache + tokens * batch * hidden * 34) / 1e9
    return _eleuther_training(row, parameters, weights, tokens * batch * hidden * layers, heads * tokens / hidden) / 1e9


def _eleuther_training(row: Mapping[str, str], parameters: float, weights: float, size: float, pairs: float) -> float:
    stage = int(row["zero_stage"]) if row["zero_stage"].isdigit() else 0
    cards = float(row["n_gpus"] or 1)
    total = weights / (cards if stage == 3 else 1)
    total += parameters * 4 / (cards if stage >= 2 else 1) + parameters * 12 / (cards if stage >= 1 else 1)
    each = weights / parameters
    if cards > 1:
        total += (5e8 * each if stage >= 1 else 0) + (1e9 * each if stage == 3 else 0)
    return total + size * (34 if row["grad_ckpt"] in {"1", "1.0"} else 34 + 5 * pairs)


def llama_factory(row: Mapping[str, str]) -> float | None:
    """Return LLaMA-Factory's figure for training."""
    size, precision = float(row["params_B"]), row["precision"]
    if not _is_on_one_card(row):
        return None
    if row["method"] == "full_ft":
        return size * (8 if precision in {"bf16", "fp16"} else 18)
    if row["method"] == "lora":
        return size * 2
    if row["method"] == "qlora":
        return size * (1 if precision == "int8" else 0.5)
    return None


def hf_mem(row: Mapping[str, str]) -> float | None:
    """Return weights and cache for inference on one card."""
    if row["method"] != "inference" or not _is_on_one_card(row):
        return None
    size = float(row["params_B"]) * STORED.get(row["precision"], 2.0)
    if not row["hidden"]:
        return size
    hidden, layers, heads, kv_heads = (float(row[key]) for key in ("hidden", "layers", "heads", "kv_heads"))
    return size + 4 * layers * hidden * kv_heads / heads * float(row["seq_len"] or 0) * float(row["batch"] or 1) / 1e9


def _is_on_one_card(row: Mapping[str, str]) -> bool:
    return row["n_gpus"] in {"", "1"}


PEERS: Mapping[str, Peer] = {
    "accelerate": accelerate_estimate,
    "EleutherAI": eleuther_calc,
    "LLaMA-Factory": llama_factory,
    "hf-mem": hf_mem,
}
