"""What a trainer that is installed by name is told to compute with: its configuration asks for it, and no program here imports it.

axolotl, LLaMA-Factory and ms-swift leave FlashAttention, fused losses and other kernels to their users, and end without them; what they
load models, data and adapters with comes along, and is named because the run's own words are of it. torchtune leaves torchao.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from gpu_lol_action.analysis.files.checkout import Source
from gpu_lol_action.analysis.files.configuration import read_settings
from gpu_lol_action.domain.finding import Evidence
from gpu_lol_action.domain.patterns import regex
from gpu_lol_action.domain.records import record


@record(frozen=True, slots=True)
class Part:
    """A package, and the option's name and value that ask for it."""

    package: str
    key: re.Pattern[str]
    value: re.Pattern[str]


def _part(package: str, key: str, value: str) -> Part:
    return Part(package, regex(key), regex(value, re.IGNORECASE))


_ON = "true|yes|on"
# axolotl computes its loss by a branch of Apple's package, which its own message names.
_FUSED_LOSS = "cut-cross-entropy @ git+https://github.com/axolotl-ai-cloud/ml-cross-entropy.git"
_PARTS = (
    _part("transformers", "base_model|model_name_or_path|model", r"[\w.~/-]{1,200}"),
    _part("peft", "adapter|finetuning_type|train_type|tuner_type", "q?lora|dora|adalora|oft"),
    _part("bitsandbytes", "load_in_[48]bit", _ON),
    _part("bitsandbytes", "adapter", "qlora"),
    _part("bitsandbytes", "quantization_bit|quant_bits", "[48]"),
    _part("bitsandbytes", "optimizer|optim", r"(?!adamw_torch|ao_)\w{0,20}(?:8bit|paged|bnb)\w{0,20}"),
    _part("torchao", "optimizer|optim", r"adamw_torch_[48]bit|ao_adamw_\w{1,20}"),
    _part("flash-attn", "attn_implementation|attn_impl|flash_attn", r"flash_attention_2|flash_attn|fa2"),
    _part("flash-attn", "flash_attention|use_flash_attn|use_flash_attention_2", _ON),
    _part("ring-flash-attn", "context_parallel_size|sequence_parallel_degree", r"[2-9]|\d\d{1,3}"),
    _part("liger-kernel", "plugins", r"axolotl\.integrations\.liger\b.{0,80}"),
    _part("liger-kernel", "enable_liger_kernel|use_liger_kernel", _ON),
    _part(_FUSED_LOSS, "plugins", r"axolotl\.integrations\.cut_cross_entropy\b.{0,80}"),
    _part(_FUSED_LOSS, "cut_cross_entropy", _ON),
    _part("onebitllms", "use_onebitllms", _ON),
    _part("vllm", "use_vllm", _ON),
    _part("ktransformers[sft]", "use_kt", _ON),
    _part("trl", "rl", "dpo|ipo|kto|orpo|simpo|grpo|gdpo|ebft"),
)
# What trains while its weights are rounded, and how LLaMA-Factory's next version adapts, stand in sections of their own.
_SECTIONS = (("qat.", "torchao"), ("quantization.", "torchao"), ("peft_config.", "peft"))
# Without these the trainer itself does not start, or loads neither models nor data.
_MADE_OF = {
    "axolotl": ("torch", "accelerate", "datasets"),
    "llamafactory": ("torch", "accelerate", "datasets"),
    "ms-swift": ("torch", "accelerate", "datasets"),
    "torchtune": ("torch", "torchao"),
}
_ASK_FOR_PARTS = frozenset({"axolotl", "llamafactory", "ms-swift"})
_BROUGHT = frozenset({"torch", "transformers", "accelerate", "datasets", "peft", "trl"})

Said = tuple[str, str, Evidence]  # an option's path, what it is given, and where


def is_brought(package: str, listed: AbstractSet[str]) -> bool:
    """Whether a trainer that a list names brings a package: whoever wrote that list left it out for that."""
    return package in _BROUGHT and bool(listed & _MADE_OF.keys())


def trainer_parts(trainer: str, options: Iterable[Said], where: Evidence) -> Iterator[Said]:
    """Yield packages that a trainer needs for its options, each with the word that says so and its place; ``where`` the trainer is told of."""
    for package in _MADE_OF.get(trainer, ()):
        yield package, trainer, where
    for path, text, place in options if trainer in _ASK_FOR_PARTS else ():
        key, value = path.rpartition(".")[2], text.strip().strip("\"'")
        for part in _PARTS:
            if part.key.fullmatch(key) and part.value.fullmatch(value):
                yield part.package, f"{key}: {value[:80]}", place
        for section, package in _SECTIONS:
            if path.startswith(section):
                yield package, path, place


def configured_parts(trainer: str, source: Source) -> Iterator[Said]:
    """Yield what a trainer needs for a configuration."""
    settings = read_settings(source) if trainer in _ASK_FOR_PARTS else ()
    yield from trainer_parts(
        trainer, ((each.path, each.text, each.evidence) for each in settings), Evidence(source.path)
    )
