"""Differences to a base for the comments' goldens: the story's longer sequence, other runs, another environment, what-ifs."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from gpu_lol_action.analysis.formats.surest import best
from gpu_lol_action.domain.analysis import Analysis
from gpu_lol_action.domain.change import NOTHING, Cause, Change, Kind, PartChange, RunChange, RunNeed
from gpu_lol_action.domain.finding import Confidence, Evidence, Finding
from gpu_lol_action.domain.offer import Candidate
from gpu_lol_action.domain.priced_change import PricedChange, PricedRun
from gpu_lol_action.domain.what_if import Alternative, Lever, LineEdit, WhatIf

LENGTH = "training.sequence_length"


def need(analysis: Analysis) -> RunNeed:
    """What the run that is provisioned for needs."""
    hardware = analysis.proposed.hardware
    if not analysis.proposed.needs_gpu:
        return NOTHING
    expected = analysis.breakdown.expected_gib if analysis.breakdown else None
    return RunNeed(hardware.gpu_count, hardware.vram_required_gb, expected)


def change_of(base: Analysis, head: Analysis) -> PricedChange:
    """The difference that the story's longer sequence makes; nothing where both are the same."""
    old, new = best(base.findings, LENGTH), best(head.findings, LENGTH)
    before, after = need(base), need(head)
    if before == after:
        return PricedChange(Change())
    causes: tuple[Cause, ...] = ()
    if new is not None and (old is None or old.value != new.value):
        effect = round((after.expected_gib or 0) - (before.expected_gib or 0), 2) if old is not None else None
        causes = (Cause(new, old.value if old is not None else None, new.value, new.evidence, effect),)
    run = RunChange(Kind.CHANGED, "train", "python train.py", Evidence("README.md", 12), before, after, causes)
    return PricedChange(Change(first=run))


def two_causes(base: Analysis, head: Analysis) -> PricedChange:
    """The same with a second cause that pushes the other way, and a setting that is gone."""
    priced = change_of(base, head)
    batch = Finding("training.batch_size", "2", "`batch_size` is 2", Confidence.HIGH, Evidence("configs/sft.yaml", 7))
    gone = Finding("training.gradient_checkpointing", "on", "it is on", Confidence.HIGH, Evidence("train.py", 61))
    more = (Cause(gone, "on", None, gone.evidence, 9.4), Cause(batch, "4", "2", batch.evidence, -6.1))
    first = priced.change.first
    assert first is not None
    return PricedChange(replace(priced.change, first=replace(first, causes=(*first.causes, *more))))


def other_runs(cheap: Candidate, dear: Candidate, text: str = "") -> PricedChange:
    """Three runs beside the first: one that needs more, one that is new, one that is gone."""
    length = Finding(
        LENGTH, text or "768", "`max_seq_len` is 768", Confidence.HIGH, Evidence(text or "trainer/train_sft.py", 99)
    )
    small, large = RunNeed(1, 11, 6.1), RunNeed(1, 46, 40.9)
    place = Evidence(text or "trainer/train_sft.py", 0)
    name = text or "train-sft"
    changed = RunChange(Kind.CHANGED, name, text or "python train_sft.py", place, small, large,
                        (Cause(length, text or "340", text or "768", length.evidence, 34.8),))  # fmt: skip
    new = RunChange(
        Kind.NEW, text or "train-qlora", "python train_qlora.py", Evidence("train_qlora.py"), NOTHING, small
    )
    gone = RunChange(Kind.GONE, text or "serve", "python serve.py", Evidence("serve.py", 3), small, NOTHING)
    return PricedChange(
        Change(others=(changed, new, gone)),
        (PricedRun(changed, cheap, dear), PricedRun(new, None, cheap), PricedRun(gone, cheap, None)),
    )


def new_run(cheap: Candidate) -> PricedChange:
    """One run more."""
    run = other_runs(cheap, cheap).change.others[1]
    return PricedChange(Change(others=(run,)), (PricedRun(run, None, cheap),))


def environment(text: str = "") -> PricedChange:
    """Another image, CUDA and packages; more than a table shows."""
    place = Evidence(text or "requirements.txt", 8)
    parts = (
        PartChange(
            "image", "", text or "pytorch/pytorch:2.4.1-cuda12.1", text or "pytorch/pytorch:2.6.0-cuda12.4", place
        ),
        PartChange("CUDA", "", text or "12.1", text or "12.4", place),
        PartChange("Python", "", None, "3.11"),
        PartChange("package", text or "torch", "torch==2.4.1", text or "torch==2.6.0", place),
        PartChange("package", "flash-attn", None, "flash-attn==2.7.3", place),
        PartChange("package", "peft", "peft", None),
        PartChange("system package", text or "ninja-build", None, text or "ninja-build"),
        PartChange("command", "make", "make", None),
    )
    return PricedChange(Change(parts=parts))


def by_hand(text: str = "") -> PricedChange:
    """A card that a hand wrote into the repository's own file."""
    finding = Finding(
        "hardware.gpu_type",
        text or "A100-80GB",
        "`gpu_type` is A100-80GB",
        Confidence.HIGH,
        Evidence(".gpu-lol.yaml", 2),
    )
    return PricedChange(Change(file_causes=(Cause(finding, text or "A40", text or "A100-80GB", finding.evidence),)))


def what_ifs(cheap: Candidate, text: str = "") -> tuple[WhatIf, ...]:
    """Two configurations for a cheaper machine: one literal in a line, and one that is more to write."""
    place = Evidence(text or "train.py", 61)
    edit = LineEdit(place.path, 61, text or "gradient_checkpointing=False,", text or "    gradient_checkpointing=True,")
    checkpointing = Alternative((Lever.CHECKPOINTING,), text or "gradient checkpointing", text or "gradient_checkpointing=True",
                                text or "steps about a third slower", 20.8, 24, 1, place, edit)  # fmt: skip
    qlora = Alternative((Lever.QLORA,), "QLoRA, 4-bit weights", "load_in_4bit=True", "slower steps, and a small risk for quality",
                        22.4, 27, 1)  # fmt: skip
    many = (WhatIf(checkpointing, cheap, Decimal("0.95")), WhatIf(qlora, cheap, Decimal("0.95")))
    return (*many, WhatIf(replace(qlora, words="LoRA, rank 16"), cheap, Decimal("0.90")))
