"""Which configurations of a run need less memory, and what each gives up: the same question with one thing changed.

What is given up is said as its authors measured it: recomputed activations cost about one more forward pass of the three that
a step takes (Chen et al. 2016); 8-bit optimizers keep accuracy on the tasks of their paper (Dettmers et al. 2022); LoRA is
close to full fine-tuning on many tasks and behind it on some (Hu et al. 2021; Biderman et al. 2024, "LoRA learns less and
forgets less"); QLoRA matches 16-bit LoRA in its paper and multiplies more slowly (Dettmers et al. 2023); ZeRO-3 moves half as
much again between cards as plain data parallelism (Rajbhandari et al. 2020).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpu_lol_action.domain.records import record
from gpu_lol_action.domain.what_if import Lever
from gpu_lol_action.estimation.vram_question import Method, Sharding, VramQuestion

MOST_BITS = 16
CHEAP_CARDS = 2
HARMLESS = frozenset({Lever.HALF_PRECISION, Lever.HALF_BATCH, Lever.EIGHT_BIT_OPTIMIZER, Lever.CHECKPOINTING})
_EIGHT_BIT = ("8bit", "8-bit", "bnb", "int8", "fp8", "adafactor", "lion", "sgd", "muon", "paged")
_LANGUAGE = ("llm", "vlm", "seq2seq", "encoder")


@record(frozen=True, slots=True)
class Variant:
    """The question with one lever pulled; ``setting`` is written the way most trainers know it."""

    lever: Lever
    question: VramQuestion
    words: str
    setting: str
    costs: str


def variants(asked: VramQuestion) -> tuple[Variant, ...]:
    """Return what could be changed about a run, each alone, in the order of what it costs."""
    found = _training(asked) if asked.method.trains else _inference(asked)
    return tuple(each for each in found if each.question != asked)


def tried(asked: VramQuestion, written_batch: int = 0) -> tuple[tuple[tuple[Lever, ...], Variant], ...]:
    """Return each change alone, then two at once of those that leave what is learned as it is.

    ``written_batch`` is the larger batch that a card would have to take as the code is written: each change names what becomes of it.
    """
    single = variants(asked)
    if written_batch <= asked.batch_size:
        return _tried(single)
    single = tuple(_of_written(each, written_batch) for each in single)
    return tuple((levers, _at_batch(levers, each)) for levers, each in _tried(single))


def _of_written(variant: Variant, written: int) -> Variant:
    if variant.lever is not Lever.HALF_BATCH:
        return variant
    half, parts = variant.question.batch_size, -(-written // variant.question.batch_size)
    if not variant.question.method.trains:
        return replace(variant, words=f"batch {written} → {half}")
    words, setting = (
        f"batch {written} → {half}, accumulated {parts} times",
        f"batch size {half}, gradient_accumulation_steps ×{parts}",
    )
    return replace(variant, words=words, setting=setting)


def _at_batch(levers: tuple[Lever, ...], variant: Variant) -> Variant:
    if Lever.HALF_BATCH in levers:
        return variant
    batch = variant.question.batch_size
    return replace(variant, words=f"{variant.words} at batch {batch}", setting=f"{variant.setting}, batch size {batch}")


def _tried(single: tuple[Variant, ...]) -> tuple[tuple[tuple[Lever, ...], Variant], ...]:
    harmless = [each for each in single if each.lever in HARMLESS]
    pairs = [(one, other) for place, one in enumerate(harmless) for other in harmless[place + 1 :]]
    both = [((one.lever, other.lever), found) for one, other in pairs if (found := combined(one, other)) is not None]
    return (*(((each.lever,), each) for each in single), *both)


def combined(first: Variant, second: Variant) -> Variant | None:
    """Return two changes at once; None where the second would undo the first."""
    question = next((each.question for each in variants(first.question) if each.lever is second.lever), None)
    if question is None:
        return None
    costs = second.costs if first.costs == second.costs else f"{first.costs}; {second.costs}"
    return Variant(
        second.lever, question, f"{first.words}, {second.words}", f"{first.setting}, {second.setting}", costs
    )


def _training(asked: VramQuestion) -> Iterator[Variant]:
    if asked.is_float32:
        bits = 16 if asked.weight_bits > MOST_BITS else asked.weight_bits
        yield Variant(Lever.HALF_PRECISION, replace(asked, precision="bf16", weight_bits=bits), "bf16 for fp32", "bf16=True",
                      "none expected, and faster; 32-bit copies of the weights stay")  # fmt: skip
    if asked.batch_size > 1:
        half = asked.batch_size // 2
        yield Variant(Lever.HALF_BATCH, replace(asked, batch_size=half), f"batch {asked.batch_size} → {half}, accumulated twice",
                      f"batch size {half}, gradient_accumulation_steps ×2", "the same steps, somewhat slower")  # fmt: skip
    if asked.method.trains_everything and not any(word in asked.optimizer.lower() for word in _EIGHT_BIT):
        yield Variant(Lever.EIGHT_BIT_OPTIMIZER, replace(asked, optimizer="adamw_bnb_8bit"), "8-bit AdamW",
                      'optim="adamw_bnb_8bit"', "none measured by its authors; needs bitsandbytes")  # fmt: skip
    if not asked.is_checkpointing:
        yield Variant(Lever.CHECKPOINTING, replace(asked, is_checkpointing=True), "gradient checkpointing",
                      "gradient_checkpointing=True", "steps about a third slower")  # fmt: skip
    yield from _sharded(asked)
    if asked.model.kind.startswith(_LANGUAGE) and asked.method is Method.FULL:
        yield Variant(Lever.LORA, _adapters(asked, Method.LORA), "LoRA, rank 16", "peft LoraConfig(r=16)",
                      "trains 1 % or less of the weights: behind full fine-tuning on some tasks")  # fmt: skip
    if asked.model.kind.startswith(_LANGUAGE) and asked.method in {Method.FULL, Method.LORA}:
        yield Variant(Lever.QLORA, _adapters(asked, Method.QLORA), "QLoRA, 4-bit weights", "load_in_4bit=True",
                      "slower steps, and a small risk for quality; needs bitsandbytes")  # fmt: skip


def _adapters(asked: VramQuestion, method: Method) -> VramQuestion:
    bits = 4 if method is Method.QLORA else min(asked.weight_bits, MOST_BITS)
    precision = "bf16" if asked.is_float32 else asked.precision
    return replace(
        asked, method=method, weight_bits=bits, precision=precision, has_reference=False, is_pure_low_precision=False
    )


def _sharded(asked: VramQuestion) -> Iterator[Variant]:
    """Yield the run over two cards where it is on one, or divided among the cards that it has where each holds a whole copy."""
    if asked.gpu_count == 1 and asked.sharding is Sharding.NONE:
        question = replace(asked, gpu_count=CHEAP_CARDS, sharding=Sharding.ZERO3)
        yield Variant(Lever.SHARDING, question, "ZeRO-3 or FSDP over two cards", "zero_stage 3, two processes",
                      "traffic between two cards; each step takes two batches")  # fmt: skip
    elif asked.gpu_count > 1 and not asked.sharding.divides_weights:
        yield Variant(Lever.SHARDING, replace(asked, sharding=Sharding.ZERO3), f"ZeRO-3 or FSDP over the {asked.gpu_count} cards",
                      "zero_stage 3", "about half as much again to move between cards")  # fmt: skip


def _inference(asked: VramQuestion) -> Iterator[Variant]:
    if asked.weight_bits > MOST_BITS or asked.is_float32:
        question = replace(asked, precision="bf16", weight_bits=min(asked.weight_bits, MOST_BITS))
        yield Variant(
            Lever.HALF_PRECISION, question, "16-bit weights", "torch_dtype=torch.bfloat16", "none expected, and faster"
        )
    if asked.batch_size > 1:
        half = asked.batch_size // 2
        yield Variant(Lever.HALF_BATCH, replace(asked, batch_size=half), f"batch {asked.batch_size} → {half}", f"batch size {half}",
                      "fewer answers at a time")  # fmt: skip
    if asked.model.kind.startswith(_LANGUAGE) and asked.weight_bits >= MOST_BITS:
        eight, four = (replace(asked, precision="bf16", weight_bits=bits) for bits in (8, 4))
        yield Variant(Lever.EIGHT_BIT_WEIGHTS, eight, "8-bit weights", "load_in_8bit=True",
                      "slower answers, hardly any loss of quality; needs bitsandbytes")  # fmt: skip
        yield Variant(
            Lever.FOUR_BIT_WEIGHTS,
            four,
            "4-bit weights",
            "load_in_4bit=True",
            "a small loss of quality; needs bitsandbytes",
        )
