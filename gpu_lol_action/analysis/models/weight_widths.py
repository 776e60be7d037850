"""How wide the weights lie that a run loads: switches for 4 and 8 bit, quantizers' widths, a quantization by its name."""

from __future__ import annotations

import re

from gpu_lol_action.analysis.runs.settings import Found, Scope, as_number, is_on, look_up, look_up_number
from gpu_lol_action.domain.finding import Confidence, Finding
from gpu_lol_action.domain.patterns import regex

_FOUR_BIT = ("load_in_4bit", "load_4bit", "use_4bit", "load_in_4bits")
# One switch for adapters on 4-bit weights; what it is off for stands in code all the same.
QLORA = ("q_lora", "use_q_lora", "use_qlora", "qlora")
BITS = ("quantization_bit", "load_in_kbits", "quant_bits")
_OF_SCHEMES = {"awq": "4", "gptq": "4", "bitsandbytes": "4", "fp8": "8", "fp8_kv": "8", "smooth_quant": "8", "fp4": "4",
               "fp4_kv": "4", "fp4_mlp_only": "4", "weights_int8": "8", "weights_kv_int8": "8", "weights_int4": "4",
               "int4": "4", "nf4": "4", "int8": "8"}  # fmt: skip
_EIGHT_BIT = ("load_in_8bit", "load_8bit", "use_8bit", "fp8_base")
# Trainers of pictures' models: what the frozen denoiser is held in (`int8-quanto`, `nf4-bnb`, `float8_e4m3fn`).
_HELD_IN = ("base_model_precision", "transformer_dtype")
_HELD = regex(r"(?:q?int|q?float|fp|nf)([48])(?!\d)")
_HQQ = regex(r"quantizeconfig|quantize_config|hqqconfig|hqq_config", re.IGNORECASE)
_EIGHT_BIT_NUMBERS = regex(r"(?:fp8|float8|f8)(?:_e\dm\d\w{0,4})?$", re.IGNORECASE)


def four_bit_switch(scope: Scope) -> Found | None:
    """Return the switch that loads weights at 4 bit, on or off: one that is off wins over code that could (`q_lora`)."""
    named, four = look_up(scope, QLORA), _not_only_offered(scope, look_up(scope, _FOUR_BIT))
    if named is None or (is_on(named) and is_on(four)):
        return four
    return four if four is not None and four.confidence > named.confidence else named


def _not_only_offered(scope: Scope, found: Found | None) -> Found | None:
    """Return a switch, or the parameter of the same loader that turns it on and is off (``def load(path, load_4bit=False)``).

    Of the same word it may be what a loader under ``if load_in_4bit:`` is given.
    """
    if found is None or not is_on(found) or found.confidence is Confidence.HIGH:
        return found
    bits = "8bit" if "8bit" in found.setting.key else "4bit"
    offers = [
        each
        for each in scope.under((f"load_{bits}", f"use_{bits}", f"load_in_{bits}"))
        if each.evidence.path == found.evidence.path
    ]
    return next((each for each in offers if each.setting.is_parameter and not is_on(each)), found)


def width_of_scheme(scope: Scope) -> Finding | None:
    """Return the bits of the weights where their quantization is named (``--quantization int4``, ``quantization: awq``)."""
    scheme = look_up(scope, ("quantization", "quantization_type"))
    width = _OF_SCHEMES.get(scheme.text.strip().lower()) if scheme is not None else None
    if width is None:
        scheme = look_up(scope, _HELD_IN)
        held = _HELD.match(scheme.text.strip().lower()) if scheme is not None else None
        width = held[1] if held is not None else None
    if scheme is None or width is None:
        return None
    why = f"`{scheme.setting.key}` is {scheme.text}"
    return Finding("model.weight_bits", width, why, scheme.confidence, scheme.evidence)


def weight_bits_of(scope: Scope) -> Finding | None:
    """Return how many bits the weights have, where they are quantized at load."""
    for found, width in (
        (four_bit_switch(scope), "4"),
        (_not_only_offered(scope, look_up(scope, _EIGHT_BIT)), "8"),
    ):
        if is_on(found) and found is not None:
            return Finding("model.weight_bits", width, f"`{found.setting.key}` is on", found.confidence, found.evidence)
    if (parts := _hqq(scope)) is not None:
        return parts
    number = look_up_number(scope, BITS, 4, 8)
    if number is not None and number.text in {"4", "8"}:
        return Finding(
            "model.weight_bits", number.text, f"`{number.setting.key}` is set", number.confidence, number.evidence
        )
    if (section := _told_to_quantize(scope)) is not None:
        return section
    held = look_up(scope, ("dtype",))
    if held is not None and held.confidence is Confidence.HIGH and _EIGHT_BIT_NUMBERS.match(held.text):
        return Finding("model.weight_bits", "8", f"`dtype` is {held.text}", held.confidence, held.evidence)
    return width_of_scheme(scope)


def _hqq(scope: Scope) -> Finding | None:
    """Return the bits that HQQ is told; of several parts the fewest, for those are the feed-forward layers, most of the weights."""
    told = [
        (number, confidence, setting)
        for confidence, settings in scope.tiers
        for setting in settings
        if setting.key == "nbits" and _HQQ.search(setting.path) and (number := as_number(setting.text)) in {2, 3, 4, 8}
    ]
    if not told:
        return None
    number, confidence, setting = min(told, key=lambda each: (-each[1], each[0] or 0))
    return Finding("model.weight_bits", str(number), f"HQQ's `nbits` is {number}", confidence, setting.evidence)


def _told_to_quantize(scope: Scope) -> Finding | None:
    """Return the eight bits of a model that its section says to quantize, without a word on how (``model: {quantize: true}``)."""
    for _, settings in scope.tiers[:2]:
        for setting in settings:
            if setting.key == "quantize" and setting.path.endswith("model.quantize") and setting.text.lower() == "true":
                return Finding("model.weight_bits", "8", f"`{setting.path}` is on", Confidence.MEDIUM, setting.evidence)
    return None
